"""What a browser keeps of lessons: sureness, what went wrong and what is asked again; and what older pages kept."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from headlight.viewer.scripts import script
from tests.web.test_engine import NODE

STORAGE = """
const kept = new Map();
globalThis.window = Object.fromEntries(["localStorage", "sessionStorage"].map(area => [area, {
  getItem: name => kept.get(area + name) ?? null,
  setItem: (name, text) => kept.set(area + name, text),
  removeItem: name => kept.delete(area + name),
}]));
"""
LESSONS = [
    {"name": "a", "steps": [{"name": "x", "title": "X"}, {"name": "y", "title": "Y"}]},
    {"name": "b", "steps": [{"name": "z", "title": "Z"}, {"name": "your-sentence", "title": "Own"}]},
]


def said(*lines: str) -> Any:
    """Return what the last line is worth after the others."""
    *before, last = lines
    program = [STORAGE, script("storage", "progress"), f"const lessons = {json.dumps(LESSONS)};", *before]
    program.append(f"console.log(JSON.stringify({last}));")
    run = subprocess.run([NODE, "-e", "\n".join(program)], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(run.stdout)


def test_sureness_stays_with_its_guess_and_a_guess_is_not_lost_to_a_look() -> None:
    lines = ['noteDone("a", "x", 1, { score: 0, right: false }, 3);']
    x = {"guess": 1, "score": 0, "right": False, "sure": 3}
    assert said(*lines, "progress().a.x") == x
    lines.append('noteDone("a", "x", 1, { score: 0, right: false });')  # drawn once more, as in another theme
    assert said(*lines, "progress().a.x") == x
    lines.append('noteDone("a", "x", null, null);')  # shown without a guess
    assert said(*lines, "progress().a.x") == x
    lines.append('noteDone("a", "x", 0, { score: 1, right: true });')  # another guess, of which nothing was said
    assert said(*lines, "progress().a.x") == {"guess": 0, "score": 1, "right": True, "sure": None}


def test_what_went_wrong_is_asked_again_first_what_one_was_sure_of() -> None:
    lines = [
        'noteDone("a", "x", 1, { score: 0.4, right: false }, 1);',
        'noteDone("a", "y", 1, { score: 0.6, right: false }, 3);',
        'noteDone("b", "your-sentence", 1, { score: 0, right: false }, 3);',
    ]
    assert said(*lines, "wrongOnes(lessons).map(({ step }) => step.name)") == ["y", "x"]
    assert said(*lines, 'returningTo(lessons.slice(0, 1), "b")') is None  # b is begun
    assert said(*lines[:2], 'returningTo(lessons.slice(0, 1), "b").step.name') == "y"
    assert said('noteDone("a", "x", 1, { score: 1, right: true });', 'returningTo(lessons, "c").step.name') == "x"
    assert said('returningTo(lessons, "c")') is None


KEPT = {"a": {"x": {"guess": 2, "score": 0.3}, "y": {"guess": None, "score": None}}}
OLD = f'window.localStorage.setItem("headlight-lessons", {json.dumps(json.dumps(KEPT))});'


def test_progress_of_older_pages_is_read() -> None:
    assert said(OLD, "wrongOnes(lessons).map(({ step }) => step.name)") == ["x"]
    assert said(OLD, "progressText(lessons, progress())") == "a:3s"
    lines = [OLD, 'takeProgress("a:99,b:9-", lessons);', "progress()"]
    assert said(*lines)["a"]["x"] == {"guess": 2, "score": 0.3} and said(*lines)["b"]["z"]["score"] == 1


def test_a_place_to_return_to_that_cannot_be_read_is_none() -> None:
    assert said('window.sessionStorage.setItem("headlight-return", "{");', "keptReturn()") is None


def test_a_link_carries_sureness_and_older_links_are_read() -> None:
    text = 'noteDone("a", "x", 1, { score: 0, right: false }, 3); noteDone("a", "y", 1, { score: 1, right: true }, 1);'
    assert said(text, "progressText(lessons, progress())") == "a:09:35"
    taken = said('takeProgress("a:09:35,b:9-", lessons);', "progress()")
    assert taken["a"] == {
        "x": {"guess": None, "score": 0, "right": False, "sure": 3},
        "y": {"guess": None, "score": 1, "right": True, "sure": 1},
    }
    assert taken["b"] == {"z": {"guess": None, "score": 1}}


@pytest.mark.parametrize(
    "text", ["a:09:99", "a:09:<b>", "a:09:3", "a:0", "a::35", "__proto__:9:7", "a:09:" + "7" * 4000]
)
def test_nonsense_in_a_link_loses_nothing(text: str) -> None:
    lines = ['noteDone("b", "z", 1, { score: 1, right: true }, 2);', f"takeProgress({json.dumps(text)}, lessons);"]
    kept = said(*lines, "progress()")
    assert kept["b"] == {"z": {"guess": 1, "score": 1, "right": True, "sure": 2}}
    assert all(done.get("sure") in (None, 1, 2, 3) for done in kept.get("a", {}).values())

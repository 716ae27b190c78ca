"""The lessons of the published page, in Node: each step's question, answer and verdict are Python's."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headlight import checkpoints, folders
from headlight.glossary import LESSON_TERMS, explained
from headlight.teaching.lessons.judging import judge
from headlight.teaching.lessons.language import parse
from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, failing, introduction, pose, truth
from headlight.teaching.lessons.reading import Lesson, Step, shelf, transfer_step
from headlight.viewer.scripts import viewer_script
from headlight.web.lessons import COMPANION_BITS, is_computed, lessons_of
from headlight.web.model_file import WEIGHT_BITS, model_bytes, round_weights
from tests.web.test_engine import NODE, ROOT
from transformer import Translator

MODEL = "en-fr"
FUNCTIONS = ("expressionsOfQuestion", "expressionsOfAnswer", "filled", "poseStep", "truthOf", "judge")
NUMBER = re.compile(r"(\d+(?:\.\d+)?)(\s?%)?")
STEPS = [(lesson.name, step) for lesson in shelf(ROOT / "lessons" / "en") for step in lesson.steps]
RECORDED = ("born", "low-loss")  # they compare snapshots of a training


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the page shows of each step that it computes."""
    tmp = tmp_path_factory.mktemp("lessons")
    lessons, companions = lessons_of(MODEL)
    assert [lesson["name"] for lesson in lessons] == [lesson.name for lesson in shelf(ROOT / "lessons" / "en")]
    models = {MODEL: model_bytes(checkpoints.load(MODEL), {}), **companions}
    for name, data in models.items():
        (tmp / name).write_bytes(data)
    asked = {"models": {name: str(tmp / name) for name in models}, "lessons": lessons}
    (tmp / "asked").write_text(json.dumps(asked))
    canvas = "globalThis.document = { createElement: () => ({ getContext: () => ({}) }) };\n"
    script = viewer_script("question", "judging", "web_lessons", shared_on="{}")
    (tmp / "viewer.mjs").write_text(f"{canvas}{script}\nexport {{ {', '.join(FUNCTIONS)} }};\n")
    files = [tmp / name for name in ("asked", "answers", "viewer.mjs")]
    subprocess.run([NODE, ROOT / "tests/web/lessons.mjs", *files], check=True, timeout=300)
    answers: dict[str, Any] = json.loads(files[1].read_text("utf-8"))
    return answers


@pytest.fixture(scope="module")
def rounded() -> Iterator[Callable[[str], Translator]]:
    """The models with the weights that the page has."""
    opened: dict[str, Translator] = {}

    def translator(name: str) -> Translator:
        if name not in opened:
            checkpoint = checkpoints.load(name)
            round_weights(checkpoint.model, WEIGHT_BITS if name == MODEL else COMPANION_BITS)
            opened[name] = Translator(checkpoint)
        return opened[name]

    yield translator


def same(page: Any, python: Any, where: str) -> None:
    """Equal, but for rounding: in the last digit of a number, also within a text."""
    if isinstance(python, dict):
        assert page.keys() == python.keys(), where
        for key, value in python.items():
            same(page[key], value, f"{where}.{key}")
    elif isinstance(python, list):
        assert len(page) == len(python), where
        for i, value in enumerate(python):
            same(page[i], value, f"{where}[{i}]")
    elif isinstance(python, str):
        assert NUMBER.sub("0", page) == NUMBER.sub("0", python), where
        for (given, unit), (expected, _) in zip(NUMBER.findall(page), NUMBER.findall(python), strict=True):
            decimals = max(0.02, 0.01 * float(expected)) if "." in expected else 0
            assert float(given) == pytest.approx(float(expected), abs=1 if unit else decimals), where
    elif isinstance(python, float) and not isinstance(python, bool):
        assert page == pytest.approx(python, abs=0.02), where
    else:
        assert page == python, where


@pytest.mark.parametrize(("lesson", "step"), [pytest.param(*one, id=f"{one[0]}-{one[1].name}") for one in STEPS])
def test_a_step_is_pythons(
    lesson: str, step: Step, played: dict[str, Any], rounded: Callable[[str], Translator]
) -> None:
    name = f"{lesson} {step.name}"
    if lesson in RECORDED:
        assert name not in played
        return
    computer = LessonComputer(rounded, folders.model, base(step))
    assert failing(step, computer) == []  # its texts hold of the rounded weights too
    page, posed, answer = played[name], pose(step, computer), truth(step, computer)
    same(page["text"], explained(introduction(step, computer), *LESSON_TERMS), "text")
    same(page["posed"], posed, "posed")
    same(page["truth"], answer, "truth")
    judged = judge(posed, answer, page["guess"])
    same(
        {key: page["judged"][key] for key in ("right", "score", "sentence")},
        {key: judged[key] for key in ("right", "score", "sentence")},
        "judged",
    )


@pytest.mark.parametrize("lesson", shelf(ROOT / "lessons" / "en"), ids=lambda lesson: lesson.name)
def test_a_question_about_a_typed_sentence_is_pythons(
    lesson: Lesson, played: dict[str, Any], rounded: Callable[[str], Translator]
) -> None:
    step = transfer_step(lesson, "We are going to the beach today.")
    assert step is not None
    name = f"{lesson.name} {step.name}"
    if lesson.name in RECORDED:
        assert name not in played  # its model, or its snapshot, is not in the page
        return
    computer = LessonComputer(rounded, folders.model, base(step))
    same(played[name]["posed"], pose(step, computer), "posed")
    same(played[name]["truth"], truth(step, computer), "truth")


def test_a_page_of_a_model_without_lessons_has_none() -> None:
    """The page of english-french, in test_published_lessons.py, has four."""
    assert lessons_of("reverse") == ([], {})


@pytest.mark.parametrize(
    ("text", "computed"),
    [
        ("entropy of encoder 1.1", True),
        ("translation = translation with no-scaling", True),
        ("punctuation of encoder 1.1", False),
        ('contribution of "it" to "elle"', False),
        ('number of heads with effect on "elle" above 0.7 in cross', False),
        ("translation at step 281", False),
    ],
)
def test_what_the_page_does_not_compute_is_recorded(text: str, computed: bool) -> None:
    named = parse(text)
    assert all(map(is_computed, [named, *named.parts])) == computed

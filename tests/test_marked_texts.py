"""The code of Attention, Decoding, Lessons and the class has no sentence that is not marked for translation.

tests/ui/test_marked.py runs these pages; this looks where a run of a page does not come: at scripts, at files to
download and at refusals. A text with two words in a row is a sentence, unless it is one of `NOT_SAID`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MARKS = ("gettext", "ngettext", "pgettext", "in_parts", "translatable")
FILES = [
    "headlight/analysis/checks.py", "headlight/charts/lines.py", "headlight/charts/svg.py",
    "headlight/viewer/export.py", "headlight/teaching/lessons/handout.py", "server/classroom/*.py",
    "ui/attention/*.py", "ui/decoding/*.py", "ui/lessons/*.py", "ui/state/batcher.py", "ui/state/queue.py",
    "ui/widgets/bleu.py", "ui/widgets/break_it.py", "ui/widgets/buttons.py", "ui/widgets/disclosure.py",
    "ui/widgets/errors.py", "ui/widgets/figures.py", "ui/widgets/frame.py", "ui/widgets/look_here.py",
    "ui/widgets/out_of_domain_note.py", "ui/widgets/presenting.py", "ui/widgets/sentence*.py",
    "ui/widgets/sidebar.py",
]  # fmt: skip
SCRIPTS = [
    "beam", "branches", "candidates", "chips", "chosen", "class_screen", "class_split", "core", "description",
    "drawing", "head", "hypotheses", "icons", "judging", "kinds", "lesson", "lessons", "lines", "looks", "map_axes",
    "map_box", "numbers", "overview", "page", "player", "progress", "prose", "pupil", "question", "question_head",
    "question_order", "question_row", "sheet", "strip", "streamlit", "terms", "texts", "tour", "tree", "views",
]  # fmt: skip
TWO_WORDS = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
STRING = r'"(?:[^"\\\n]|\\.)*"'
NO_SENTENCE = re.compile(r"[<={}\n]|INSERT OR|SELECT|PRAGMA|default-src|\.st-key-|^[\w-]+:[\w-]+;")
NOT_SAID = {
    *("rank correlation", "residual stream", "special token", "sequence log-probability"),  # names of terms
    "alignment error rate",
    *("encoder self-attention", "decoder self-attention", "cross-attention"),
    *("headlight class", "headlight serve", "make class", "make serve"),  # commands
    *("no target", "long sentence", "long translation"),  # reasons of an UnreadableTextError
    "no one two three four five six seven eight nine ten eleven twelve",  # in English alone
    *("big two", "asked-row told", "apart over", "apart under", "bars ranking"),  # classes and keys
    *("the cat sat on the mat", "the cat is on the mat"),  # an example of BLEU
    *("ERR value is not an integer", "value is not an integer", "no list of classes", "all classes"),  # of the log
    *("the page records its decodes", "a branch comes after the one it leaves"),  # of assertions
}
# What only engineers meet: a browser that sends nonsense, the address of a store, a record that is damaged.
INTERNAL = r"ValueError|DamagedRecord|ClassNotFound|"
INTERNAL += r".*\b(?:DatabaseError|set_aside|note_damage|getLogger\(\w+\)\.warning)"
UNSEEN = rf"{'|'.join(MARKS)}|{INTERNAL}|_?(?:log|LOG)\.\w+"


def is_sentence(text: str) -> bool:
    return bool(TWO_WORDS.search(text)) and text.strip() not in NOT_SAID and not NO_SENTENCE.search(text)


def unmarked_in_python(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each sentence that no mark has."""
    tree, skipped = ast.parse(source), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            skipped.add(id(node.value))
        if isinstance(node, ast.Call) and re.fullmatch(UNSEEN, ast.unparse(node.func)):
            skipped.update(map(id, ast.walk(node)))
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped
        if is_text and is_sentence(node.value):  # type: ignore[attr-defined]
            yield node.lineno, node.value  # type: ignore[attr-defined]


def unmarked_in_script(source: str) -> Iterator[str]:
    code = re.sub(r"(?m)(?<![:\"'`])//.*$|/\*.*?\*/", "", source)
    code = re.sub(rf"\b(?:{'|'.join(MARKS)})\(\s*(?:{STRING}\s*,?\s*)+", "", code)
    for line in code.splitlines():
        for match in re.finditer(rf"{STRING}|`[^`]*`", line):
            text = re.sub(r"\$\{[^}]*\}", "0", match[0][1:-1])
            is_look = re.search(r"(class:|className =|cssText =|font =|querySelector\w*\()\s*$", line[: match.start()])
            if is_sentence(text) and not is_look:
                yield text


@pytest.mark.parametrize("pattern", FILES)
def test_python_has_no_sentence_that_is_not_marked(pattern: str) -> None:
    files = sorted(ROOT.glob(pattern))
    found = [(path.name, *each) for path in files for each in unmarked_in_python(path.read_text("utf-8"))]
    assert files and found == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_has_no_sentence_that_is_not_marked(name: str) -> None:
    source = (ROOT / "headlight" / "viewer" / "js" / f"{name}.js").read_text("utf-8")
    assert list(unmarked_in_script(source)) == []


def test_a_sentence_that_is_not_marked_is_found() -> None:
    python = '"""Two words."""\nst.write(gettext("Two words"), f"{n} more words")\nst.warning("not so good")\n'
    assert sorted(unmarked_in_python(python)) == [(2, " more words"), (3, "not so good")]
    script = '// two words\nel("p", { class: "two words" }, gettext("Two words"), `${n} of them all`, "more words");\n'
    assert list(unmarked_in_script(script)) == ["0 of them all", "more words"]

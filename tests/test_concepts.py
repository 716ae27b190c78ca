"""The twenty questions fit their key, and the sheet to print tells it only to the teacher."""

import re
from collections import Counter
from pathlib import Path

import pytest

from headlight.cli.verbs import main
from headlight.folders import CONCEPTS
from headlight.teaching.concepts import LETTERS, read_questions, sheet
from headlight.teaching.misconceptions import MISCONCEPTIONS

QUESTIONS = read_questions(CONCEPTS)


def test_twenty_questions_have_one_right_answer_and_three_known_misconceptions() -> None:
    assert len(QUESTIONS) == 20 == CONCEPTS.read_text("utf-8").count("\n### ")
    assert all(sorted([one.right, *one.betrays]) == list(LETTERS) for one in QUESTIONS)
    assert {name for one in QUESTIONS for name in one.betrays.values()} == MISCONCEPTIONS.keys()  # each is asked about
    positions = Counter(one.right for one in QUESTIONS)
    assert max(positions.values()) <= 6, "whoever always ticks the same letter must not do well"
    longest = [max(one.answers, key=lambda letter: len(one.answers[letter])) == one.right for one in QUESTIONS]
    assert sum(longest) <= 8, "the longest answer must not be the right one too often"


def test_the_beliefs_of_the_document_are_those_of_the_registry() -> None:
    listed = dict(re.findall(r"^\| ([a-z-]+) \| (.+?) \|", CONCEPTS.read_text("utf-8"), re.MULTILINE))
    listed.pop("question"), listed.pop("name")
    assert listed == {name: known.belief for name, known in MISCONCEPTIONS.items()}


def test_the_sheet_has_every_question_and_no_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pupils, teachers = tmp_path / "sheet.html", tmp_path / "key.html"
    assert main(["concepts", str(pupils)]) == main(["concepts", str(teachers), "--answers"]) == 0
    page, key = pupils.read_text("utf-8"), teachers.read_text("utf-8")
    assert page.count("<section>") == key.count("<section>") == 20 and page.count("<li>") == 80
    assert 'class="right"' not in page and "Bright means" not in page and "A bright cell" not in page
    marked = re.findall(r'<li class="right">([A-D])\.', key)
    assert marked == [one.right for one in QUESTIONS]
    assert key.count("Bright means important.") == sum(
        [*one.betrays.values()].count("bright-is-important") for one in QUESTIONS
    )
    assert "default-src 'none'" in page and not re.search(r'(src|href)="(?!data:)', page)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| 2 | A | B ", "| 2 | B | B "),  # the right answer is also a wrong one
        ("| 2 | A |", "| 21 | A |"),
        ("B bright-is-important, C likely", "B no-such-belief, C likely"),
        ("- D. Look up", "- E. Look up"),
    ],
)
def test_a_key_that_does_not_fit_is_refused(tmp_path: Path, old: str, new: str) -> None:
    text = CONCEPTS.read_text("utf-8")
    assert old in text
    path = tmp_path / "concepts.md"
    path.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(ValueError, match="question 2|for its key"):
        read_questions(path)


def test_special_signs_are_shown_and_not_obeyed() -> None:
    (one,) = [question for question in QUESTIONS if question.title == "A bright cell"]
    hostile = type(one)("<b>", "<script>", dict.fromkeys(LETTERS, "<img>"), "A", one.betrays)
    assert not re.search("<b>|<script>|<img>", sheet([hostile]))

"""A lesson on paper needs nothing else, and tells its answers only to the teacher."""

import re
from pathlib import Path

import pytest

from headlight.cli.verbs import main
from headlight.teaching.lessons.handout import handout
from headlight.teaching.lessons.posing import truth
from headlight.teaching.lessons.reading import parse_lesson, read
from tests.lessons.shipped import CHECKPOINTS, LESSONS, computer


def test_a_handout_is_one_file_with_every_question_and_no_answer() -> None:
    lesson = read(LESSONS / "it.md")
    page, teachers = handout(lesson, computer), handout(lesson, computer, answers=True)
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "url(" not in page
    assert page.count("<section>") == len(lesson.steps)
    explained = truth(lesson.steps[1], computer(lesson.steps[1]))["explanation"].split("“")[0]
    assert explained not in page
    assert explained in teachers
    assert 'class="right"' not in page
    row = truth(lesson.steps[2], computer(lesson.steps[2]))["row"]
    assert "".join(f"<td>{value:.0f}</td>" for value in row) in teachers
    assert page.count(">?</text>") == 3 * len(row) and ">?</text>" not in teachers  # a word, a row, and a weight


def test_what_a_teacher_wrote_is_not_obeyed_and_loads_nothing_from_elsewhere() -> None:
    text = (LESSONS / "it.md").read_text()
    text = text.replace("French has no", "<script>alert(1)</script> ![](https://x.example/a.png) French has no")
    text = text.replace("title: What", "title: <b>What").replace("- … parce", "- <img src=x> … parce")
    page = handout(parse_lesson(text, "it", "it.md"), computer)
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "<b>What" not in page
    head = page[: page.index("</head>")]
    assert "default-src 'none'" in head and "img-src data:;" in head and "https:" not in head.partition("<title>")[0]


def test_the_command_checks_a_lesson_and_writes_its_handout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lesson = (LESSONS / "it.md").read_text()
    mine = tmp_path / "mine.md"
    mine.write_text(lesson.replace('"qu" to "street" < 0.5', '"qu" to "street" > 0.5'))
    options = ["--checkpoints", str(CHECKPOINTS)]
    assert main(["lesson", str(mine), *options]) == 1
    output = capsys.readouterr().out
    assert "What next?: holds" in output
    assert "Not yet?: line " in output
    assert "does not hold" in output
    assert main(["lesson", str(mine), *options, "--handout", str(tmp_path / "mine.html")]) == 0
    assert "What does “it” mean?" in (tmp_path / "mine.html").read_text()
    mine.write_text("no lesson")
    assert main(["lesson", str(mine), *options]) == 1
    assert "mine.md, line 1: The file begins with" in capsys.readouterr().err

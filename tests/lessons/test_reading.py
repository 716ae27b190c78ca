"""A lesson is checked when it is read, and each mistake is named with its line."""

from pathlib import Path

import pytest

from headlight.teaching.lessons.reading import MAX_LESSON_BYTES, parse_lesson, read

FRONT = "---\ntitle: T\nquestion: Q?\nminutes: 5\nmodel: reverse\n---\n"
STEP = """
## One step
view: attention?text=abc&kind=encoder
ask: word
answer: top key of encoder 1.1 from "a"

Some text.

### Question
Which?

### Explanation
It is {top key of encoder 1.1 from "a"}.
"""


def wrong(text: str) -> str:
    with pytest.raises(ValueError, match=r"^it\.md, line ") as caught:
        parse_lesson(text, "it", "it.md")
    return str(caught.value)


def test_a_lesson_is_what_the_file_says() -> None:
    lesson = parse_lesson(FRONT + STEP, "it", "it.md")
    (step,) = lesson.steps
    assert (lesson.title, lesson.minutes) == ("T", 5)
    assert (step.name, step.title, step.page, step.model) == ("one-step", "One step", "attention", "reverse")
    assert step.query == {"text": "abc", "kind": "encoder"}
    assert (step.text, step.question, step.hint) == ("Some text.", "Which?", "")
    assert step.line == 8


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("---\ntitle", "title", "line 1: The file begins with"),
        ("minutes: 5", "minutes: soon", "line 4: minutes is 'soon'"),
        ("minutes: 5\n", "", "line 1: The front matter lacks minutes."),
        ("minutes: 5", "length: 5", "line 4: 'length: 5' is none of title"),
        ("ask: word", "ask: riddle", "line 10: ask is 'riddle'; choose one of word, row"),
        ("attention?", "everything?", "line 9: view begins with 'everything'"),
        ('answer: top key of encoder 1.1 from "a"\n', "", "line 8: The step has no answer"),
        ('from "a"\n\nSome', 'to "a"\n\nSome', "line 11: 'top key of encoder 1.1 to \"a\"': “from” is missing"),
        ("It is {top key", "It is {top word", "line 19: 'top word of encoder"),
        ("### Question", "### Riddle", "line 15: There is no section 'Riddle'"),
        ("Which?", "", "line 8: The step has no text under “### Question”."),
        ("ask: word", "ask: number", "line 8: A number needs its slider"),
        ("ask: word", "ask: number\nrange: 1.2.3 to 5 by 1", "line 11: A number needs its slider"),
        ("ask: word", "ask: number\nrange: 0 to 5 by .", "line 11: A number needs its slider"),
        ("ask: word", f"ask: number\nrange: 0 to 1{'0' * 400} by 1", "line 11: A number needs its slider"),
        ("{top key", "{similarity of positions 3 and 2000000000} {top key", "line 19: 'similarity of positions 3"),
        ("{top key", f"{{similarity of positions 3 and 1{'0' * 5000}}} {{top key", "is too large for a position"),
        ("{top key", "{translation by beam 1000000} {top key", "too large for a beam size; give at most 20"),
        ("{top key", f"{{tokens at step 1{'0' * 5000}}} {{top key", "is too large for a step"),
        ("ask: word", "ask: choice", "line 11: A question of kind choice has no answer"),
        ("ask: word", "asks: word", "line 10: There is no field 'asks'"),
        ("Which?", "Which?\n- this", "line 17: A question of kind 'word' has no list"),
        ("\n## One step", "\nHello\n## One step", "line 8: Text before the first step"),
    ],
)
def test_a_mistake_is_named_with_its_line(old: str, new: str, said: str) -> None:
    assert old in FRONT + STEP
    assert said in wrong((FRONT + STEP).replace(old, new, 1))


def test_all_mistakes_are_named_at_once_in_the_order_of_their_lines() -> None:
    text = wrong((FRONT + STEP).replace("minutes: 5", "minutes: 0").replace("ask: word", "ask: riddle"))
    assert [line.split(":")[0] for line in text.splitlines()] == ["it.md, line 4", "it.md, line 10"]


def test_choices_carry_what_decides() -> None:
    choice = STEP.replace("ask: word", "ask: choice").replace('answer: top key of encoder 1.1 from "a"\n', "")
    good = choice.replace("Which?", "Which?\n\n- yes {if 1 < 2}\n- no {if 2 < 1}")
    assert [option.text for option in parse_lesson(FRONT + good, "it", "it.md").steps[0].options] == ["yes", "no"]
    assert "What decides is missing" in wrong(FRONT + choice.replace("Which?", "Which?\n- yes\n- no {if 2 < 1}"))
    assert "needs a list of at least two" in wrong(FRONT + choice)


def test_huge_files_and_files_in_other_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "huge.md").write_text(FRONT + "x" * MAX_LESSON_BYTES)
    with pytest.raises(ValueError, match="larger than"):
        read(tmp_path / "huge.md")
    (tmp_path / "latin.md").write_bytes("é".encode("latin-1"))
    with pytest.raises(ValueError, match="UTF-8"):
        read(tmp_path / "latin.md")


def test_two_steps_of_one_name_are_refused() -> None:
    assert "Two steps are called 'One step'" in wrong(FRONT + STEP + STEP)

"""Two translations, word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.analysis import text_diff

SENTENCES = [
    ("", ""),
    ("a b", "a b"),
    ("", "Une table."),
    ("Une table.", ""),
    ("Une fille est assise sur un banc.", "Une fille est assise sur une table."),
    ("a b c", "b c"),
    ("a b c", "a b"),
    ("Je dors, toi?", "Tu dors… toi!"),
    ("लड़की बैठी है।", "लड़का बैठा है।"),
    ("<b>a</b>", "<i>a</i>"),
]


@pytest.mark.parametrize(("before", "after"), SENTENCES)
def test_what_remains_is_the_new_text_and_what_was_the_old(before: str, after: str) -> None:
    pieces = text_diff(before, after)
    assert "".join(text for op, text in pieces if op != "delete").strip() == after
    assert "".join(text for op, text in pieces if op != "insert").strip() == before
    assert all(text for _, text in pieces)


@given(st.text("ab .,\n\té", max_size=20), st.text("ab .,\n\té", max_size=20))
def test_any_texts(before: str, after: str) -> None:
    pieces = text_diff(before, after)
    assert "".join(text for op, text in pieces if op != "delete").split() == after.split()
    old = "".join(text for op, text in pieces if op != "insert")
    assert "".join(old.split()) == "".join(before.split())
    assert {op for op, _ in pieces} <= {"equal", "delete", "insert"}
    assert (not any(op != "equal" for op, _ in pieces)) or "".join(before.split()) != "".join(after.split())


def test_the_words_that_changed() -> None:
    assert text_diff("Une fille est sur un banc.", "Une fille est sur une table.") == [
        ("equal", " Une fille est sur"), ("delete", " un banc"), ("insert", " une table"), ("equal", "."),
    ]  # fmt: skip


def test_equal_texts_have_one_piece() -> None:
    assert text_diff("a  b c.", "a b\tc.") == [("equal", " a b c.")]


def test_accents_and_vowel_signs_stay_in_their_word() -> None:
    assert text_diff("हिन्दी", "हिन्दि") == [("delete", " हिन्दी"), ("insert", " हिन्दि")]
    assert text_diff("e\u0301te", "ete") == [("delete", " e\u0301te"), ("insert", " ete")]


def test_a_long_text_is_compared_to_its_end() -> None:
    """difflib takes words that come often in more than 200 for noise, unless it is told not to."""
    after = ("a b " * 300).strip()
    assert text_diff("c " + after, after) == [("delete", " c"), ("equal", " " + after)]

"""Texts are cut between graphemes, and never inside one."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.graphemes import columns, graphemes, shortened
from tests.twelve_scripts import TOKENS

# Of letters, marks, joiners, flags, modifiers and vowel signs: what hangs together.
PARTS = [letter for token in sum(TOKENS.values(), []) for letter in token]
TEXTS = st.text(st.one_of(st.sampled_from(PARTS), st.characters()), max_size=60)

# What is read as one letter, by how many code points it has.
ONE = {
    "é": 2, "क्षि": 4, "स्त्री": 6, "ক্ষু": 4, "ที่": 3, "요": 2, "שָּׁ": 4, "👨\u200d👩\u200d👧\u200d👦": 7, "👍🏽": 2,
    "🇮🇳": 2, "1\ufe0f\u20e3": 3,
}  # fmt: skip


@pytest.mark.parametrize("letter", [unicodedata.normalize("NFD", one) for one in ONE])
def test_what_is_read_as_one_letter_is_never_cut(letter: str) -> None:
    assert list(graphemes(f"{letter}{letter}")) == [letter, letter]
    for most in range(12):
        kept = shortened(letter * 20, most).removesuffix("…")
        assert kept == letter * (len(kept) // len(letter))


@given(TEXTS, st.integers(1, 40))
def test_a_shortened_text_fits_and_is_the_beginning_of_the_text(text: str, most: int) -> None:
    short = shortened(text, most)
    assert columns(short) <= most
    parts = list(graphemes(text))
    assert "".join(parts) == text
    beginnings = {"".join(parts[:count]) for count in range(len(parts) + 1)}
    assert short == text or (short.endswith("…") and short[:-1] in beginnings)


@given(TEXTS, st.integers(1, 40))
def test_no_more_is_cut_than_has_to_be(text: str, most: int) -> None:
    short = shortened(text, most)
    if short != text:
        parts = list(graphemes(text))
        kept = next(n for n in range(len(parts)) if "".join(parts[:n]) == short[:-1])
        assert columns(text) > most
        assert sum(map(columns, parts[: kept + 1])) + 1 > most


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("girl", 4), ("mange\u0301", 5), ("女の子", 6), ("👨\u200d👩\u200d👧\u200d👦", 2), ("❤\ufe0f", 2), ("한", 2),
        ("▁क्ष", 3), ("", 0),
    ],
)  # fmt: skip
def test_what_is_wide_counts_twice_and_marks_not_at_all(text: str, taken: int) -> None:
    assert columns(text) == taken

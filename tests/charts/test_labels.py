import html
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.charts.labels import cut, escaped, ordinal, widest, width, wrapped
from headlight.graphemes import graphemes
from tests.twelve_scripts import TOKENS


@pytest.mark.slow
@given(st.text())
def test_escaped_text_reads_as_what_it_was_and_holds_no_markup(text: str) -> None:
    safe = escaped(text)
    assert not set("<>$") & set(safe)
    # Undone once, as the browser does it (which reads control characters as others).
    if text.isprintable():
        assert html.unescape(safe) == text


@given(st.text(max_size=60), st.floats(20, 300))
def test_a_cut_label_fits_and_begins_as_the_label_does(label: str, room: float) -> None:
    short = cut(label, room)
    assert width(short) <= room
    assert short == label or (short.endswith("…") and label.startswith(short[:-1]))


def test_a_label_that_fits_stays_whole_and_a_huge_one_is_cut() -> None:
    assert cut("bench", 60) == "bench"
    assert cut("x" * 10_000, 60).endswith("…")


@given(st.text(max_size=200), st.floats(30, 300), st.sampled_from([9, 13, 14]))
def test_wrapped_text_loses_no_letter_and_fits(text: str, room: float, size: float) -> None:
    lines = wrapped(text, room, size)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(width(line) * size / 14 <= room + 1e-6 for line in lines)


@pytest.mark.parametrize("script", TOKENS)
def test_a_label_of_any_script_is_cut_and_broken_between_its_letters(script: str) -> None:
    word = "".join(TOKENS[script]).replace("▁", "")
    letters = list(graphemes(word))
    beginnings = ["".join(letters[:count]) for count in range(len(letters))]
    for room in range(20, 120, 7):
        short = cut(word, room)
        assert short == word or short.removesuffix("…") in beginnings
        assert [letter for line in wrapped(word, room) for letter in graphemes(line)] == letters


def test_marks_take_no_room() -> None:
    for word in ("déjà", "книга", "יֶלֶד"):
        marked = unicodedata.normalize("NFD", word)
        assert width(marked) == width("".join(c for c in marked if not unicodedata.combining(c)))


def test_text_is_broken_between_words() -> None:
    assert wrapped("a little girl sits", width("a little girl"), 14) == ["a little girl", "sits"]


def test_wide_letters_count_for_what_they_take() -> None:
    assert width("座る") > width("ab")
    assert widest(["a", "座る", "abc"]) == width("座る")
    assert widest([]) == 0


@pytest.mark.parametrize(
    ("number", "name"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (21, "21st"), (113, "113th")],
)
def test_ordinals(number: int, name: str) -> None:
    assert ordinal(number) == name

"""Numbers for people, and the height of the sentence box."""

import math

import pytest
from streamlit.testing.v1 import AppTest

from ui.widgets.sentence_box import one_line
from ui.widgets.text import literal, signed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-5.3, "−5.30"),
        (0.1, "0.10"),
        (-0.02, "−0.020"),
        (-0.0042, "−0.0042"),
        (-0.0004215, "−4.2e−4"),
        (0.0000052, "5.2e−6"),
        (-3e-7, "0.00"),
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (-math.inf, "−inf"),
    ],
)
def test_no_number_rounds_away(value: float, text: str) -> None:
    """It read −0.00 on one page and 0.00 on another."""
    assert signed(value) == text
    above = text.removeprefix("−")
    assert signed(abs(value), plus=True) == (above if above == "0.00" else f"+{above}")


def test_what_was_typed_is_no_markup_and_changes_no_order_around_it() -> None:
    """A Hebrew word before a number drew the number to its other side."""
    assert literal("*a* [b](c)") == r"\*a\* \[b\]\(c\)"
    assert literal("עברית*") == "\u2068עברית\\*\u2069"


@pytest.mark.parametrize(
    ("typed", "read"), [("one two", "one two"), ("one\ntwo\r\nthree", "one two three"), (None, ""), ("one\n", "one")]
)
def test_line_breaks_are_spaces(typed: str | None, read: str) -> None:
    assert one_line(typed) == read


def test_what_was_typed_is_taken_as_one_line() -> None:
    def page() -> None:
        import streamlit as st

        from ui.widgets.sentence_box import sentence_box

        def take(typed: str) -> None:
            st.session_state.took = typed

        st.text("is " + sentence_box("Sentence", "first", key="box", take=take))

    at = AppTest.from_function(page, default_timeout=60).run()
    assert at.text[0].value == "is first"
    at.text_area[0].set_value("one\ntwo").run()
    assert (at.text[0].value, at.session_state["took"]) == ("is one two", "one two")

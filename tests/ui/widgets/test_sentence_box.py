"""The box for a sentence."""

import pytest
from streamlit.testing.v1 import AppTest

from ui.widgets.sentence_box import one_line


@pytest.mark.parametrize(
    ("typed", "read"), [("one two", "one two"), ("one\ntwo\r\nthree", "one two three"), (None, ""), ("one\n", "one")]
)
def test_line_breaks_are_spaces(typed: str | None, read: str) -> None:
    assert one_line(typed) == read


def test_what_was_typed_is_taken_as_one_line() -> None:
    def page() -> None:
        import streamlit as st

        from ui.state.view import PageView, open_view
        from ui.widgets.sentence_box import sentence_box

        view = open_view(PageView)
        st.text("is " + sentence_box("Sentence", "first", "text", convert=str.upper))
        st.text(f"took {view.text}")

    at = AppTest.from_function(page, default_timeout=60).run()
    assert at.text[0].value == "is first"
    at.text_area[0].set_value("one\ntwo").run()
    assert [text.value for text in at.text] == ["is one two", "took ONE TWO"]

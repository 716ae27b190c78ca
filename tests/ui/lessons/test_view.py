"""The address of the Lessons page."""

from __future__ import annotations

import pytest

from ui.lessons.view import LessonsView


def test_an_address_has_the_lesson_and_the_step_and_nothing_of_other_pages() -> None:
    view = LessonsView(model="de-en", text="Ein Hund.", kind="encoder", lesson="it", step="draw-its-row", only=True)
    assert view.to_query() == {"lesson": "it", "step": "draw-its-row", "only": "1"}
    assert LessonsView.from_query(view.to_query()) == LessonsView(lesson="it", step="draw-its-row", only=True)
    assert LessonsView.from_query(view.to_keep()) == view  # what the other pages show is not forgotten


def test_progress_is_taken_from_a_link_once() -> None:
    view = LessonsView.from_query({"done": "it:9-s---"})
    assert view.done == "it:9-s---" and view.to_query() == {} and view.to_keep() == {"done": "it:9-s---"}


@pytest.mark.parametrize("query", [{"step": "next", "only": "1"}, {"lesson": "../x", "only": "1"}, {"lesson": ""}])
def test_a_step_without_a_lesson_is_the_list(query: dict[str, str]) -> None:
    assert LessonsView.from_query(query) == LessonsView()

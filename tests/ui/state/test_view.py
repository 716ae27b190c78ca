"""The view and the address: what a link asks for that the model does not have, and what pages take over."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from ui.anatomy.view import AnatomyView
from ui.attention.view import AttentionView


def page() -> None:
    """Confine the Anatomy page's view to a model with two layers of four heads, and write its address."""
    from ui.anatomy.view import AnatomyView
    from ui.state.view import open_view, without_missing_head, write_address

    without_missing_head(open_view(AnatomyView), layers=2, heads=4)
    write_address()


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ({"layer": "2", "head": "4"}, {"layer": "2", "head": "4"}),
        ({"layer": "3", "head": "4"}, {"head": "4"}),
        ({"layer": "1", "head": "77"}, {"layer": "1"}),
        ({"layer": "9", "head": "9", "kind": "encoder"}, {"kind": "encoder"}),
    ],
)
def test_a_head_that_is_not_there_leaves_the_address(asked: dict[str, str], left: dict[str, str]) -> None:
    opened = AppTest.from_function(page)
    opened.query_params.update(asked)
    for _ in range(2):  # and does not come back
        opened.run()
        query = {name: value if isinstance(value, str) else value[0] for name, value in opened.query_params.items()}
        assert not opened.exception and query == left


def test_anatomy_opens_at_its_bare_address_and_tells_other_pages_its_kind() -> None:
    view = AnatomyView()
    assert view.to_query() == {} and view.shared_query() == {"kind": view.kind}
    assert AttentionView.from_query(view.shared_query()).kind == view.kind != AttentionView.kind


def bound_widgets() -> None:
    import streamlit as st

    from ui.attention.view import AttentionView
    from ui.state.view import bound, open_view, write_address

    view = open_view(AttentionView)
    st.selectbox("Scale", ["fixed", "row"], ["fixed", "row"].index(view.scale), **bound("scale", row=None))
    st.text_input("Model", view.model, **bound("model", "typed", convert=str.lower, reseeds=True, text=None))
    write_address()


def test_a_bound_widget_changes_its_field_the_fields_with_it_and_the_address() -> None:
    app = AppTest.from_function(bound_widgets)
    app.query_params.update({"row": "1", "text": "a", "model": "b"})
    app.run().selectbox[0].set_value("row").run()
    assert not app.exception and app.query_params == {"scale": "row", "text": "a", "model": "b"}
    key = app.selectbox[0].key
    app.text_input[0].set_value("OTHER").run()
    assert app.query_params == {"scale": "row", "model": "other"}
    assert app.selectbox[0].value == "row" and app.text_input[0].value == "other" and app.selectbox[0].key != key

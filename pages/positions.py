"""The Positions page: how does the network know which word came first?

Positional encodings, and what they do to a sentence.
"""

import streamlit as st

from ui.positions import added, alike, circle, formula, in_scores, order, relative, schemes, waves
from ui.positions.codes import chosen, shown_frequencies
from ui.positions.controls import controls
from ui.positions.view import PositionsView
from ui.widgets.errors import plain_errors
from ui.widgets.frame import page

QUESTION = "Attention sees a bag of words. How does the network know which word came first?"

with page(PositionsView, "Positions", QUESTION) as opened:
    view, model = opened.view, opened.model
    controls(view, model.model.config)
    with plain_errors():
        code = chosen(view, opened.name, model)
        if code.scheme == "relative":
            relative.draw_relative(model.model)
        else:
            waves.draw_waves(code, opened.name, model)
        st.space("medium")
        omega = shown_frequencies(view, model)
        formula.draw_formula(model, 2 * len(omega), view.base)
        st.space("medium")
        circle.draw_circle(omega, view.positions, view.base)
        st.space("medium")
        alike.draw_alike(code, view.positions, 2 * len(omega))
        st.space("medium")
        schemes.draw_schemes(code, 2 * len(omega))
        in_scores.draw_in_scores(2 * len(omega), view.base)
    st.space("medium")
    order.draw_order(opened.name, model)
    st.space("medium")
    added.draw_added(opened.name, model)

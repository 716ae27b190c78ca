"""Why did the model write this word? Where it came from, why no other, and how early it was there."""

import streamlit as st

from ui.state import models
from ui.why import layers, origins, rather, steps
from ui.why.view import WhyView
from ui.widgets.errors import plain_errors
from ui.widgets.far import far_note
from ui.widgets.frame import page
from ui.widgets.sentence import translation, two_sides

with page(WhyView, "Why", "Why did it write this word?") as opened:
    view, model = opened.view, opened.model
    text, below, place = two_sides(model, view)
    with plain_errors():
        trace = models.trace(opened.name, text, view.target)
        translation(place, model, view, trace, trace.translation)
        with below:
            far_note(opened.name, model, text)
        step = steps.section(opened.name, view, trace)
        origins.section(opened.name, model, trace, step)
        st.space("medium")
        rather.section(opened.name, model, view, trace, step)
        st.space("medium")
        layers.section(opened.name, model, trace)

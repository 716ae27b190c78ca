"""What happens to one word inside one head? The network as a map, and any part of it in numbers."""

import streamlit as st

from ui import resources
from ui.anatomy import lens, network
from ui.anatomy.view import AnatomyView
from ui.page import page
from ui.sentence import translation, two_sides

with page(AnatomyView, "Anatomy", "What happens to one word inside one head?") as opened:
    view, model = opened.view, opened.model
    text, place = two_sides(model, view)
    with resources.plain_errors():
        trace = resources.trace(opened.name, text, view.target)
        translation(place, model, view, trace, trace.translation)
        network.section(opened.name, trace)
        st.space("medium")
        lens.section(opened.name, trace)

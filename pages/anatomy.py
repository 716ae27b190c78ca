"""The Anatomy page: what happens to one word inside one head?

The network as a map, and any part of it in numbers.
"""

import streamlit as st

from ui.anatomy import lens, network
from ui.anatomy.view import AnatomyView
from ui.state import models
from ui.widgets.errors import plain_errors
from ui.widgets.frame import page
from ui.widgets.out_of_domain_note import out_of_domain_note
from ui.widgets.sentence import translation, two_sides

with page(AnatomyView, "Anatomy", "What happens to one word inside one head?") as opened:
    view, model = opened.view, opened.model
    text, below, translation_container = two_sides(model, view)
    with plain_errors():
        trace = models.trace(opened.name, text, view.target)
        translation(translation_container, model, view, trace, trace.translation)
        with below:
            out_of_domain_note(opened.name, model, text)
        network.draw_network(opened.name, text, view.target)
        st.space("medium")
        lens.draw_lens(opened.name, text, view.target)

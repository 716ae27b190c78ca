"""What happens to one word inside one head? The network as a map, and any part of it in numbers."""

import streamlit as st

from ui import resources
from ui.anatomy import lens, network
from ui.anatomy.view import AnatomyView
from ui.page import page
from ui.sentence import source_input, target_box, target_input, token_strip, unknown_note

with page(AnatomyView, "Anatomy", "What happens to one word inside one head?") as opened:
    view, model = opened.view, opened.model
    source, target = st.columns([5, 6], gap="medium")
    with source:
        text = source_input(model, view)
    with target:
        strip = st.container()
    with resources.plain_errors():
        trace = resources.trace(opened.name, text, view.target)
        with strip:
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                own, side = view.target is None, model.card.get("target", "Translation")
                st.caption(f"{side}, written by {'the model' if own else 'you'}, each token over its probability")
                target_input(model, view, trace.translation)
            if not own:
                target_box(view)
            token_strip(trace, model)
            unknown_note(trace)
        network.section(opened.name, trace)
        st.space("medium")
        lens.section(opened.name, trace)

"""What does each head look at? A sentence, its translation, and every attention pattern in between."""

import streamlit as st

from ui.attention.heads import heads
from ui.attention.picture import shown
from ui.attention.switches import switches
from ui.attention.view import AttentionView
from ui.page import page
from ui.resources import plain_errors
from ui.sentence import source_input, target_box, target_input, token_strip, unknown_note

with page(AttentionView, "Attention", "What does each head look at?") as opened:
    view, model = opened.view, opened.model
    source, target = st.columns([5, 6], gap="medium")
    with source:
        text = source_input(model, view)
    with target:
        strip = st.container()
    with plain_errors():
        picture = shown(opened.name, text, view)
        with strip:
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                own, side = view.target is None, model.card.get("target", "Translation")
                st.caption(f"{side}, written by {'the model' if own else 'you'}, each token over its probability")
                target_input(model, view, picture.plain.translation)
            if not own:
                target_box(view)
            token_strip(picture.trace, model)
            unknown_note(picture.trace)
        middle = st.container()
        numbers, off = st.columns([54, 46], gap="large")
        with middle:
            heads(picture, opened.actions, numbers)
        with off:
            switches(picture)

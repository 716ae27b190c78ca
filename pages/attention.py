"""The Attention page: what does each head look at?

A sentence, its translation, and every attention pattern in between.
"""

import streamlit as st

from headlight.language import gettext
from ui.attention.heads import heads
from ui.attention.mistake_effect import mistake_effect
from ui.attention.picture import shown_trace
from ui.attention.second import second_sentence
from ui.attention.switches import changed, switches
from ui.attention.tour import tour
from ui.attention.view import AttentionView
from ui.attention.waiting_example import example_while_waiting, prepare_example
from ui.widgets.errors import plain_errors
from ui.widgets.frame import page
from ui.widgets.out_of_domain_note import out_of_domain_note
from ui.widgets.sentence import translation, two_sides

with page(AttentionView, gettext("Attention"), gettext("What does each head look at?")) as opened:
    view, model = opened.view, opened.model
    actions = opened.actions.container(horizontal=True, vertical_alignment="center", gap="small")
    with actions:
        tour(view)
    text, below, translation_container = two_sides(model, view)
    mistake_container, compared, middle = st.container(), st.container(), st.container()
    numbers, off = st.columns([54, 46], gap="large")
    with plain_errors():
        with example_while_waiting(opened.name, view, translation_container, middle):
            picture = shown_trace(opened.name, text, view)
        translation(translation_container, model, view, picture.trace, picture.plain.translation, changed(picture))
        with below:
            out_of_domain_note(opened.name, model, text)
        with mistake_container:
            mistake_effect(opened.name, model, text, view, picture.trace)
        second = second_sentence(opened.name, model, text, view, below, compared)
        with middle:
            heads(picture, second, actions, numbers)
        with off:
            switches(picture)
        prepare_example(opened.name)

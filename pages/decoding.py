"""The Decoding page: how does it choose the next word?

A sentence, its translation step by step, and what else the model could have written.
"""

import streamlit as st

from headlight.language import gettext
from ui.decoding.search import search
from ui.decoding.stage import controls, stage
from ui.decoding.view import DecodingView
from ui.widgets.frame import page
from ui.widgets.out_of_domain_note import out_of_domain_note
from ui.widgets.sentence import source_input, token_notes

with page(DecodingView, gettext("Decoding"), gettext("How does it choose the next word?")) as opened:
    view, model = opened.view, opened.model
    sentence, strategy = st.columns([5, 6], gap="medium")
    with sentence:
        text = source_input(model, view)
    with strategy:
        controls(view)
    decoded = search(opened.name, text, view.decoding)
    with sentence:
        out_of_domain_note(opened.name, model, text, decoded.log_prob_per_token)
    token_notes(decoded.source, *decoded.labels)
    stage(opened.name, text, model, view.decoding, opened.actions)

"""The Why page: why did the model write this word?

Where it came from, why no other, what caused it, and after how many encoder layers it was there.
"""

from dataclasses import replace

import streamlit as st

from headlight.analysis.head_changes import describe_changes
from ui.state import models
from ui.why import contrast, heads_off, layers, origins, swap
from ui.why.cause import cause_of
from ui.why.downloads import Picture, export
from ui.why.passes import WrittenToken, changed_trace
from ui.why.view import WhyView
from ui.widgets.errors import plain_errors
from ui.widgets.frame import page
from ui.widgets.out_of_domain_note import out_of_domain_note
from ui.widgets.sentence import translation, two_sides
from ui.widgets.similar_tokens import similar_tokens

with page(WhyView, "Why", "Why did it write this word?") as opened:
    opened = replace(opened, view=opened.view.of_model(opened.model.model.config))
    view, model, name = opened.view, opened.model, opened.name
    text, below, translation_container = two_sides(model, view)
    complete = trace = models.trace(name, text, view.target)
    translation(translation_container, model, view, trace, trace.translation)
    with below:
        out_of_domain_note(name, model, text)
    cause, pictures, about = None, list[Picture](), dict[str, str]()
    with plain_errors():
        cause = cause_of(name, model, view, trace)
    step = origins.chosen_step(view, trace, (cause and cause.first) or 0)
    with plain_errors():
        trace = changed_trace(name, complete, view.taps)
    token = WrittenToken(name, model, view, trace, step)
    about["Token"] = f"{token.label}, number {step + 1}"
    with plain_errors():
        origins.step_scrubber(token)
    heads_off.draw(token, complete)
    left, right = st.columns(2, gap="large")
    with left, plain_errors():
        pictures += origins.draw_origins(token)
    instead = None
    with right, plain_errors():
        instead = contrast.choose(token, cause)
        about["Rather than"] = token.label_of(instead)
        pictures += contrast.draw_contrast(token, instead)
    st.divider()
    with plain_errors():
        if instead is not None:
            if cause is not None:
                about["The other sentence"] = cause.text
            pictures += swap.draw_swap(token, cause, instead)
    st.divider()
    with plain_errors():
        pictures += layers.draw_layers(token)
    with plain_errors():
        similar_tokens(name, trace, "decoder", None, (step, None), view.taps)
    if view.changes:
        about["Heads changed"] = describe_changes(view.changes)
    if pictures:
        export(opened.actions, token, about, pictures)

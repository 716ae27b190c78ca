"""What does each head look at? A sentence, its translation, and every attention pattern in between."""

import streamlit as st

from ui import resources
from ui.heads import controls, heads
from ui.picture import Shown
from ui.sentence import source_input, target_box, target_input, token_strip, unknown_note
from ui.switches import switches
from ui.view import View, current, write_address


def shown(name: str, text: str, view: View) -> Shown:
    """The traces of the sentence, with and without the heads that are changed."""
    model = resources.translator(name)
    changes = tuple(change for change in view.changes if change.exists_in(model.model.config))
    taps = tuple(change.tap() for change in changes)
    plain = resources.trace(name, text, view.target)
    if not taps:
        return Shown(model, plain, plain, None, (), resources.checks(name, text, view.target))
    changed = resources.trace(name, text, view.target, taps)
    forced = resources.forced_trace(name, plain.source.ids, plain.target.ids, taps)
    return Shown(model, changed, plain, forced, changes, resources.checks(name, text, view.target, taps))


view, names = current(), resources.model_names()
with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    st.title("Attention", anchor=False, width="content")
    st.markdown(":gray[What does each head look at?]", width="stretch")
    actions = st.container(width="content")
if not names:
    st.info("There is no model in checkpoints/ yet. Train one: `python -m transformer train --help`.")
    st.stop()
name = view.model if view.model in names else names[0]
with resources.plain_errors():
    model = resources.translator(name)
    source, target = st.columns([5, 6], gap="medium")
    with source:
        text = source_input(model, view)
    with target:
        strip = st.container()
    with resources.plain_errors():
        picture = shown(name, text, view)
        with strip:
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                own, side = view.target is None, model.card.get("target", "Translation")
                st.caption(f"{side}, written by {'the model' if own else 'you'}, each token over its probability")
                target_input(model, view, picture.plain.translation)
            if not own:
                target_box(view)
            token_strip(picture.trace, model)
            unknown_note(picture.trace)
        controls(picture)
        middle = st.container()
        numbers, off = st.columns([54, 46], gap="large")
        with middle:
            heads(picture, actions, numbers)
        with off:
            switches(picture)
write_address()

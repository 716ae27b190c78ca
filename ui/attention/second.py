"""A second sentence, read by the same head: its box, and the two pictures beside each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from difflib import SequenceMatcher

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.importers.examples import examples
from transformer import Translator
from ui.attention.large import large_head
from ui.attention.picture import Panel, Shown, panel, shown
from ui.attention.view import AttentionView
from ui.state.view import reseed, update, widget_key
from ui.widgets.errors import plain_errors
from ui.widgets.sentence import token_strip
from ui.widgets.sentence_box import sentence_box
from ui.widgets.text import literal


def second_sentence(
    name: str, model: Translator, text: str, view: AttentionView, below: DeltaGenerator, place: DeltaGenerator
) -> Shown | None:
    """In `place` the box of the second sentence and what the model makes of it, or `below` the first the button that
    opens it."""
    if view.second is None:
        below.button(
            "Compare with a second sentence",
            icon=":material/compare:",
            key="second-open",
            type="tertiary",
            help="Shows the same head for two sentences beside each other.",
            on_click=_open,
            args=(closest(text, (example.text for example in examples(model.card))),),
        )
        return None
    source, target = place.columns([5, 6], gap="medium")
    with source, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        sentence_box("Second sentence", view.second, key=widget_key("second"), take=_take)
        st.button("Close", icon=":material/close:", key="second-close", help="Show one sentence", on_click=_close)
    with target, plain_errors():
        other = shown(name, view.second, replace(view, target=None))
        st.caption(f"{model.card.get('target', 'Translation')}, written by the model")
        token_strip(other.trace, model)
        return other
    return None


def _take(typed: str) -> None:
    update(second=typed)


def _open(text: str) -> None:
    update(second=text)
    reseed()


def _close() -> None:
    update(second=None)


def closest(text: str, others: Iterable[str]) -> str:
    """The one of the others that shares most words with the text; the text itself where there is none."""
    words = text.split()
    different = [other for other in others if other != text]
    return max(different, key=lambda other: SequenceMatcher(None, words, other.split()).ratio(), default=text)


def side_by_side(second: Shown, view: AttentionView, large: Panel) -> tuple[Panel, Panel]:
    """The head of the first sentence and the same one of the second, on one scale."""
    same = replace(view, layer=large.layer + 1, head=large.head + 1)
    other = panel(second, same, second.measured(view.kind, view.words, view.hide)[0])
    limit = max(large.limit, other.limit)
    return replace(large, limit=limit), replace(other, limit=limit)


def in_sentence(large: Panel, view: AttentionView, of: Shown, *, first: bool) -> None:
    """One of the two pictures under its sentence."""
    st.markdown(literal(of.trace.text))
    large_head(large, view, key="head" if first else "head-second", first=first)
    checks(of)


def checks(shown: Shown) -> None:
    """Which checks of a trace hold, and what each says."""
    with plain_errors():  # they are made here, within a fragment, whose errors Streamlit would show as they are
        hold = sum(check.holds for check in shown.checks)
        icon = ":material/check_circle:" if hold == len(shown.checks) else ":material/error:"
        with st.popover(f"Checks: {hold} of {len(shown.checks)} hold", icon=icon, type="tertiary"):
            for check in shown.checks:
                mark = ":material/check:" if check.holds else ":material/close:"
                st.markdown(f"{mark} **{check.name}.** {check.detail}")

"""What the page shows while a visitor's sentence waits to be read: one of the model's examples, read before."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.checkpoints.examples import examples
from ui.attention.heads import every_head, heads
from ui.attention.picture import Shown, shown
from ui.attention.view import AttentionView
from ui.state.cache import kept
from ui.state.models import translator, version
from ui.widgets.sentence import token_strip
from ui.widgets.text import literal


def make_ready(name: str) -> None:
    """Has the model read its first example, where that has not been done since it was opened."""
    if examples(translator(name).card):
        _example(name, version(name))


@kept(8, seconds=3600)
def _example(name: str, version: tuple[int, ...]) -> Shown:
    picture = shown(name, examples(translator(name).card)[0].text, AttentionView())
    every_head(picture, words=False, hide=False, scale="fixed")  # packed once for all who will wait
    return picture


def stand_in(name: str, place: DeltaGenerator, middle: DeltaGenerator) -> Callable[[], None] | None:
    """What draws the example in the places of the translation and of the heads.

    None where none was read yet, and where the page still shows the sentence that was read before.
    """
    if "overview" in st.session_state or not _example.has(name, version(name)):
        return None
    picture = _example(name, version(name))

    def draw() -> None:
        with place:
            st.caption(f"Your sentence is in line. Meanwhile, another one: {literal(picture.trace.text)}")
            token_strip(picture.trace, picture.model)
        with middle:
            heads(picture)

    return draw

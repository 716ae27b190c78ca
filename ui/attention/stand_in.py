"""What the page shows while a visitor's sentence waits to be read: one of the model's examples, read before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.importers.examples import examples
from ui.attention.heads import every_head, heads
from ui.attention.picture import Shown, shown
from ui.attention.view import AttentionView
from ui.state.cache import kept
from ui.state.models import translator, version
from ui.state.queue import meanwhile
from ui.widgets.sentence import token_strip
from ui.widgets.text import literal


def make_ready(name: str) -> None:
    """Has the model read its first example, where that has not been done since it was opened."""
    if examples(translator(name).card):
        with suppress(ValueError):  # a card may name what the model cannot read; that is told to who asks for it
            _example(name, version(name))


@kept(8, seconds=3600)
def _example(name: str, version: tuple[int, ...]) -> Shown:
    picture = shown(name, examples(translator(name).card)[0].text, AttentionView())
    every_head(picture, words=False, hide=False, scale="fixed")  # packed once for all who will wait
    return picture


@contextmanager
def standing_in(name: str, view: AttentionView, place: DeltaGenerator, middle: DeltaGenerator) -> Iterator[None]:
    """Draws the example in the places of the translation and of the heads where what is done within it waits in line.

    Afterwards the page runs again: what was focused or chosen meanwhile stays, since it has the same keys.
    """
    with meanwhile(_drawing(name, view, place, middle)) as waited:
        try:
            yield
        except Exception:  # beside the example no page could say it; the next run does, where nothing stands in
            if not waited.drawn:
                raise
    if waited.drawn:
        st.rerun()


def _drawing(
    name: str, view: AttentionView, place: DeltaGenerator, middle: DeltaGenerator
) -> Callable[[], None] | None:
    """None where no example was read yet, where the view shows of it what would have to be computed, in line too, and
    where the page still has the sentence that was read before."""
    asked = name, version(name)
    if "overview" in st.session_state or view.show in ("value", "difference") or not _example.has(*asked):
        return None
    picture = _example(*asked)

    def draw() -> None:
        with place:
            st.caption(f"Your sentence is in line. Meanwhile, an example: {literal(picture.trace.text)}")
            token_strip(picture.trace, picture.model)
        with middle:
            heads(picture)

    return draw

"""Example in place of a visitor's sentence that waits in the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.importers.examples import examples
from headlight.language import current, gettext
from ui.attention.heads import every_head, heads
from ui.attention.picture import ShownTrace, shown_trace
from ui.attention.view import AttentionView
from ui.state.cache import cached
from ui.state.models import translator, versioned
from ui.state.queue import wait_placeholder
from ui.widgets.sentence import token_strip
from ui.widgets.text import literal


def prepare_example(name: str) -> None:
    """Trace the model's first example, unless that was done since it was opened."""
    if examples(translator(name).card):
        with suppress(ValueError):  # a card may name what the model cannot read; whoever opens it gets the error
            _example(name, current())


@cached(8, seconds=3600, key=versioned)
def _example(name: str, language: str) -> ShownTrace:
    picture = shown_trace(name, examples(translator(name).card)[0].text, AttentionView())
    every_head(picture, words=False, hide=False, scale="fixed")  # packed once for all who will wait
    return picture


@contextmanager
def example_while_waiting(
    name: str, view: AttentionView, container: DeltaGenerator, middle: DeltaGenerator
) -> Iterator[None]:
    """Draw the example in place of the translation and of the heads where the code within waits in the queue.

    Afterwards the page runs again: what was focused or chosen meanwhile stays, since it has the same keys.
    """
    with wait_placeholder(_drawing(name, view, container, middle)) as placeholder:
        try:
            yield
        except Exception:  # the page has no room for it beside the example; the next run reports it
            if not placeholder.is_drawn:
                raise
    if placeholder.is_drawn:
        st.rerun()


def _drawing(
    name: str, view: AttentionView, container: DeltaGenerator, middle: DeltaGenerator
) -> Callable[[], None] | None:
    """Return a function that draws the example.

    It is None where no example has been traced yet, where the view needs more than the trace, which would wait in the
    queue too, and where the page still shows the previous sentence.
    """
    key = name, current()
    if "overview" in st.session_state or view.show in ("value", "difference") or not _example.is_cached(*key):
        return None
    picture = _example(*key)

    def draw() -> None:
        with container:
            text = gettext(
                "Your sentence is in line. Meanwhile, an example: {sentence}", sentence=literal(picture.trace.text)
            )
            st.caption(text)
            token_strip(picture.trace, picture.model)
        with middle:
            heads(picture)

    return draw

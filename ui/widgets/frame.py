"""The frame of every page: the sidebar, a title with its question, and errors as one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.folders import COMMAND
from headlight.language import gettext
from transformer import Translator
from ui.state.models import broken_name, model_names, translator
from ui.state.queue import NOTE_KEY
from ui.state.view import PageView, V, open_view, without_missing_head, write_address
from ui.widgets.break_it import break_it, mistakes
from ui.widgets.errors import error_text, plain_errors
from ui.widgets.sidebar import sidebar
from ui.widgets.text import literal


@dataclass(frozen=True)
class Opened(Generic[V]):
    """An open page: its view, its model, and the container next to the title for what it exports."""

    view: V
    name: str  # of the model
    model: Translator
    actions: DeltaGenerator


@contextmanager
def frame(view_class: type[V], models: Sequence[str] = ()) -> Iterator[V]:
    """Open any page: its view from the address, the sidebar with a choice among `models`, and the address at its end.

    An error ends the body, and the page says what went wrong.
    """
    view = open_view(view_class)
    if view.alone:
        st.html("<style>.stAppHeader, [data-testid='stSidebar'] { display: none; }</style>")
    else:
        sidebar(view, models)
    with plain_errors():
        yield view
    write_address()


@contextmanager
def page(view_class: type[V], title: str, question: str) -> Iterator[Opened[V]]:
    """Open a page about a model: the one that the view names, else the first of all."""
    names = model_names()
    with frame(view_class, names) as view:
        actions = heading(title, question)
        st.session_state[NOTE_KEY] = st.empty()
        if not names:
            train = f"`{COMMAND} train --help`"
            st.info(gettext("There is no model in checkpoints/ yet. Train one: {command}.", command=train))
            st.stop()
        name = view.model if view.model in names else names[0]
        if view.model not in (None, name):
            text = gettext(
                "There is no model “{name}” here; this is {other}.", name=literal(view.model or ""), other=name
            )
            st.caption(f":material/info: {text}")
        model = None
        with plain_errors():
            model = translator(name)
        if model is None:  # its files are broken, as the page already says; another can be chosen
            write_address()
            st.stop()
        if view.MISTAKES:
            name, model = _with_mistake(name, model, view)
        mistakes(model, broken_here=view.MISTAKES != () and bool(getattr(view, "broken", "")))
        config = model.model.config
        stack = config.encoder if view.kind == "encoder" else config.decoder
        yield Opened(without_missing_head(view, stack.n_layers, stack.n_heads), name, model, actions)


def _with_mistake(name: str, model: Translator, view: PageView) -> tuple[str, Translator]:
    """Return the model with the view's mistake, or as it is where there is none or it can't be made in this model."""
    broken = getattr(view, "broken", "")
    if broken:
        try:
            model = translator(broken_name(name, broken))
            name = broken_name(name, broken)
        except ValueError as error:
            st.info(error_text(error), icon=":material/info:")
            broken = ""
    break_it(view, broken)
    return name, model


def heading(title: str, question: str) -> DeltaGenerator:
    """Draw the title with its question, and return the container to the right of both."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="page-heading"):
        st.title(title, anchor=False, width="content")
        st.markdown(f":gray[{question}]", width="stretch")
        return st.container(width="content")

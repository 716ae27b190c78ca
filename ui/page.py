"""What every page has: the sidebar, a title with its question, and errors told in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import Translator
from ui.resources import model_names, plain_errors, translator
from ui.sidebar import sidebar
from ui.view import V, current, write_address


@dataclass(frozen=True)
class Opened(Generic[V]):
    """An open page: its view, the model that it is about, and the place beside the title for what it exports."""

    view: V
    name: str  # of the model
    model: Translator
    actions: DeltaGenerator


@contextmanager
def page(view_class: type[V], title: str, question: str) -> Iterator[Opened[V]]:
    """A page about a model. The body is not run to its end where something goes wrong: the page says what."""
    view, names = current(view_class), model_names()
    sidebar(view, names)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.title(title, anchor=False, width="content")
        st.markdown(f":gray[{question}]", width="stretch")
        actions = st.container(width="content")
    if not names:
        st.info("There is no model in checkpoints/ yet. Train one: `python -m transformer train --help`.")
        st.stop()
    name = view.model if view.model in names else names[0]
    with plain_errors():
        yield Opened(view, name, translator(name), actions)
    write_address()

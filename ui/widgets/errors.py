"""Errors of a page, a button or an upload, as one sentence."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from headlight.formatting import error_message
from headlight.language import gettext, localized
from transformer.quoting import UnreadableTextError
from ui.state import models
from ui.state.public import without_places
from ui.widgets.text import literal

log = logging.getLogger("headlight")


@contextmanager
def plain_errors() -> Iterator[None]:
    """Show a ValueError as a sentence; an unexpected error goes to the log, not to the page."""
    try:
        yield
    except ValueError as error:
        st.info(without_places(error_text(error)), icon=":material/info:")
    except Exception:
        log.exception("a page failed")
        st.error(
            gettext("Something went wrong here. The log has the details; try another sentence or model."),
            icon=":material/error:",
        )


def error_text(error: ValueError) -> str:
    """Return what an error says, in the reader's language where it is about a text that the model can't read."""
    if not isinstance(error, UnreadableTextError):
        return str(error)
    return gettext(error.message, **{name: localized(str(value)) for name, value in error.values.items()})


def without_folders(message: str) -> str:
    """Return a message without the folders that only the machine needs to know."""
    text = re.sub(rf"{re.escape(str(models.RUNS / models.UPLOADS))}/([0-9]+/)?", "", message)
    text = text.replace(f"{models.RUNS}/", "")
    return without_places(text)


def cannot(error: Exception | str, title: str | None = None) -> None:
    """Draw why something cannot be done."""
    text = without_folders(error if isinstance(error, str) else error_message(error))
    st.warning(literal(text), icon=":material/error:", title=title)

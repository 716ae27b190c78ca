"""A part of a page that runs again without the rest of the page."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def own_fragment(
    draw: Callable[..., object], *arguments: object, run_every: float | None, width: str = "stretch"
) -> None:
    """Call a function as a fragment, in a container of its own in which nothing follows it.

    Streamlit 1.67 loses what a whole run draws for a fragment if the fragment runs again before it is sent. Then what
    follows takes the fragment's place, and the fragment's next run overwrites it.
    """
    with st.container(width=width):  # type: ignore[arg-type]
        st.fragment(draw, run_every=run_every)(*arguments)

"""Boxes in the page's own colours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from headlight.charts.colours import theme_named

_BAD = {"light": "#a33a1f", "dark": "#ff9a7d"}


@contextmanager
def framed(key: str) -> Iterator[None]:
    """A box with a border, its first icon in the colour of a refusal."""
    colour = _BAD[st.context.theme.type or "light"]
    with st.container(border=True, key=key):
        st.html(f"<style>.st-key-{key} h4 span[role=img]{{color:{colour}}}</style>")
        yield


@contextmanager
def tinted(key: str) -> Iterator[None]:
    """A box on a tint of the accent: something is asked here."""
    accent = theme_named(st.context.theme.type or "light").accent
    with st.container(key=key):
        st.html(f"<style>.st-key-{key}{{background:{accent}1a;border-radius:10px;padding:16px 18px 18px}}</style>")
        yield

"""Identities that the Why page shows: with a tick where they hold, and only there."""

from __future__ import annotations

import streamlit as st

CLOSE = 1e-3  # how far two numbers that should be the same may be apart: less than the page shows


def check(holds: bool, says: str) -> None:
    st.caption(f":material/{'check_circle' if holds else 'error'}: {says}")

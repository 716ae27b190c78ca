"""The three views of the viewer on one page, with patterns whose every weight the tests can compute."""

import numpy as np
import streamlit as st

from tests.browser.viewer.patterns import captions, case
from ui.viewer import EveryHead, LinesState, Profile, big_head, lines, overview, pack_kinds

st.set_page_config(layout="wide")
view = case(st.query_params.get("case", "cross"))
state = st.session_state
state.setdefault("head", [1, 2])
state.setdefault("lines", LinesState((2, 1), 0.9))


def pick(layer: int, head: int) -> None:
    state.head = [layer, head]
    state.lines = LinesState((head,), 0.9)


def change(shown: LinesState) -> None:
    state.lines = shown


layers, heads, queries, keys = view.patterns.shape
layer, head = min(state.head[0], layers - 1), min(state.head[1], heads - 1)
scale = st.query_params.get("scale", "fixed")
left, middle, right = st.columns([312, 484, 236], gap="medium")
with left:
    st.markdown("**Every head**")
    measures = np.stack([view.patterns.max(-1).mean(-1), view.patterns[..., 0].mean(-1)])
    profile = Profile(
        ["strongest", "on the first"], ["", ""], ["the largest weight", "the first key"], measures, [1, 1]
    )
    every = EveryHead(view.patterns, captions(view), view.masked, profile, columns=view.columns)
    kinds = pack_kinds({"cross": every}, scale)
    picked = overview(kinds, key="overview", kind="cross", selected=(layer, head), on_pick=pick)
pattern = view.patterns[layer, head]
with middle:
    st.markdown(f"**Layer {layer + 1}, head {head + 1}**")
    masked = view.masked if view.masked.any() else None
    place = {"kind": "cross", "place": (layer, head)}
    big_head(pattern, view.rows, view.columns, masked, key="big", rows_read=view.rows_read, scale=scale, shows=place)
with right:
    if not st.checkbox("Show lines", value=True):
        st.stop()
    shown = lines(
        view.patterns[layer],
        view.rows,
        view.columns,
        LinesState(tuple(h for h in state.lines.heads if h < heads) or (0,), state.lines.mass),
        key="lines_view",
        rows_read=view.rows_read,
        on_change=change,
    )
st.text(f"picked {picked}")
st.text(f"selected ({layer}, {head})")
st.text(f"heads {sorted(shown.heads)} mass {shown.mass:.2f}")

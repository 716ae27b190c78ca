"""A shift by k positions as the turn of a clock's hand; the sliders act in the browser."""

from __future__ import annotations

import numpy as np
import streamlit as st

from headlight.analysis.positions import frequencies, rotation_residual
from headlight.formatting import two_digits
from headlight.viewer.scripts import style, viewer_script
from ui.positions.view import MAX_SHIFT, PositionsView
from ui.state.cache import cached
from ui.state.view import update, write_address

CHECKED_POSITIONS = 10_000  # positions over which the largest residual is looked for

_MOUNT = """
export default ({ data, parentElement, setStateValue }) =>
  mounted(Circle, parentElement.querySelector(".hl"), data, setStateValue).unmount;
"""
_CIRCLE = st.components.v2.component(
    "headlight_circle",
    html='<div class="hl"></div>',
    css=style("viewer") + style("circle"),
    js=viewer_script("shared", "icons", "circle") + _MOUNT,
)


_DERIVED = (
    r"\begin{aligned}&\begin{pmatrix}u_1&v_1\\u_2&v_2\end{pmatrix}"
    r"\begin{pmatrix}\sin p\omega\\\cos p\omega\end{pmatrix}\\[4pt]&="
    r"\begin{pmatrix}\sin(p\omega+k\omega)\\\cos(p\omega+k\omega)\end{pmatrix}\end{aligned}",
    r"\begin{aligned}&u_1\sin p\omega+v_1\cos p\omega\\&=\cos k\omega\,\sin p\omega+\sin k\omega\,\cos p\omega\\[4pt]"
    r"&u_2\sin p\omega+v_2\cos p\omega\\&=-\sin k\omega\,\sin p\omega+\cos k\omega\,\cos p\omega\end{aligned}",
    r"\begin{aligned}u_1&=\cos k\omega&v_1&=\sin k\omega\\u_2&=-\sin k\omega&v_2&=\cos k\omega\end{aligned}",
    r"M_k=\begin{pmatrix}\cos k\omega&\sin k\omega\\-\sin k\omega&\cos k\omega\end{pmatrix}",
)


@st.fragment
def draw_circle(omega: np.ndarray, positions: int, base: float) -> None:
    """Draw the hand of one pair of dimensions with its frequency from `omega` [pairs], and the proof in numbers."""
    view: PositionsView = st.session_state["view"]
    st.subheader("A shift by k positions is one rotation, from every position", anchor=False)
    st.caption(
        "Each pair of dimensions of the sinusoidal encoding is the hand of a clock. A shift by k turns it by the same "
        "angle, "
        rf"$k\omega_i$ with $\omega_i = {base:.10g}^{{-2i/{2 * len(omega)}}}$, from every position: one matrix does it "
        "everywhere, and a head can learn it."
    )
    st.latex(
        r"\begin{aligned}&\begin{pmatrix}\sin (p+k)\omega_i\\ \cos (p+k)\omega_i\end{pmatrix}\\[4pt]&="
        r"\underbrace{\begin{pmatrix}\cos k\omega_i & \sin k\omega_i\\ -\sin k\omega_i & \cos k\omega_i\end{pmatrix}}"
        r"_{M_k\ \text{has no}\ p}"
        r"\begin{pmatrix}\sin p\,\omega_i\\ \cos p\,\omega_i\end{pmatrix}\end{aligned}"
    )
    with st.expander("Where the matrix comes from, in four steps"):
        st.caption("Four unknown numbers are to do it at every p. For short, ω is the frequency of the pair.")
        for line in _DERIVED:
            st.latex(line)
        st.caption(
            "The second step is the addition theorem of sine and cosine. The third compares what stands beside sin pω "
            "and cos pω: as the equation has to hold at every p, these must agree."
        )
    last = len(omega) - 1
    state = {
        "at": min(view.at, positions - 1),
        "shift": view.shift,
        "pair": min(default_pair(len(omega)) if view.pair is None else view.pair, last),
    }
    _CIRCLE(
        data={
            "frequencies": omega.tolist(),
            "positions": positions,
            "steps": MAX_SHIFT,
            "checked": CHECKED_POSITIONS,
            "shown": state,
        },
        key="circle",
        on_shown_change=_take_shown,
    )
    rough = _single(state["shift"], 2 * len(omega), base)
    st.caption(
        f"Calculated in double precision. In single precision, which keeps about three decimals of an angle of "
        f"10,000 radians, the largest residual would be {two_digits(rough)}."
    )
    write_address()


def default_pair(pairs: int) -> int:
    """Return a pair whose hand turns neither too fast nor too slowly to see."""
    return pairs * 3 // 32


def _take_shown() -> None:
    fields = read_shown(st.session_state["circle"].get("shown"))
    if fields is not None:
        update(**fields)


def read_shown(value: object) -> dict[str, int] | None:
    """Return what the browser sent, or None where it is not valid."""
    match value:
        case {"at": int(at), "shift": int(shift), "pair": int(pair)} if min(at, shift, pair) >= 0:
            return {"at": at, "shift": min(shift, MAX_SHIFT), "pair": pair}
    return None


@cached(200, seconds=3600, turn=False)
def _single(k: int, d_model: int, base: float) -> float:
    return rotation_residual(k, frequencies(d_model, base), CHECKED_POSITIONS, np.float32)

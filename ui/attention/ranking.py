"""The cost of removing each head, one at a time, from the state that is shown."""

from __future__ import annotations

import math

import streamlit as st

from headlight.analysis import HeadEffect, head_importance, kind_of
from headlight.charts.colours import LESS, MORE
from headlight.formatting import signed
from transformer.taps import Intervention
from ui.attention.picture import ShownTrace
from ui.attention.view import describe_changes
from ui.state import models
from ui.state.cache import cached
from ui.state.view import widget_key
from ui.widgets.table import Cell, bar, table_html
from ui.widgets.terms import term

MAX_BARS = 8
FULL = 1.0  # nats of a full bar where no head costs more: a bar says how much it is, not only which is the longest


def ranking(shown: ShownTrace) -> None:
    """Draw the cost of each head, on request; from then on it follows the heads that are changed."""
    question = shown.name, models.version(shown.name), tuple(shown.plain.source.ids), tuple(shown.plain.target.ids)
    if st.button("How important is each head?", icon=":material/sort:", key=widget_key("rank"),
                 help="Switches off every head of the model, one at a time, and ranks them by how much less likely "
                 "the original translation becomes. Heads that you changed stay changed meanwhile."):  # fmt: skip
        st.session_state["ranked"] = question
    if st.session_state.get("ranked") != question:
        return
    effects = _effects(*question, tuple(change.tap() for change in shown.changes))
    if not effects:
        st.caption("Every head is off: there is none to switch off.")
        return
    st.markdown(f"**The effect of switching one more head off** :gray[{baseline(shown)}]")
    _bars(effects[:MAX_BARS])
    with st.expander(f"All {len(effects)} heads as a table"):
        st.dataframe(
            {
                "Head": [name(effect) for effect in effects],
                "Change in log-probability": [effect.delta for effect in effects],
            },
            hide_index=True,
            column_config={
                "Change in log-probability": st.column_config.NumberColumn(
                    "Change in log-probability (nats)", format=f"%+.{places([effect.delta for effect in effects])}f"
                )
            },
        )


def baseline(shown: ShownTrace) -> str:
    """Describe which heads are off in addition to each head that is tried."""
    return f"with {describe_changes(shown.changes)}" if shown.changes else "with all other heads on"


@cached(40, "Switching off one head at a time")
def _effects(
    model: str,
    version: tuple[int, ...],
    source: tuple[int, ...],
    target: tuple[int, ...],
    interventions: tuple[Intervention, ...],
) -> list[HeadEffect]:
    opened = models.translator(model)
    taps = (*models.own_taps(opened), *interventions)
    return head_importance(opened.model, source, target, taps)


def name(effect: HeadEffect) -> str:
    return f"{kind_of(effect.site).capitalize()} layer {effect.site.layer + 1}, head {effect.head + 1}"


def places(values: list[float]) -> int:
    """Return the decimals at which values that differ read differently, as far as they are more than rounding."""
    ordered = sorted(values)
    apart = [b - a for a, b in zip(ordered, ordered[1:], strict=False) if b - a > 1e-5]
    return min(5, max(2, -math.floor(math.log10(min(apart))))) if apart else 2


def full_bar(effects: list[HeadEffect]) -> float:
    """Return the nats that a full bar stands for."""
    return max(FULL, *(abs(effect.delta) for effect in effects))


def _bars(effects: list[HeadEffect]) -> None:
    full = full_bar(effects)
    rows = [
        (
            name(effect),
            Cell(bar(abs(effect.delta) / full, MORE if effect.delta < 0 else LESS), "wide"),
            f"{signed(effect.delta, plus=True)} nats",
        )
        for effect in effects
    ]
    st.html(table_html("bars ranking", rows, numbers=(2,)))
    st.caption(
        f"A full bar is {signed(full)} nats of {term('log-probability')}. Orange: the original becomes less likely "
        "without the head. Blue (+): more likely."
    )

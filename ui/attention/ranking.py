"""The cost of removing each head, one at a time, from the state that is shown."""

from __future__ import annotations

import math

import streamlit as st

from headlight.analysis import HeadEffect, head_importance, kind_of
from headlight.analysis.head_changes import describe_changes
from headlight.charts.colours import LESS_COLOUR, MORE_COLOUR
from headlight.formatting import signed
from headlight.glossary import explained
from headlight.language import gettext, ngettext, translatable
from transformer.taps import Intervention
from ui.attention.picture import ShownTrace
from ui.attention.view import head_of_kind
from ui.state import models
from ui.state.cache import cached
from ui.state.view import widget_key
from ui.widgets.table import Cell, bar, table_html

MAX_BARS = 8
FULL_BAR_NATS = 1.0  # where no head costs more: a bar's length is an amount, not only a rank


def ranking(traces: ShownTrace) -> None:
    """Draw the cost of each head, on request; from then on it follows the heads that are changed."""
    question = traces.name, tuple(traces.plain.source.ids), tuple(traces.plain.target.ids)
    if st.button(
        gettext("How important is each head?"),
        icon=":material/sort:",
        key=widget_key("rank"),
        help=gettext(
            "Switches off every head of the model, one at a time, and ranks them by how much less likely the original "
            "translation becomes. Heads that you changed stay changed meanwhile."
        ),
    ):
        st.session_state["ranked"] = question
    if st.session_state.get("ranked") != question:
        return
    effects = _effects(*question, traces.taps)
    if not effects:
        st.caption(gettext("Every head is off: there is none to switch off."))
        return
    st.markdown(f"**{gettext('The effect of switching one more head off')}** :gray[{baseline(traces)}]")
    _bars(effects[:MAX_BARS])
    change = gettext("Change in log-probability")
    with st.expander(ngettext("{count} head as a table", "All {count} heads as a table", len(effects))):
        st.dataframe(
            {
                gettext("Head"): [head_name(effect) for effect in effects],
                change: [effect.delta for effect in effects],
            },
            hide_index=True,
            column_config={
                change: st.column_config.NumberColumn(
                    gettext("Change in log-probability (nats)"),
                    format=f"%+.{decimals([effect.delta for effect in effects])}f",
                )
            },
        )


def baseline(traces: ShownTrace) -> str:
    """Describe which heads are off in addition to each head that is tried."""
    if not traces.changes:
        return gettext("with all other heads on")
    return gettext("with {changes}", changes=describe_changes(traces.changes))


@cached(40, translatable("Switching off one head at a time"), key=models.versioned)
def _effects(
    name: str, source: tuple[int, ...], target: tuple[int, ...], interventions: tuple[Intervention, ...]
) -> list[HeadEffect]:
    model = models.translator(name)
    return head_importance(model.model, source, target, (*models.own_taps(model), *interventions))


def head_name(effect: HeadEffect) -> str:
    return head_of_kind(kind_of(effect.site), effect.site.layer + 1, effect.head + 1)


def decimals(values: list[float]) -> int:
    """Return the decimals at which values that differ read differently, as far as they are more than rounding."""
    ordered = sorted(values)
    apart = [b - a for a, b in zip(ordered, ordered[1:], strict=False) if b - a > 1e-5]
    return min(5, max(2, -math.floor(math.log10(min(apart))))) if apart else 2


def full_bar(effects: list[HeadEffect]) -> float:
    """Return the effect in nats at which a bar is as long as its column."""
    return max(FULL_BAR_NATS, *(abs(effect.delta) for effect in effects))


def _bars(effects: list[HeadEffect]) -> None:
    full = full_bar(effects)
    rows = [
        (
            head_name(effect),
            Cell(bar(abs(effect.delta) / full, MORE_COLOUR if effect.delta < 0 else LESS_COLOUR), "wide"),
            gettext("{number} nats", number=signed(effect.delta, plus=True)),
        )
        for effect in effects
    ]
    st.html(table_html("bars ranking", rows, numbers=(2,)))
    text = gettext(
        "A full bar is {number} nats of log-probability. Orange: the original becomes less likely without the head. "
        "Blue (+): more likely.",
        number=signed(full),
    )
    st.caption(explained(text, "log-probability"))

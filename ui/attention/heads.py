"""Every head, the chosen one large, and its lines: the middle of the Attention page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import Trace
from transformer.analysis import MEASURES, Measures
from transformer.analysis.layout import Layout
from transformer.trace import KINDS
from ui.attention.downloads import export
from ui.attention.faithful import faithful
from ui.attention.picture import SHOW_HELP, SHOWS, Panel, Shown, captions, panel
from ui.attention.view import AttentionView
from ui.state.view import take, update, widget_key, write_address
from ui.viewer import EveryHead, Held, Kinds, LinesState, Profile, Shows, big_head, lines, overview, pack_kinds
from ui.viewer.export import CAUTION

FAINT = 0.2  # of the scale: rows that reach no higher look empty
SCALES = {"fixed": "Scale 0 to 1", "row": "Scale by row", "sqrt": "Square root"}


def _controls(shown: Shown, view: AttentionView) -> None:
    """The switches of the picture: which attention, what of it, and how it is coloured and labelled."""
    key = widget_key("kind")
    st.segmented_control(
        "Attention",
        KINDS,
        default=view.kind,
        required=True,
        format_func=str.capitalize,
        key=key,
        on_change=_take_others,
        args=("kind", key),
        label_visibility="collapsed",
        help="Encoder: self-attention of the source. Decoder: self-attention of the translation to itself, up to the "
        "token that is read. Cross: cross-attention of the translation to the source.",
    )
    st.space("stretch")
    shows = [name for name in SHOWS if name != "difference" or shown.forced is not None]
    key = widget_key("show")
    st.selectbox(
        "Show",
        shows,
        index=shows.index(view.show) if view.show in shows else 0,
        format_func=SHOWS.__getitem__,
        key=key,
        on_change=take,
        args=("show", key),
        width=165,
        label_visibility="collapsed",
    )
    key = widget_key("scale")
    st.selectbox(
        "Scale",
        list(SCALES),
        index=list(SCALES).index(view.scale),
        format_func=SCALES.__getitem__,
        key=key,
        on_change=take,
        args=("scale", key),
        width=185,
        label_visibility="collapsed",
    )
    for field, label in (("words", "Whole words"), ("hide", "Hide special")):
        key = widget_key(field)
        st.checkbox(label, getattr(view, field), key=key, on_change=_take_others, args=(field, key))


def _take_others(field: str, key: str) -> None:
    """A callback of what puts others in the place of the tokens: those that were held are not held any more."""
    update(**{field: st.session_state[key]}, row=None, column=None)


@st.fragment
def heads(shown: Shown, actions: DeltaGenerator, numbers: DeltaGenerator) -> None:
    """The overview, the chosen head and its lines, and what is looked at in them.

    The downloads go to `actions` and the table to `numbers`. A fragment, so that choosing a head redraws these
    parts and nothing else.
    """
    view: AttentionView = st.session_state["view"]
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small")
    place, found = shown.measured(view.kind, view.words, view.hide)
    large = panel(shown, view, place)
    left, middle, right = st.container(key="three-views").columns([28, 46, 26], gap="medium")
    with middle:  # first, so that it is painted first
        _head(large, view)
        faithful(shown)
    with left:
        _overview(shown, view, large)
    with right:
        _lines(shown, view, place, large)
    with bar:
        _controls(shown, view)
    with numbers:
        _table(view, large, found)
    with actions:
        export(shown, view, large)
    write_address()


def _overview(shown: Shown, view: AttentionView, large: Panel) -> None:
    number = len(shown.changes)
    changed = f" [{number} head{'s' if number > 1 else ''} changed](#switch-heads-off)" if number else ""
    st.markdown(f"**Every head**{changed}")
    overview(
        every_head(shown, view.words, view.hide, view.scale),
        key="overview",
        kind=view.kind,
        selected=(large.layer, large.head),
        switch=f".st-key-{widget_key('kind')} [role=radio]",
        on_pick=lambda layer, head: update(layer=layer + 1, head=head + 1, lines=()),
    )


def every_head(shown: Shown, words: bool, hide: bool, scale: str) -> Kinds:
    """The patterns of all kinds for the overview, made once for what is shown."""
    how = words, hide, scale
    if how not in shown.packed:
        kinds = {kind: _every_head(shown.trace, *shown.measured(kind, words, hide)) for kind in KINDS}
        shown.packed[how] = pack_kinds(kinds, scale)  # type: ignore[arg-type]
    return shown.packed[how]


def _every_head(trace: Trace, place: Layout, found: Measures) -> EveryHead:
    patterns = place.apply(trace.pattern(place.kind))
    profile = Profile(
        [measure.label.lower() for measure in MEASURES],
        np.stack([np.nan_to_num(getattr(found, measure.name)) for measure in MEASURES]),
        [max(found.largest[measure.name], 1e-9) for measure in MEASURES],
    )
    return EveryHead(patterns, captions(patterns, place), place.masked, profile)


def _head(large: Panel, view: AttentionView) -> None:
    place, what = large.place, "" if large.show == "raw" else SHOWS[large.show].lower()
    big_head(
        large.cells,
        place.rows,
        place.columns,
        place.masked,
        key="head",
        rows_read=place.reads,
        scale=view.scale,  # type: ignore[arg-type]
        peak=large.limit,
        signed=large.signed,
        name=large.name,
        title=(large.title, what),
        shows=_foreseen(large, view),
        held=_held(view),
        on_held=_hold,
    )
    if SHOW_HELP[large.show]:
        st.caption(SHOW_HELP[large.show])
    strongest = float(np.median(large.cells.max(axis=1)))
    if view.scale == "fixed" and not large.signed and 0 < strongest < FAINT * large.limit:
        st.caption(
            f"Half of the rows have no {large.name} above {strongest:.2g}, so the colours are faint: scale by row or "
            "take the square root to see more."
        )
    if place.hidden.any():
        st.caption(f"Special tokens are hidden, and with them {large.hidden:.0%} of this picture's weight.")
    twin = st.expander("As a table", key="twin", on_change="rerun")
    if twin.open:
        with twin:
            _twin(large)
    st.caption(f":material/info: {CAUTION} To see what a head is for, [switch it off](#switch-heads-off).")


def _foreseen(large: Panel, view: AttentionView) -> Shows | None:
    """What the overview's thumbnails are a picture of too: weights as they are, on the same scale."""
    if large.show != "raw" or large.limit > 1:
        return None
    return {"kind": view.kind, "place": (large.layer, large.head)}


def _held(view: AttentionView) -> Held:
    """The row and the column, from 0, that the view holds."""
    row, column = (None if at is None else at - 1 for at in (view.row, view.column))
    return None if row is column is None else (row, column)


def _hold(held: Held) -> None:
    row, column = (None if at is None else at + 1 for at in held or (None, None))
    update(row=row, column=column)


def _twin(large: Panel) -> None:
    """The picture's numbers; a masked cell is empty."""
    place = large.place
    table: dict[str, list[Any]] = {"query": list(place.rows)}
    for k, label in enumerate(place.columns):
        gone = place.masked[:, k].tolist()
        table[label] = [None if off else cell for cell, off in zip(large.cells[:, k].tolist(), gone, strict=True)]
    numbers = {label: st.column_config.NumberColumn(format="%.3f") for label in place.columns}
    st.dataframe(table, hide_index=True, column_config=numbers, key="twin-table")


def _lines(shown: Shown, view: AttentionView, place: Layout, large: Panel) -> None:
    patterns = place.apply(shown.trace.pattern(view.kind)[large.layer])
    drawn = [line - 1 for line in view.lines if line <= len(patterns)] or [large.head]

    def keep(state: LinesState) -> None:
        update(lines=tuple(line + 1 for line in state.heads), mass=round(100 * state.mass))

    lines(
        patterns,
        place.rows,
        place.columns,
        key="lines",
        rows_read=place.reads,
        heads=drawn,
        mass=view.mass / 100,
        peak=max(1.0, float(patterns.max())),
        held=_held(view),
        on_change=keep,
        on_held=_hold,
    )
    hold = sum(check.holds for check in shown.checks)
    icon = ":material/check_circle:" if hold == len(shown.checks) else ":material/error:"
    with st.popover(f"Checks: {hold} of {len(shown.checks)} hold", icon=icon, type="tertiary"):
        for check in shown.checks:
            mark = ":material/check:" if check.holds else ":material/close:"
            st.markdown(f"{mark} **{check.name}.** {check.detail}")


def _table(view: AttentionView, large: Panel, found: Measures) -> None:
    """Every head in numbers; a row opens it."""
    n_layers, n_heads = found.entropy.shape
    st.subheader("Heads in numbers", anchor="heads-in-numbers")
    st.caption("Sort by a column to find a head; select its row to open it above.")
    places = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    table: dict[str, list[object]] = {
        "Head": [
            f"Layer {layer + 1}, head {head + 1}" + (" ◂" if (layer, head) == (large.layer, large.head) else "")
            for layer, head in places
        ]
    }
    config: dict[str, Any] = {"Head": st.column_config.TextColumn(width=104)}
    for measure in MEASURES:
        label = measure.label
        table[label] = getattr(found, measure.name).ravel().tolist()
        config[label] = st.column_config.ProgressColumn(
            width=63,
            format="%.2f",
            min_value=0.0,
            max_value=max(found.largest[measure.name], 1e-9),
            help=f"{measure.meaning} Unit: {measure.unit}.",
        )
    key = widget_key(f"table-{view.kind}")

    def open_row() -> None:
        rows = st.session_state[key].selection.rows
        if rows:
            layer, head = places[rows[0]]
            update(layer=layer + 1, head=head + 1, lines=())

    st.dataframe(
        pa.table(table),  # as it travels: by way of pandas it would take three times as long
        key=key,
        hide_index=True,
        on_select=open_row,
        selection_mode="single-row",
        column_config=config,
        height=min(33 * (len(places) + 1) + 2, 540),
    )

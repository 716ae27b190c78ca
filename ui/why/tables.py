"""Tables of the Why page, and their downloads."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from ui.widgets.spreadsheet import csv_text

Row = dict[str, str | float | None]


def table(rows: Sequence[Row], name: str, bars: Sequence[str] = ()) -> None:
    """The rows, percentages in `bars` as bars too; below them what is shown as CSV and JSON."""
    columns = list(rows[0])
    config = {
        column: st.column_config.ProgressColumn(column, min_value=0, max_value=100, format="%.1f")
        if column in bars
        else st.column_config.NumberColumn(column, format="%.3f")
        for column in columns
        if not isinstance(rows[0][column], str)
    }
    st.dataframe(
        {column: [row[column] for row in rows] for column in columns}, hide_index=True, column_config=config, key=name
    )
    with st.container(horizontal=True):
        csv = csv_text([columns, *([row[column] for column in columns] for row in rows)])
        text = json.dumps(rows, ensure_ascii=False, indent=1)
        for label, data, end in (("CSV", csv, "csv"), ("JSON", text, "json")):
            st.download_button(label, data, f"{name}.{end}", on_click="ignore", type="tertiary", key=f"{name}-{end}")

"""Tables of the Why page: for each picture the same numbers, for those who read them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

Row = dict[str, str | float | None]


def table(rows: Sequence[Row], name: str) -> None:
    columns = list(rows[0])
    config = {
        column: st.column_config.NumberColumn(column, format="%.3f")
        for column in columns
        if not isinstance(rows[0][column], str)
    }
    values = {column: [row[column] for row in rows] for column in columns}
    st.dataframe(values, hide_index=True, column_config=config, key=name)

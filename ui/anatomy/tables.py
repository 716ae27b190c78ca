"""Vectors as tables, for those who read numbers rather than colours."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st


def vectors_table(vectors: dict[str, np.ndarray], key: str) -> None:
    """Vectors side by side, a row a number; shorter ones end earlier."""
    longest = max(map(len, vectors.values()))
    columns: dict[str, list[Any]] = {"Number": list(range(1, longest + 1))}
    for name, values in vectors.items():
        columns[name] = values.tolist() + [None] * (longest - len(values))
    numbers = st.column_config.NumberColumn(format="%.4f")
    st.dataframe(columns, hide_index=True, column_config=dict.fromkeys(vectors, numbers), key=key)

"""Settings side by side, with what differs marked."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from headlight.charts.colours import theme_named
from headlight.graphemes import shortened


@dataclass(frozen=True)
class Row:
    """A setting, and its value in each run."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


def table_html(names: Sequence[str], listed: Sequence[Row]) -> str:
    theme = theme_named(st.context.theme.type or "light")
    cell = f"border:0;border-top:1px solid {theme.line};padding:6px 12px 6px 0;text-align:left;vertical-align:top"
    quiet = f"{cell};font-weight:400;color:{theme.muted}"
    heads = "".join(f'<th scope="col" style="{cell};border-top:0">{html.escape(name)}</th>' for name in names)
    body = []
    for row in listed:
        weight = "600" if row.differs else "400"
        mark = "≠" if row.differs else ""
        values = "".join(
            f'<td style="{cell};font-weight:{weight};overflow-wrap:anywhere">{html.escape(shortened(value, 300))}</td>'
            for value in row.values
        )
        tint = f"background:{theme.field}" if row.differs else ""
        body.append(
            f'<tr style="{tint}"><td style="{cell};color:{theme.accent};width:1.5rem;text-align:center">{mark}</td>'
            f'<th scope="row" style="{quiet}">{html.escape(row.name)}</th>{values}</tr>'
        )
    return (
        '<div class="configurations" style="overflow-x:auto">'
        '<table style="width:100%;border-collapse:collapse;border:0">'
        f'<thead><tr><th style="border:0"></th><th style="border:0"></th>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )

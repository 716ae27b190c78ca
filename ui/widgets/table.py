"""Tables and lists of facts as HTML, and below them the tables of numbers that a reader can sort.

How the HTML looks is in page.css, under the classes that it is given.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from headlight.graphemes import shortened


class Html(str):
    """Markup that a table takes as it is; any other text is escaped."""


@dataclass(frozen=True)
class Cell:
    """A cell with more than text: CSS classes, a tooltip, and styles that data decide, such as a colour."""

    content: str
    classes: str = ""
    title: str = ""
    style: str = ""


def table_html(
    classes: str,
    rows: Iterable[Sequence[str | Cell]],
    heads: Sequence[str | Cell] = (),
    *,
    row_head: int = 0,
    numbers: Collection[int] = (),
    scrolls: str = "",
    direction: str = "",
) -> str:
    """Return a table with a column header for each of `heads`, and a row header in the column `row_head`.

    Columns in `numbers` are aligned at the right. `scrolls` names a table that scrolls sideways for screen readers and
    the keyboard. `direction` is "ltr" or "rtl", where the text of the columns decides it.
    """

    def row(cells: Sequence[str | Cell], scope: str) -> str:
        cells_html = ""
        for at, cell in enumerate(cells):
            cell = cell if isinstance(cell, Cell) else Cell(cell)
            head = cell.content and (scope == "col" or at == row_head)
            tag, scoped = ("th", f' scope="{scope}"') if head else ("td", "")
            text = cell.content if isinstance(cell.content, Html) else html.escape(cell.content)
            of_cell = {"class": f"{'number ' * (at in numbers)}{cell.classes}".strip(), "title": cell.title}
            cells_html += f"<{tag}{scoped}{_attributes(of_cell | {'style': cell.style})}>{text}</{tag}>"
        return f"<tr>{cells_html}</tr>"

    head = f"<thead>{row(heads, 'col')}</thead>" if heads else ""
    body = "".join(row(cells, "row") for cells in rows)
    region = {"tabindex": "0", "role": "region", "aria-label": scrolls} if scrolls else {}
    return (
        f"<div{_attributes({'class': f'data-table {classes}', **region})}><table{_attributes({'dir': direction})}>"
        f"{head}<tbody>{body}</tbody></table></div>"
    )


def facts_html(classes: str, facts: Iterable[tuple[str, str]], label: str = "") -> str:
    """Return a list of names with their values; `label` names it for screen readers."""
    listed = "".join(f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>" for name, value in facts)
    return f"<dl{_attributes({'class': f'facts {classes}'.strip(), 'aria-label': label})}>{listed}</dl>"


def bar(share: float, colour: str) -> Html:
    """Return a horizontal bar that fills `share` of its cell."""
    return Html(f'<span class="bar" aria-hidden="true" style="width:{100 * share:.2f}%;background:{colour}"></span>')


def _attributes(values: dict[str, str]) -> str:
    return "".join(f' {name}="{html.escape(value)}"' for name, value in values.items() if value)


@dataclass(frozen=True)
class Setting:
    """A setting, and its value in each of several runs or models."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


def settings_html(names: Sequence[str], settings: Iterable[Setting]) -> str:
    """Return a table of settings with a column for each of `names`, in which those that differ are marked."""
    rows = []
    for setting in settings:
        texts = ["≠" * setting.differs, setting.name, *(shortened(value, 300) for value in setting.values)]
        rows.append([Cell(text, "differs" * setting.differs) for text in texts])
    return table_html("configurations lined", rows, ("", "", *names), row_head=1)


# ---- sorted by the reader ------------------------------------------------------------------------------------------


def number_table(columns: Mapping[str, Any], digits: int, key: str) -> None:
    """Draw a table: its first column names the rows, the others are numbers with so many decimals."""
    numbers = st.column_config.NumberColumn(format=f"%.{digits}f")
    st.dataframe(dict(columns), hide_index=True, column_config=dict.fromkeys([*columns][1:], numbers), key=key)


def pattern_table(
    corner: str, rows: Sequence[str], columns: Sequence[str], cells: np.ndarray, masked: np.ndarray, key: str
) -> None:
    """Draw the numbers of a pattern [Q, K], with `corner` above its row labels; a masked cell is empty."""
    table: dict[str, Sequence[Any]] = {corner: list(rows)}
    for label, values, hidden in zip(columns, cells.T.tolist(), masked.T.tolist(), strict=True):
        table[label] = [None if off else value for value, off in zip(values, hidden, strict=True)]
    number_table(table, 3, key)


def clickable_table(data: object, key: str, open_row: Callable[[int], object], **look: Any) -> None:
    """Draw a table in which a click on a row calls `open_row` with its index; `look` are arguments of the widget."""

    def selected() -> None:
        rows = st.session_state[key].selection.rows
        if rows:
            open_row(rows[0])

    st.dataframe(data, key=key, hide_index=True, on_select=selected, selection_mode="single-row", **look)

"""Downloads: a picture as PNG, PDF and SVG, its numbers as CSV, and all numbers of the page as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.charts.document import Drawing, document
from headlight.formatting import csv_text
from ui.why.components import Row, finite
from ui.why.passes import WrittenToken
from ui.widgets.figures import download, figure_buttons, file_stem, sentence_facts

COLUMN_PIXELS = 440  # of a column of the page


@dataclass(frozen=True)
class Picture:
    """A picture of the page with its numbers; `draw` makes it in a theme, for a width in pixels."""

    title: str
    draw: Callable[[str, int], Drawing]
    rows: Sequence[Row]
    across: int = COLUMN_PIXELS


def export(
    actions: DeltaGenerator, token: WrittenToken, about: Mapping[str, str], pictures: Sequence[Picture]
) -> None:
    """Draw the menu with every download; a file is made when its button is pressed. `about` says what was chosen."""
    menu = actions.popover("Export", icon=":material/download:", key="export", on_change="rerun")
    if not menu.open:
        return
    trace = token.trace
    facts = {**sentence_facts(token.name, token.model, trace.text, trace.translation), **about}
    with menu:
        at = st.selectbox("Figure", range(len(pictures)), format_func=lambda i: pictures[i].title, key="figure")
        picture = pictures[at]
        stem = file_stem(token.name, picture.title, trace.text)
        figure_buttons(
            lambda theme: document(picture.draw(theme, picture.across), picture.title, facts, theme),
            picture.title,
            facts,
            stem,
        )
        download("CSV, its numbers", lambda: picture_csv(picture, facts), f"{stem}.csv", "text/csv")
        st.caption("The whole page")
        file = f"{file_stem(token.name, 'why', trace.text)}.json"
        download("JSON, every number", lambda: page_json(facts, pictures), file, "application/json")


def picture_csv(picture: Picture, facts: Mapping[str, str]) -> str:
    """Return the facts, one per row, then an empty row and the table."""
    columns = list(picture.rows[0])
    rows = ([_known(row[column]) for column in columns] for row in picture.rows)
    return csv_text([*map(list, ({"Figure": picture.title} | dict(facts)).items()), [], columns, *rows])


def page_json(facts: Mapping[str, str], pictures: Sequence[Picture]) -> str:
    content = {
        "about": dict(facts),
        **{
            picture.title: [{column: _known(value) for column, value in row.items()} for row in picture.rows]
            for picture in pictures
        },
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


def _known(value: str | float | None) -> str | float | None:
    return finite(value) if isinstance(value, float) else value

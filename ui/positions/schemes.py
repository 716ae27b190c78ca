"""Why not something simpler? Each scheme as a picture, with its measured properties."""

from __future__ import annotations

import base64
import html
import math
from dataclasses import dataclass

import numpy as np
import streamlit as st

from headlight.analysis.positions import SINGLE_WAVE_SCHEMES, Properties, encoding, find_equal_positions
from headlight.charts.colours import Theme, theme_named, thumbnail
from headlight.formatting import minus, percent_sign, plural, two_digits
from ui.positions.codes import MAX_MEASURED_DIMENSIONS, MEASURED_POSITIONS, Code, measured
from ui.positions.view import SCHEMES
from ui.widgets.table import Cell, Html, table_html

PICTURE_POSITIONS = 16  # and dimensions of the thumbnails
_ORDER = ("none", "integer", "normalised", "binary", "sine", "cosine", "sinusoidal", "learned")
assert {*_ORDER} == {*SCHEMES, *SINGLE_WAVE_SCHEMES}
_NAMES = {"sine": "Sine only", "cosine": "Cosine only"}
_MARKS = {"yes": "has it", "partly": "in part", "no": "lacks it"}


@dataclass(frozen=True)
class SchemeVerdict:
    """A property of a scheme: a number in its words, and how far the scheme has the property."""

    mark: str  # a key of _MARKS
    text: str


def unique(properties: Properties) -> SchemeVerdict:
    """Judge the closest two positions; a tenth apart is enough to tell."""
    if math.isnan(properties.closest):
        return SchemeVerdict("partly", "one position only")
    mark = "no" if properties.closest == 0 else "yes" if properties.closest >= 0.1 else "partly"
    return SchemeVerdict(mark, f"{two_digits(properties.closest)} apart")


def bounded(properties: Properties) -> SchemeVerdict:
    """Judge the largest number, and whether a longer text has larger ones."""
    if properties.reach is not None and properties.reach > properties.largest * 1.001:
        return SchemeVerdict("no", f"{two_digits(properties.largest)}, and growing")
    return SchemeVerdict("yes" if properties.largest <= 1 else "partly", f"at most {two_digits(properties.largest)}")


def neighbours_near(properties: Properties) -> SchemeVerdict:
    """Judge the largest step between neighbours, compared with the mean distance."""
    if math.isnan(properties.step):
        return SchemeVerdict("no", "no distances")
    mark = "yes" if properties.step < 1 else "no"
    return SchemeVerdict(mark, f"{percent_sign(two_digits(100 * properties.step))} of the mean")


def linear(properties: Properties) -> SchemeVerdict:
    """Judge the error of the best linear map."""
    if math.isnan(properties.misfit):
        return SchemeVerdict("partly", "too few positions to tell")
    if properties.largest == 0:
        return SchemeVerdict("no", "0, but nothing moves")
    return SchemeVerdict("yes" if properties.misfit < 1e-6 else "no", f"error of {two_digits(properties.misfit)} steps")


def beyond(properties: Properties) -> SchemeVerdict:
    """Judge the encoding in a text twice as long as any before."""
    if properties.reach is None:
        return SchemeVerdict("no", f"no row after {properties.positions:,}")
    if properties.largest == 0:
        return SchemeVerdict("partly", "still 0")
    if properties.added:
        return SchemeVerdict("no", plural(properties.added, "more bit needed", "more bits needed"))
    if properties.moved > 1e-9:
        return SchemeVerdict("no", f"old ones change by {two_digits(properties.moved)}")
    if properties.reach > properties.largest * 1.001:
        return SchemeVerdict("no", f"{two_digits(properties.reach)}, never seen")
    return SchemeVerdict("yes", f"defined, at most {two_digits(properties.reach)}")


def deterministic(properties: Properties) -> SchemeVerdict:
    """Judge how much the encoding of a position differs when it is made a second time."""
    if properties.again is None:
        return SchemeVerdict("partly", "learned once: not known")
    if properties.again:
        return SchemeVerdict("no", f"another: {percent_sign(two_digits(100 * properties.again))} apart")
    if properties.moved > 1e-9:
        return SchemeVerdict("partly", "the same for one length")
    return SchemeVerdict("yes", "the same again")


def any_dimension(properties: Properties) -> SchemeVerdict:
    """Judge how many numbers an encoding can have."""
    if properties.widths == "fixed":
        return SchemeVerdict("no", "the scheme decides")
    return SchemeVerdict("yes", "any even number" if properties.widths == "even" else "any number")


_ROWS = (
    ("Unique", "the closest two positions", unique),
    ("Bounded", "the largest number", bounded),
    ("Neighbours near", "the largest step, relative to the mean distance of two positions", neighbours_near),
    ("A shift is linear", "the best linear map, at positions it was not fitted on", linear),
    ("Beyond training", "in a text twice as long", beyond),
    ("Deterministic", "made a second time; a learned one, by another training", deterministic),
    ("Any dimension", "widths from 2 to 9 tried; a table is made as wide as wanted", any_dimension),
)


def draw_schemes(code: Code, width: int) -> None:
    """Draw the table of schemes and properties."""
    st.subheader("Why not something simpler?", anchor=False)
    st.caption(
        f"In the pictures, rows are {PICTURE_POSITIONS} positions and columns are dimensions. Each number is measured "
        f"over {MEASURED_POSITIONS:,} positions (a learned table: over those that it has), at up to "
        f"{MAX_MEASURED_DIMENSIONS} dimensions."
    )
    properties = {scheme: measured(scheme, width, code.base, code.learned) for scheme in _ORDER}
    st.html(schemes_html(code, properties, theme_named(st.context.theme.type or "light")))
    st.caption(
        "Defined does not mean understood: beyond the lengths of training, the slow waves of the sinusoidal encoding "
        "take values that the network has never seen. A learned table made again is, in a model, the decoder's: it is "
        "trained on the same positions from other random numbers."
    )
    _why_both(properties)


_WAVE_POSITIONS = 20  # the length of the example's wave


def _why_both(properties: dict[str, Properties]) -> None:
    """Draw why neither a sine nor a cosine is enough alone: two positions with one number that go on differently."""
    st.markdown("**Why a cosine too, and not the sine alone?**")
    for scheme, other in (("sine", "cosine"), ("cosine", "sine")):
        st.markdown(describe_alone(scheme, other, properties[scheme]))
    sinusoidal = properties["sinusoidal"]
    st.markdown(
        "With both, the pair of numbers says where the hand points, and so where it points next: $M_k$ exists, and the "
        f"best linear map is off by {two_digits(sinusoidal.misfit)} steps."
    )


def describe_alone(scheme: str, other: str, properties: Properties) -> str:
    """Say what one function alone can't tell, in numbers: two positions alike, and the missing M_k."""
    twin_positions = find_equal_positions(scheme, 1, 2 * np.pi / _WAVE_POSITIONS, _WAVE_POSITIONS)
    assert twin_positions is not None
    p, q = twin_positions.positions
    now, later, between = (
        [minus(f"{value:z.2f}") for value in values]
        for values in (twin_positions.now, twin_positions.later, twin_positions.other)
    )
    return (
        f"- **{scheme.capitalize()} only.** A wave that is {_WAVE_POSITIONS} positions long has the same {scheme}, "
        f"{now[0]}, at positions {p} and {q}: these two are alike. One position later it is {later[0]} and {later[1]}. "
        f"No matrix makes two results out of one number, so there is no $M_k$. The {other}s, {between[0]} and "
        f"{between[1]}, tell the two apart. Over all frequencies together, the best linear map is off by "
        f"{two_digits(properties.misfit)} steps."
    )


def schemes_html(code: Code, properties: dict[str, Properties], theme: Theme) -> str:
    """Return a table with a scheme per column and a property per row.

    Marks differ in shape, and have text for screen readers.
    """
    names = {scheme: _NAMES.get(scheme, scheme.capitalize()) for scheme in _ORDER}
    if code.learned.model is None:
        names["learned"] = "Untrained"
    if code.learned.stored:
        names["learned"] = "Stored"
    current = "learned" if code.of_table else code.scheme
    heads: list[str | Cell] = ["", *(Cell(names[scheme], "chosen" * (scheme == current)) for scheme in _ORDER)]
    rows: list[list[str | Cell]] = [["", *(Html(_picture(code, scheme, theme)) for scheme in _ORDER)]]
    for name, explanation, judge in _ROWS:
        verdicts = [judge(properties[scheme]) for scheme in _ORDER]
        cells = (verdict_html(verdict, theme) for verdict in verdicts)
        rows.append([Html(f"{name}<small>{explanation}</small>"), *cells])
    return table_html("schemes lined", rows, heads)


def verdict_html(verdict: SchemeVerdict, theme: Theme) -> Cell:
    """Return a verdict as a cell: its mark and its text."""
    mark = Html(f"<div>{_icon(verdict.mark, theme)}<span>{html.escape(verdict.text)}</span></div>")
    return Cell(mark, "" if verdict.mark == "yes" else "muted")


def _picture(code: Code, scheme: str, theme: Theme) -> str:
    """Return the first positions of a scheme, on the diverging colour scale."""
    if scheme == "learned":
        table = code.learned.table[:PICTURE_POSITIONS, :PICTURE_POSITIONS]
    else:
        # The base that makes as many waves in 16 positions as 10,000 makes in a sentence.
        table = encoding(scheme, PICTURE_POSITIONS, PICTURE_POSITIONS, 100)
    limit = float(np.abs(table).max()) or 1.0
    span = f"from {two_digits(table.min())} to {two_digits(table.max())}"
    description = f"{table.shape[0]} positions of {table.shape[1]} numbers, {span}"
    return thumbnail_html(table, limit, description, theme)


def thumbnail_html(values: np.ndarray, limit: float, description: str, theme: Theme) -> str:
    """Return a small picture of a matrix on the diverging colour scale from -limit to limit."""
    image = base64.b64encode(thumbnail(values, theme.diverging, -limit, limit)).decode()
    kind = "column" if values.shape[1] == 1 else "matrix"
    return f'<img class="{kind}" src="data:image/png;base64,{image}" alt="{description}" title="{description}">'


_SHAPES = {
    "yes": "M7.5 12.4l3 3 6-6.4",
    "partly": "M8 12h8",
    "no": "M8.800 8.800l6.400 6.400M15.200 8.800l-6.400 6.400",
}


def _icon(mark: str, theme: Theme) -> str:
    colour = theme.accent if mark == "yes" else theme.muted
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke-width="1.8" '
        f'stroke-linecap="round" stroke-linejoin="round" stroke="{colour}"><circle cx="12" cy="12" r="9"/>'
        f'<path d="{_SHAPES[mark]}"/></svg>'
    )
    image = base64.b64encode(drawing.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{image}" alt="{_MARKS[mark]}:">'

"""A matrix of scores or weights as a table: numbers where there is room for them, colours otherwise."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from headlight.charts.colours import Theme, lookup
from headlight.charts.direction import isolated, sentence_dir
from headlight.formatting import minus

NUMBERED = 10  # columns that have room for their numbers
ROOMY = 6  # columns whose signed numbers have room for two decimals
MOST = 32  # rows and columns that are drawn
MINUS_INFINITY = "−∞"


def matrix_html(
    title: str,
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    theme: Theme,
    *,
    limit: float,
    signed: bool,
    hidden: np.ndarray | None = None,
    hidden_text: str = MINUS_INFINITY,
    chosen: int | None = None,
    digits: int = 2,
) -> str:
    """`values` [Q, K] in colours from 0 to `limit`, or from -`limit` where they are signed.

    `hidden` [Q, K] cells are hatched and say `hidden_text`; the row `chosen` is outlined. Labels are escaped.
    """
    numbered = len(columns) <= NUMBERED
    colours = lookup(theme.signed if signed else theme.sequential)
    low = -limit if signed else 0.0
    places = np.clip((values - low) / max(limit - low, 1e-9) * 255, 0, 255).round().astype(int)
    hatch = f"repeating-linear-gradient(135deg,transparent 0 3.5px,{theme.hatch} 3.5px 4.3px)"
    base = f"border:1px solid {theme.line};padding:0;height:24px;min-width:6px;text-align:center;font-size:12px"
    label = "border:0;padding:2px 0;padding-inline-end:6px;font-weight:400;font-size:13px;white-space:nowrap"
    stays = f"position:sticky;inset-inline-start:0;background:{theme.background}"  # where the table scrolls
    short = "max-width:76px;overflow:hidden;text-overflow:ellipsis"
    heads = "".join(
        f'<th scope="col" title="{html.escape(name)}" style="border:0;padding:6px 0 2px;font-weight:400;font-size:12px;'
        f"writing-mode:vertical-rl;transform:rotate(180deg);text-align:left;max-height:84px;overflow:hidden;"
        f'white-space:nowrap">{html.escape(name)}</th>'
        for name in columns
    )
    body = []
    for i, name in enumerate(rows):
        edge = f"border-top:2px solid {theme.accent};border-bottom:2px solid {theme.accent};" if i == chosen else ""
        cells = []
        for j, column in enumerate(columns):
            off = hidden is not None and bool(hidden[i, j])
            text = hidden_text if off else minus(f"{values[i, j]:.{digits}f}")
            colour = colours[places[i, j]]
            ground = hatch if off else f"rgb({','.join(map(str, colour))})"
            ink = theme.muted if off else ink_on(colour)
            exact = hidden_text if off else minus(f"{values[i, j]:.4f}")
            about = html.escape(f"{isolated(name)} looks at {isolated(column)}: {'hidden, ' * off}{exact}")
            shown = text if numbered else ""
            cells.append(f'<td title="{about}" style="{base};{edge}background:{ground};color:{ink}">{shown}</td>')
        strong = f"font-weight:650;color:{theme.accent};" if i == chosen else ""
        body.append(
            f'<tr><th scope="row" title="{html.escape(name)}" style="{label};{stays};{short};text-align:end;'
            f'{strong}">'
            f"<bdi>{html.escape(name)}</bdi></th>{''.join(cells)}</tr>"
        )
    return (
        f'<section style="flex:1 1 {260 if numbered else 60 + 18 * len(columns)}px;min-width:0;'
        f'max-width:{420 if numbered else 700}px">'
        f'<div style="font-weight:600;margin-bottom:4px">{html.escape(title)}</div>'
        f'<div class="matrix" tabindex="0" role="region" aria-label="{html.escape(title)}" style="overflow-x:auto">'
        f'<table dir="{sentence_dir(columns)}" style="border-collapse:collapse;border:0;width:100%;table-layout:auto;'
        'margin:0"><thead><tr>'
        f'<td style="border:0"></td>{heads}</tr></thead><tbody>{"".join(body)}</tbody></table></div></section>'
    )


def side_by_side(matrices: Sequence[str]) -> str:
    """Several of them beside each other, below each other where there is no room."""
    return f'<div class="matrices" style="display:flex;flex-wrap:wrap;gap:20px 24px">{"".join(matrices)}</div>'


def window(count: int, chosen: int | None) -> slice:
    """The at most `MOST` rows or columns that are drawn, the chosen one among them."""
    start = 0 if chosen is None else max(0, min(chosen - MOST // 2, count - MOST))
    return slice(start, min(start + MOST, count))


def ink_on(colour: np.ndarray) -> str:
    """Black or white, whichever has more contrast (WCAG 2.2's relative luminance)."""
    share = colour / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return "#000000" if luminance > 0.179 else "#ffffff"

"""Diagrams without data: the axes that two norms average over, and where a norm stands around a block."""

from __future__ import annotations

from collections.abc import Sequence

from headlight.charts.colours import Theme, theme_named
from headlight.charts.document import Drawing, text_element

_SMALL_FONT_SIZE = 13
# The batch as a cuboid: numbers across, tokens down, sentences into the depth.
_NUMBERS, _TOKENS, _SENTENCES = 8, 4, 3
_CELL_PIXELS = 22.0
_DEPTH_PIXELS = 11.0, 9.0  # right and up, from one sentence to the next


def norm_cubes(theme: str) -> tuple[Drawing, Drawing]:
    """Draw the numbers that layer norm and batch norm take a mean over, in a batch of sentences."""
    layer = {(number, 1, 0) for number in range(_NUMBERS)}
    batch = {(2, token, sentence) for token in range(_TOKENS) for sentence in range(_SENTENCES)}
    return (
        _cube(layer, "Layer norm: one token, all of its numbers", theme_named(theme)),
        _cube(batch, "Batch norm: one number, of all tokens", theme_named(theme)),
    )


def _cube(chosen: set[tuple[int, int, int]], title: str, look: Theme) -> Drawing:
    """Draw the three visible faces of the batch, with the cells of the `chosen` (number, token, sentence) filled."""
    left, top = 4.0, 50 + _DEPTH_PIXELS[1] * _SENTENCES

    def point(number: float, token: float, sentence: float) -> tuple[float, float]:
        right, up = _DEPTH_PIXELS
        return left + _CELL_PIXELS * number + right * sentence, top + _CELL_PIXELS * token - up * sentence

    def face(corners: Sequence[tuple[float, float]], filled: bool) -> str:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        return f'<polygon points="{points}" fill="{look.accent if filled else look.field}" stroke="{look.muted}"/>'

    norm, extent = title.split(": ")
    parts = [text_element((left, 16), norm, look.text, weight=600), text_element((left, 36), extent, look.text)]
    for n in range(_NUMBERS):
        for t in range(_TOKENS):
            corners = [point(n + i, t + j, 0) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
            parts.append(face(corners, (n, t, 0) in chosen))
        for s in range(_SENTENCES):
            corners = [point(n + i, 0, s + j) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
            parts.append(face(corners, (n, 0, s) in chosen))
    for t in range(_TOKENS):
        for s in range(_SENTENCES):
            corners = [point(_NUMBERS, t + i, s + j) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
            parts.append(face(corners, (_NUMBERS - 1, t, s) in chosen))
    right, bottom = point(_NUMBERS, _TOKENS, 0)
    parts += [
        text_element(
            ((left + right) / 2, bottom + 18), "numbers of a vector", look.muted, _SMALL_FONT_SIZE, anchor="middle"
        ),
        text_element((right + 40, top + _CELL_PIXELS * 2), "tokens", look.muted, _SMALL_FONT_SIZE),
        text_element((right + 20, bottom - 2), "sentences", look.muted, _SMALL_FONT_SIZE),
    ]
    says = f"{title}. A cuboid of {_NUMBERS} numbers by {_TOKENS} tokens by {_SENTENCES} sentences"
    along = "one row across" if len(chosen) == _NUMBERS else "one column down and into the depth"
    return Drawing(parts, (300, bottom + 26), f"{says}; {along} is filled.")


def norm_places(theme: str) -> tuple[Drawing, Drawing]:
    """Draw a block with its norm before it, and with its norm after the sum."""
    look = theme_named(theme)
    return (
        _residual(("norm", "block", "+"), "Pre-norm", "y = x + block(norm(x))", look),
        _residual(("block", "+", "norm"), "Post-norm, as in the paper", "y = norm(x + block(x))", look),
    )


def _residual(stations: tuple[str, ...], title: str, equation: str, look: Theme) -> Drawing:
    """Draw x through the stations to y, and the residual connection from x to the sum."""
    y, step = 84.0, 76.0
    start, end, centres = 26.0, 300.0, [88 + step * i for i in range(len(stations))]
    total = centres[stations.index("+")]
    line = f'stroke="{look.muted}" stroke-width="1.5" fill="none"'
    parts = [
        text_element((4, 16), title, look.text, weight=600),
        text_element((4, 36), equation, look.text),
        text_element((4, y + 5), "x", look.text),
        text_element((end + 8, y + 5), "y", look.text),
        f'<path d="M{start - 8} {y}H{end}" {line}/>',
        f'<path d="M{start} {y}V{y - 32}H{total}V{y - 12}" stroke="{look.accent}" stroke-width="2.5" fill="none"/>',
        f'<circle cx="{start}" cy="{y}" r="3" fill="{look.accent}"/>',
        f'<path d="M{end} {y}l-7 -4v8z" fill="{look.muted}"/>',
    ]
    for centre, name in zip(centres, stations, strict=True):
        if name == "+":
            parts.append(f'<circle cx="{centre}" cy="{y}" r="12" fill="{look.background}" stroke="{look.accent}"/>')
        else:
            parts.append(
                f'<rect x="{centre - 28}" y="{y - 17}" width="56" height="34" rx="6" fill="{look.field}" '
                f'stroke="{look.muted}"/>'
            )
        parts.append(text_element((centre, y + 5), name, look.text, anchor="middle"))
    way = "passes the norm, too" if stations[-1] == "norm" else "passes no norm"
    says = f"{title}: {equation}. From x through {', '.join(stations)} to y; the residual connection {way}."
    return Drawing(parts, (320, y + 24), says)

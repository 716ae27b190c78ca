"""Patterns as a figure on paper: one head, every head of a kind, or several kinds, as SVG.

L layers, H heads, Q queries (the rows), K keys (the columns). Layers lie below each other, heads side by side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headlight.charts.colours import Theme, hexadecimal, lookup, scale_title, scaled, shades, theme_named
from headlight.charts.document import Drawing, anchored, document, text_element, text_of
from headlight.charts.labels import widest, width
from headlight.formatting import minus
from headlight.graphemes import right_to_left
from headlight.language import gettext, localized, pgettext
from transformer.yielding import yield_turn

_PANELS_WIDTH = 1600  # pixels that panels side by side should take
_MAX_CELL_PIXELS, _MIN_CELL_PIXELS = 28, 2  # a cell's side
_FONT_SIZES = (9, 13)  # the smallest font size of a token, and the largest
_PANEL_GAP = 10  # between two panels
_LINE_HEIGHT = 20  # of text beside the panels
_BAR_LENGTH = 170  # of the colour bar
_SLANTED_SHARE = 0.71  # how far a label at 45 degrees reaches, as a share of its length


@dataclass(frozen=True)
class HeadBlock:
    """Heads that share their tokens; where `rows` are written tokens, `reads` are the tokens read at each row."""

    name: str  # "Cross-attention"; it is written where there are several blocks
    weights: np.ndarray  # [L, H, Q, K]
    rows: Sequence[str]
    columns: Sequence[str]
    masked: np.ndarray  # [Q, K], True where a query may not look
    reads: Sequence[str] | None = None
    question_row: int | None = None  # an outlined row, with "?" in its cells where they are NaN


@dataclass(frozen=True)
class Colours:
    """The mapping of numbers to colours: a `scale` of `charts.pattern` from 0, or one from -`limit` if `signed`."""

    scale: str = "fixed"
    name: str = "weight"  # what a number is
    limit: float = 1.0  # where the fixed scale ends
    signed: bool = False

    @property
    def title(self) -> str:
        if self.signed:
            return gettext("change in {name}, ±{limit}", name=self.name, limit=localized(f"{self.limit:.3g}"))
        return scale_title(self.scale, self.name, self.limit)

    @property
    def ends(self) -> tuple[float, float]:
        return (-self.limit if self.signed else 0.0), (self.limit if self.scale == "fixed" or self.signed else 1.0)

    def shades(self, weights: np.ndarray) -> np.ndarray:
        """Return [..., Q, K] as indices into a table of 256 colours."""
        low, high = self.ends
        weights = np.nan_to_num(weights)
        values = weights if self.signed else scaled(weights, self.scale)
        return shades(values, low, high)

    def steps(self, look: Theme) -> tuple[str, ...]:
        return look.diverging if self.signed else look.sequential


def patterns_svg(
    blocks: Sequence[HeadBlock],
    *,
    title: str,
    facts: Mapping[str, str],
    colours: Colours = Colours(),  # noqa: B008, it is frozen
    theme: str = "light",
) -> str:
    """Return the blocks below each other over one colour bar, under the title and the facts (names to texts).

    Cells are as large as the width allows. Where they are smaller than a letter, some tokens have no label, and where
    they are smaller than two pixels, several are one cell of the strongest weight among them; the axis says so.
    """
    look = theme_named(theme)
    cell = min(max(_MIN_CELL_PIXELS, min(_MAX_CELL_PIXELS, _PANELS_WIDTH // _across(block))) for block in blocks)
    parts, width, y = [], 0.0, 0.0
    for block in blocks:
        grid = _Grid(block, cell, colours, look)
        heading = text_element((0, y + 14), block.name, look.text, weight=600) if len(blocks) > 1 else ""
        y += 28 if heading else 0
        parts += [heading, f'<g transform="translate(0 {y:.1f})">', *grid.elements(), "</g>"]
        width, y = max(width, grid.width), y + grid.height + 24
    parts += [f'<g transform="translate(0 {y:.1f})">', *_bar(colours, look)]
    if any(block.masked.any() for block in blocks):
        sample = f'<rect width="14" height="14" fill="{look.field}"/><path d="M0 14L14 0" stroke="{look.hatch}"/>'
        words = text_element((20, 12), gettext("masked: this key comes later"), look.muted, 12)
        parts.append(f'<g transform="translate({_BAR_LENGTH + 40} 8)">{sample}{words}</g>')
    return document(Drawing([*parts, "</g>"], (max(width, _BAR_LENGTH + 240), y + 44)), title, facts, theme)


def block_drawing(block: HeadBlock, theme: str = "light", room: int = _PANELS_WIDTH) -> Drawing:
    """Return one block by itself, without a colour bar, about `room` pixels wide at most."""
    cell = max(_MIN_CELL_PIXELS, min(_MAX_CELL_PIXELS, room // _across(block)))
    grid = _Grid(block, cell, Colours(), theme_named(theme))
    return Drawing(grid.elements(), (grid.width, grid.height))


def _across(block: HeadBlock) -> int:
    """Return how many cells lie side by side."""
    return block.weights.shape[1] * block.weights.shape[3]


@dataclass(frozen=True)
class _Grid:
    """A block with its axes, drawn from (0, 0)."""

    block: HeadBlock
    cell: int
    colours: Colours
    look: Theme

    @property
    def layers(self) -> int:
        return self.block.weights.shape[0]

    @property
    def heads(self) -> int:
        return self.block.weights.shape[1]

    @cached_property
    def tokens_per_cell(self) -> int:
        """The number of tokens per cell, along each axis."""
        return math.ceil(_MIN_CELL_PIXELS * _across(self.block) / _PANELS_WIDTH)

    @cached_property
    def leftwards(self) -> bool:
        """Whether the columns run from right to left."""
        return right_to_left(self.block.columns)

    @cached_property
    def shades(self) -> np.ndarray:
        """The shades [L, H, q, k] after pooling; -1 where masked."""
        masked = strongest((~self.block.masked).astype(np.int8), self.tokens_per_cell) == 0
        shades = self.colours.shades(self.block.weights)
        middle = 128 if self.colours.signed else 0
        shades = np.where(masked, -1, strongest(shades - middle, self.tokens_per_cell) + middle)
        return shades[..., ::-1] if self.leftwards else shades

    @cached_property
    def size(self) -> int:
        """The font size of a token."""
        return max(_FONT_SIZES[0], min(_FONT_SIZES[1], self.cell))

    @property
    def label_stride(self) -> int:
        """The label stride: every `label_stride`-th cell has a label."""
        return math.ceil(_FONT_SIZES[0] / self.cell)

    def labels(self, tokens: Sequence[str]) -> list[tuple[int, str]]:
        """Return the index of each cell that has a label, with the label."""
        labelled = tokens[:: self.tokens_per_cell * self.label_stride]
        return [(index * self.label_stride, label) for index, label in enumerate(labelled)]

    def longest(self, tokens: Sequence[str]) -> float:
        return widest((label for _, label in self.labels(tokens)), self.size)

    def row_label_width(self, tokens: Sequence[str], title: str) -> float:
        """Return the width to reserve for row labels and their title, with a margin for wide system fonts."""
        spare = 1.15 if self.block.question_row is None else 1.3  # the label of the question row is bold
        return max(spare * self.longest(tokens), width(title, self.size))

    @cached_property
    def left(self) -> float:
        reads = self.block.reads
        words = self.row_label_width(self.block.rows, pgettext("column", "writes")) + 8
        words += self.row_label_width(reads, pgettext("column", "reads")) + 14 if reads else 0
        titles = _LINE_HEIGHT * (2 if self.layers > 1 else 1)
        return max(titles + words, self.longest(self.block.columns) * _SLANTED_SHARE)

    @property
    def top(self) -> float:
        return (_LINE_HEIGHT if self.heads > 1 else 0) + (_LINE_HEIGHT if self.block.reads else 0)

    @property
    def panel(self) -> tuple[int, int]:
        """The width and height of a panel."""
        rows, columns = self.shades.shape[2:]
        return columns * self.cell, rows * self.cell

    def corner(self, layer: int, head: int) -> tuple[float, float]:
        across, down = self.panel
        return self.left + head * (across + _PANEL_GAP), self.top + layer * (down + _PANEL_GAP)

    @property
    def panels_end(self) -> float:
        """The y coordinate of the end of the panels."""
        return self.corner(self.layers, 0)[1] - _PANEL_GAP

    @property
    def width(self) -> float:
        return self.corner(0, self.heads)[0] - _PANEL_GAP + _LINE_HEIGHT

    @property
    def height(self) -> float:
        return self.panels_end + self.longest(self.block.columns) * _SLANTED_SHARE + 16 + _LINE_HEIGHT

    def elements(self) -> list[str]:
        cells = [*self._cells(), *self._hatching(), *self._panels(), *self._question()]
        return [*cells, *self._rows(), *self._columns(), *self._titles()]

    def _cells(self) -> list[str]:
        """Return a path for each colour; cells of one colour that lie side by side are one rectangle."""
        side, table, paths = self.cell, lookup(self.colours.steps(self.look)), dict[int, list[str]]()
        for layer, head in np.ndindex(self.layers, self.heads):
            yield_turn()
            x, y = self.corner(layer, head)
            shades = self.shades[layer, head]
            begins = np.concatenate([np.ones((len(shades), 1), bool), shades[:, 1:] != shades[:, :-1]], axis=1)
            starts = np.flatnonzero(begins)
            lengths = np.diff(starts, append=shades.size)
            for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
                row, column = divmod(start, shades.shape[1])
                if (shade := int(shades[row, column])) >= 0:
                    across = length * side
                    path = f"M{x + column * side:g} {y + row * side:g}h{across}v{side}h-{across}z"
                    paths.setdefault(shade, []).append(path)
        return [
            f'<path class="cells" fill="{hexadecimal(table[shade])}" d="{"".join(path)}"/>'
            for shade, path in sorted(paths.items())
        ]

    def _hatching(self) -> list[str]:
        side, path = self.cell, []
        for layer, head, row, column in np.argwhere(self.shades < 0):
            x, y = self.corner(layer, head)
            path.append(f"M{x + column * side:g} {y + (row + 1) * side:g}l{side} -{side}")
        lines = f'<path class="masked" fill="none" stroke="{self.look.hatch}" d="{"".join(path)}"/>'
        return [lines] if path else []

    @property
    def question_row(self) -> int | None:
        """The row of cells of the question, if there is one."""
        return None if self.block.question_row is None else self.block.question_row // self.tokens_per_cell

    def _question(self) -> list[str]:
        """Return the outline of the question row in each panel, with "?" in its cells where they are NaN."""
        parts, look, side, row = list[str](), self.look, self.cell, self.question_row
        if row is None:
            return []
        for layer, head in np.ndindex(self.layers, self.heads):
            (x, y), across = self.corner(layer, head), self.panel[0]
            if np.isnan(self.block.weights[layer, head, self.block.question_row]).any():
                middle = y + (row + 0.5) * side + self.size * 0.34
                for column in np.flatnonzero(self.shades[layer, head, row] >= 0):
                    at = x + (column + 0.5) * side, middle
                    parts.append(text_element(at, "?", look.accent, self.size, anchor="middle"))
            parts.append(
                f'<path class="asked" fill="none" stroke="{look.accent}" stroke-width="2" stroke-dasharray="6 3" '
                f'd="M{x:g} {y + row * side:g}h{across}m0 {side}h-{across}"/>'
            )
        return parts

    def _panels(self) -> list[str]:
        """Return the frame of each head, and the names of layers and heads beside the outer ones."""
        (across, down), look, parts = self.panel, self.look, []
        for layer, head in np.ndindex(self.layers, self.heads):
            x, y = self.corner(layer, head)
            parts.append(
                f'<rect x="{x:g}" y="{y:g}" width="{across}" height="{down}" fill="none" stroke="{look.line}"/>'
            )
            if not self.block.weights[layer, head].any() and not self.colours.signed:
                at = x + across / 2, y + down / 2 + 4
                parts.append(text_element(at, gettext("off"), look.muted, 12, anchor="middle"))
            if not layer and self.heads > 1:
                name = gettext("head {head}", head=head + 1)
                parts.append(text_element((x + across / 2, 13), name, look.text, 12, anchor="middle"))
            if not head and self.layers > 1:
                name = gettext("layer {layer}", layer=layer + 1)
                parts.append(_upright(_LINE_HEIGHT + 13, y + down / 2, name, look.text))
        return parts

    def _rows(self) -> list[str]:
        reads, parts, sentence = self.block.reads, [], right_to_left(self.block.rows)
        writes_end = self.left - 8
        reads_end = writes_end - self.row_label_width(self.block.rows, pgettext("column", "writes")) - 14
        columns = [(writes_end, self.block.rows, self.look.text)]
        if reads:
            columns.append((reads_end, reads, self.look.muted))
            for x, word in (
                (writes_end, pgettext("column", "writes")),
                (reads_end, pgettext("column", "reads")),
            ):
                parts.append(text_element((x, self.top - 8), word, self.look.muted, self.size, anchor="end"))
        for layer in range(self.layers):
            y = self.corner(layer, 0)[1]
            for x, tokens, colour in columns:
                for index, label in self.labels(tokens):
                    at = y + (index + 0.5) * self.cell + self.size * 0.34
                    ink, weight = (self.look.accent, 700) if index == self.question_row else (colour, 400)
                    word = text_element((x, at), label, ink, self.size, anchor="end", weight=weight, sentence=sentence)
                    parts.append(word)
        return parts

    def _columns(self) -> list[str]:
        parts, last = [], self.shades.shape[3] - 1
        for head in range(self.heads):
            x = self.corner(0, head)[0]
            for index, label in self.labels(self.block.columns):
                seat = last - index if self.leftwards else index
                at = x + (seat + 0.5) * self.cell + self.size * 0.34
                anchor = anchored(label, "end", self.leftwards)
                parts.append(
                    f'<text transform="translate({at:.1f} {self.panels_end + 12:.1f}) rotate(-45)"{anchor}'
                    f' font-size="{self.size}" fill="{self.look.text}">{text_of(label)}</text>'
                )
        return parts

    def _titles(self) -> list[str]:
        """Return the titles of the axes, which say so where cells are pooled or labels are left out."""
        across = [gettext("looks at (key)")]
        if self.tokens_per_cell > 1:
            across.append(gettext("a cell is the strongest of {number} × {number}", number=self.tokens_per_cell))
        if self.tokens_per_cell * self.label_stride > 1:
            across.append(gettext("one token in {number} is labelled", number=self.tokens_per_cell * self.label_stride))
        middle = (self.left + self.width - _LINE_HEIGHT) / 2
        return [
            text_element((middle, self.height - 6), "; ".join(across), self.look.muted, 12, anchor="middle"),
            _upright(13, (self.top + self.panels_end) / 2, gettext("token that looks (query)"), self.look.muted),
        ]


def strongest(cells: np.ndarray, joined: int) -> np.ndarray:
    """Pool `joined` x `joined` cells of [..., Q, K] to the one furthest from 0."""
    if joined == 1:
        return cells
    rows, columns = (np.arange(0, count, joined) for count in cells.shape[-2:])
    high, low = (
        join.reduceat(join.reduceat(cells, rows, axis=-2), columns, axis=-1) for join in (np.maximum, np.minimum)
    )
    return np.where(-low > high, low, high)


def _bar(colours: Colours, look: Theme) -> list[str]:
    steps, (low, high) = colours.steps(look), colours.ends
    stops = "".join(f'<stop offset="{i / (len(steps) - 1):g}" stop-color="{step}"/>' for i, step in enumerate(steps))
    ticks = "".join(
        text_element((_BAR_LENGTH * at, 36), minus(f"{low + at * (high - low):.3g}"), look.muted, 12, anchor=anchor)
        for at, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end"))
    )
    return [
        f'<defs><linearGradient id="bar">{stops}</linearGradient></defs>',
        text_element((0, 6), colours.title, look.muted, 12),
        f'<rect y="12" width="{_BAR_LENGTH}" height="10" fill="url(#bar)" stroke="{look.line}"/>{ticks}',
    ]


def _upright(x: float, y: float, text: str, colour: str) -> str:
    """Return text that runs upwards, its middle at this point."""
    return (
        f'<text transform="translate({x:.1f} {y:.1f}) rotate(-90)" text-anchor="middle" font-size="12" '
        f'fill="{colour}">{text_of(text)}</text>'
    )

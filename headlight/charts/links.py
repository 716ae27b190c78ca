"""A word alignment: the words of a sentence and of its translation side by side, and lines between them, as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headlight.charts.colours import theme_named
from headlight.charts.document import WIDTH_FACTOR, Drawing, text_element
from headlight.charts.labels import FONT_SIZE, cut, widest

_ROW_HEIGHT, _GAP_WIDTH, _NUMBER_WIDTH, _LINES_WIDTH = 24, 8, 24, 130  # pixels


def links_picture(
    source: Sequence[str], target: Sequence[str], links: Iterable[tuple[int, int]], theme: str, across: int, says: str
) -> Drawing:
    """Return the words of `source` at the left and of `target` at the right with their `links` (source, target).

    Words are numbered from 0, as in the Pharaoh format; those without a link are muted. The picture is at most `across`
    pixels wide, and longer words are cut. `says` describes it in a sentence.
    """
    look, links = theme_named(theme), sorted(links)
    room = (across - _LINES_WIDTH - 2 * (_NUMBER_WIDTH + _GAP_WIDTH)) / 2
    left, right = (min(room, widest(words) * WIDTH_FACTOR + 1) for words in (source, target))
    starts, ends = left + _NUMBER_WIDTH + _GAP_WIDTH, left + _NUMBER_WIDTH + _GAP_WIDTH + _LINES_WIDTH
    size = ends + _GAP_WIDTH + _NUMBER_WIDTH + right, _ROW_HEIGHT * max(len(source), len(target))
    parts = []
    for i, j in links:
        y0, y1, middle = _height(i, len(source), size[1]), _height(j, len(target), size[1]), (starts + ends) / 2
        curve = f"M{starts:.1f} {y0:.1f}C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {ends:.1f} {y1:.1f}"
        parts.append(f'<path d="{curve}" fill="none" stroke="{look.accent}" stroke-width="2" stroke-opacity="0.75"/>')
    for words, side in ((source, 0), (target, 1)):
        linked = {link[side] for link in links}
        for number, word in enumerate(words):
            y, colour = _height(number, len(words), size[1]), look.text if number in linked else look.muted
            x = ends if side else starts
            if number in linked:
                parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{look.accent}"/>')
            away, anchor = (1, "start") if side else (-1, "end")
            parts.append(text_element((x + away * _GAP_WIDTH, y + 4), str(number), look.muted, 12, anchor=anchor))
            name = cut(word, (right if side else left) / WIDTH_FACTOR)
            x_name = x + away * (_GAP_WIDTH + _NUMBER_WIDTH)
            parts.append(text_element((x_name, y + 5), name, colour, FONT_SIZE, anchor=anchor))
    return Drawing(parts, size, says)


def _height(number: int, count: int, whole: float) -> float:
    """Return the middle of a word's row; the shorter side is spread over the height of the longer one."""
    return whole * (number + 0.5) / count

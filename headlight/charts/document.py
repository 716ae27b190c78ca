"""A picture as a self-contained SVG document: a title, facts below it, and the drawing."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from headlight.charts.colours import theme_named
from headlight.charts.labels import FONT_SIZE, FONTS, wrapped
from headlight.graphemes import isolated, runs_left

FONT = "'Headlight marks', system-ui, 'Source Sans 3', 'Noto Sans', 'Noto Sans Devanagari', sans-serif"
_TITLE_FONT_SIZE, _FACT_FONT_SIZE = 15, 13
_MARGIN_PIXELS, _MIN_WIDTH = 16, 420
WIDTH_FACTOR = 1.25  # extra room for words in an `image`, which is drawn with the fonts of the system
# Fonts that a document embeds where it has their letters, since readers may lack them: the file, a pattern of the
# letters, and their range in CSS. The first font is drawn by tools/marks.py.
_EMBEDDED_FONTS = {
    "Headlight marks": ("marks.ttf", re.compile("[\u2581\uff0d]"), "U+2581,U+FF0D"),
    "Noto Sans Devanagari": ("NotoSansDevanagari-Regular.ttf", re.compile("[\u0900-\u097f]"), "U+0900-097F"),
}
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Drawing(NamedTuple):
    """SVG elements and their size (width, height) in pixels; `says` describes the picture in a sentence."""

    elements: Sequence[str]
    size: tuple[float, float]
    says: str = ""

    def savefig(
        self, path: str | Path, title: str = "", facts: Mapping[str, str] | None = None, theme: str = "light"
    ) -> None:
        """Write the drawing under its title and facts, as .svg, .pdf or .png; ValueError for another suffix."""
        from headlight.charts.typeset import save_picture  # imported here, since typeset needs this module

        save_picture(path, lambda: document(self, title, facts or {}, theme), title)


def document(drawing: Drawing, title: str, facts: Mapping[str, str], theme: str) -> str:
    """Return the drawing under its title and facts, as a file of its own.

    `facts` are names to texts, such as the model and the sentence; long ones are broken into lines.
    """
    look, size = theme_named(theme), drawing.size
    room = max(size[0], _MIN_WIDTH)
    title_lines = wrapped(title, room * 0.94, _TITLE_FONT_SIZE)  # 0.94: bold letters are wider
    heading = [(line, _TITLE_FONT_SIZE, look.text) for line in title_lines]
    named_facts = [f"{name}: {isolated(text)}" for name, text in facts.items()]
    for name, text in facts.items():
        first, *further = wrapped(f"{name}: {text}", room, _FACT_FONT_SIZE)
        after = len(name) + 2
        lines = [first[:after] + isolated(first[after:]), *map(isolated, further)]
        heading += [(line, _FACT_FONT_SIZE, look.muted) for line in lines]
    parts, y = [], float(_MARGIN_PIXELS)
    for line, font_size, colour in heading:
        y += font_size * 1.4
        weight = 600 if font_size == _TITLE_FONT_SIZE else 400
        parts.append(text_element((_MARGIN_PIXELS, y - 0.4 * font_size), line, colour, font_size, weight=weight))
    y += _MARGIN_PIXELS
    across, down = room + 2 * _MARGIN_PIXELS, y + size[1] + _MARGIN_PIXELS
    body = "\n".join([*parts, f'<g transform="translate({_MARGIN_PIXELS} {y:.1f})">', *drawing.elements, "</g>"])
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{across:.0f}" height="{down:.0f}" '
            f'viewBox="0 0 {across:.0f} {down:.0f}" font-family="{_families(body)}" font-size="{FONT_SIZE}">',
            f"<title>{text_of(title)}</title>",
            f"<desc>{text_of('; '.join(named_facts))}</desc>",
            f'{_style(body)}<rect width="100%" height="100%" fill="{look.background}"/>',
            body,
            "</svg>\n",
        ]
    )


def inline(drawing: Drawing) -> str:
    """Return the drawing as an element of a page, which it may fill up to its own width."""
    across, down = drawing.size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:.0f} {down:.0f}" width="{across:.0f}" '
        f'height="{down:.0f}" font-size="{FONT_SIZE}">{"".join(drawing.elements)}</svg>'
    )


def image(drawing: Drawing, class_name: str = "") -> str:
    """Return the drawing as an <img> with a text alternative and its own fonts, since it cannot use the page's."""
    body = "".join(drawing.elements)
    svg = inline(drawing._replace(elements=[_style(body), f'<g font-family="{_families(body)}">', body, "</g>"]))
    data, named = base64.b64encode(svg.encode()).decode("ascii"), f'class="{class_name}" ' if class_name else ""
    return f'<img {named}src="data:image/svg+xml;base64,{data}" alt="{html.escape(drawing.says)}">'


def text_element(
    at: tuple[float, float],
    text: str,
    colour: str,
    size: float = FONT_SIZE,
    *,
    anchor: str = "start",
    weight: int = 400,
    sentence: bool = False,
) -> str:
    """Return a text at a point (x, y) of its baseline; see `anchored` for `anchor` and `sentence`."""
    bold = f' font-weight="{weight}"' if weight != 400 else ""
    return (
        f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size:g}"{anchored(text, anchor, sentence)}{bold} '
        f'fill="{colour}">{text_of(text)}</text>'
    )


def _families(text: str) -> str:
    """Return the font families of a document with this text, those that it embeds first."""
    return ", ".join([*(f"'{family}'" for family in fonts_of(text)), FONT])


def _style(text: str) -> str:
    return f"<style>{style}</style>" if (style := faces(text)) else ""


def fonts_of(text: str) -> dict[str, Path]:
    """Return the font files, by family, that a document with this text embeds."""
    return {family: FONTS / file for family, (file, letters, _) in _EMBEDDED_FONTS.items() if letters.search(text)}


def faces(text: str) -> str:
    """Return the style that embeds the fonts for a document with this text."""
    style = ""
    for family, file in fonts_of(text).items():
        data, letters = base64.b64encode(file.read_bytes()).decode("ascii"), _EMBEDDED_FONTS[family][2]
        source = f'url("data:font/{file.suffix[1:]};base64,{data}")'
        style += f'@font-face{{font-family:"{family}";src:{source};unicode-range:{letters}}}'
    return style


def text_of(text: str) -> str:
    """Return text as XML has it; a character that XML cannot hold becomes "\ufffd"."""
    return escape(_NOT_XML.sub("\ufffd", text))


def anchored(text: str, anchor: str = "start", sentence: bool = False) -> str:
    """Return the attributes of a text element that say which part of it is at its point, and which way it runs.

    `anchor` is "start" (the left end), "middle" or "end"; `sentence` says whether a token's sentence runs to the left.
    """
    if not runs_left(text, sentence):
        return "" if anchor == "start" else f' text-anchor="{anchor}"'
    ends = {"start": "end", "end": "start"}  # of what runs to the left, the start is the right end
    return f' direction="rtl" text-anchor="{ends.get(anchor, anchor)}"'

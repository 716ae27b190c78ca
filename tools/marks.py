"""`python -m tools.marks`: draw two characters as a font, marks.woff2 for the app and marks.ttf for its figures.

The mark of a space, ▁ (U+2581), is in other fonts as wide and black as a rule, and stands before nearly every token.
The wide hyphen, － (U+FF0D), is a letter of the shipped vocabularies that a machine without a Chinese font lacks. Needs
`pip install fonttools brotli`, which nothing else here does: the font itself is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# Typst, which draws PNG and PDF, reads no WOFF.
FONTS = {"woff2": ROOT / "ui/static/fonts/marks.woff2", None: ROOT / "headlight/charts/fonts/marks.ttf"}
MARK, WIDE_HYPHEN = 0x2581, 0xFF0D
# In thousandths of the font size: a tray of thin lines, below the letters.
WIDTH, LEFT, RIGHT, BOTTOM, TOP, LINE = 340, 50, 290, -110, 10, 45


def marks() -> Any:
    """Return the font, a fontTools TTFont."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    def glyph(*outlines: list[tuple[int, int]]) -> Any:
        pen = TTGlyphPen(None)
        for points in outlines:
            pen.moveTo(points[0])
            for point in points[1:]:
                pen.lineTo(point)
            pen.closePath()
        return pen.glyph()

    plot_area = (LEFT + LINE, RIGHT - LINE, BOTTOM + LINE)
    tray = [(LEFT, TOP), (plot_area[0], TOP), (plot_area[0], plot_area[2]), (plot_area[1], plot_area[2])]
    tray += [(plot_area[1], TOP), (RIGHT, TOP), (RIGHT, BOTTOM), (LEFT, BOTTOM)]
    hyphen = [(120, 290), (120, 350), (880, 350), (880, 290)]
    # This font comes first in font lists, so its box stands for every letter that no font has.
    box = [[(80, 0), (80, 700), (520, 700), (520, 0)], [(120, 40), (480, 40), (480, 660), (120, 660)]]
    glyphs = {".notdef": glyph(*box), "space_mark": glyph(tray), "wide_hyphen": glyph(hyphen)}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap({MARK: "space_mark", WIDE_HYPHEN: "wide_hyphen"})
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics({".notdef": (600, 80), "space_mark": (WIDTH, LEFT), "wide_hyphen": (1000, 120)})
    builder.setupHorizontalHeader(ascent=900, descent=-250)
    # Typst passes over a font without a PostScript name.
    name = {"familyName": "Headlight marks", "styleName": "Regular", "psName": "HeadlightMarks-Regular"}
    builder.setupNameTable(name)
    builder.setupOS2(sTypoAscender=900, sTypoDescender=-250, usWinAscent=900, usWinDescent=250)
    builder.setupPost()
    return builder.font


if __name__ == "__main__":
    font = marks()
    for font.flavor, path in FONTS.items():
        font.save(path)

"""`python -m tools.space_mark`: draws the mark of a space, ▁ (U+2581), as a font of one light glyph for the app.

The block that other fonts have for it is as wide and as black as a rule, and stands before nearly every token.
Needs `pip install fonttools brotli`, which nothing else here does: the font itself is kept in static/fonts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

FONT = Path(__file__).parents[1] / "static" / "fonts" / "space-mark.woff2"
MARK = 0x2581
# In thousandths of the font size: a tray of thin lines, below the letters.
WIDTH, LEFT, RIGHT, BOTTOM, TOP, LINE = 340, 50, 290, -110, 10, 45


def space_mark() -> Any:
    """The font, a fontTools TTFont."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    inside = (LEFT + LINE, RIGHT - LINE, BOTTOM + LINE)
    tray = [(LEFT, TOP), (inside[0], TOP), (inside[0], inside[2]), (inside[1], inside[2])]
    tray += [(inside[1], TOP), (RIGHT, TOP), (RIGHT, BOTTOM), (LEFT, BOTTOM)]
    pen.moveTo(tray[0])
    for point in tray[1:]:
        pen.lineTo(point)
    pen.closePath()
    glyphs = {".notdef": TTGlyphPen(None).glyph(), "space_mark": pen.glyph()}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap({MARK: "space_mark"})
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics({".notdef": (WIDTH, 0), "space_mark": (WIDTH, LEFT)})
    builder.setupHorizontalHeader(ascent=900, descent=-250)
    builder.setupNameTable({"familyName": "Space mark", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=900, sTypoDescender=-250, usWinAscent=900, usWinDescent=250)
    builder.setupPost()
    return builder.font


if __name__ == "__main__":
    font = space_mark()
    font.flavor = "woff2"
    font.save(FONT)

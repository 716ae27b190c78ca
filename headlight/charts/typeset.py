"""Write a picture as PDF, with embedded fonts, and as PNG, with the same lines and letters as its SVG.

Letters are drawn with the fonts of the machine and with those in fonts/.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

from headlight.charts.labels import FONT_SIZE, FONTS
from headlight.graphemes import graphemes
from transformer.extras import require_package
from transformer.files import require_folder, write_bytes
from transformer.quoting import short

if TYPE_CHECKING:
    import typst

SVG = "{http://www.w3.org/2000/svg}"
# All words are passed as data, so that none is read as Typst code. Typst sets the words over the image instead of
# drawing those in the SVG, where it gets scripts with joined letters wrong, such as Devanagari.
_PAGE_TEMPLATE = b"""
#set document(title: sys.inputs.title, description: sys.inputs.about)
#set page(width: auto, height: auto, margin: 0pt)
#set text(font: ("Headlight marks", "Source Sans 3", "Noto Sans", "Liberation Sans", "DejaVu Sans",
  "Noto Sans Devanagari"),
  top-edge: "baseline", bottom-edge: "baseline")
#image(bytes(sys.inputs.lines), format: "svg", alt: sys.inputs.title)
#for word in json(bytes(sys.inputs.words)) {
  let way = if word.leftwards { rtl } else { ltr }
  let letters = text(size: word.size * 0.75pt, fill: rgb(word.fill), weight: word.weight, dir: way, word.text)
  let body = if word.struck { strike(letters) } else { letters }
  context {
    let width = measure(body).width
    let before = (start: 0pt, middle: width / 2, end: width).at(word.anchor)
    place(top + left, dx: word.x * 0.75pt, dy: word.y * 0.75pt,
      rotate(word.angle * 1deg, origin: top + left, place(dx: -before, box(width: width, body))))
  }
}
"""
_LETTERS_TEMPLATE = b'#set text(font: ("Liberation Sans", "DejaVu Sans"))\n#sys.inputs.text'
# The alphabets of Europe and the signs beside them, which Typst's own fonts have, and Devanagari, which is in fonts/.
_COVERED_CHARACTERS = re.compile("[\u0000-\u052f\u0900-\u097f\u1e00-\u2022\u2581]+")
_TRANSLATION = r"translate\((-?[\d.]+) (-?[\d.]+)\)"


PPI = 192  # of a PNG: two pixels for each of the SVG's, so that it is sharp on a projector
# Bytes of memory that one file may take: a large SVG leaves fewer for the pixels of its PNG.
MAX_BYTES, BYTES_PER_CHARACTER, BYTES_PER_PIXEL = 250_000_000, 15, 11


def pdf(svg: str, title: str, about: str = "") -> bytes:
    """Return a document of `charts.document` as a PDF of one page of its size; `title` and `about` are its metadata."""
    return _typeset(svg, title, about, "pdf")


def png(svg: str) -> bytes:
    """Return a document of `charts.document` as a PNG, at twice its size or as large as memory allows."""
    return _typeset(svg, "", "", "png")


def save_picture(path: str | Path, draw: Callable[[], str], title: str) -> None:
    """Write what `draw` returns, a document of `charts.document`, as the suffix of the path says.

    Raises ValueError for a suffix other than .svg, .pdf and .png, and where there is no such folder.
    """
    formats: dict[str, Callable[[str], bytes]] = {".svg": str.encode, ".pdf": lambda svg: pdf(svg, title), ".png": png}
    convert = formats.get(Path(path).suffix.lower())
    if convert is None:
        raise ValueError(f"{short(path)} ends in no format of a picture; give a name in {', '.join(formats)}.")
    require_folder(Path(path))
    write_bytes(path, convert(draw()))


def undrawn(text: str) -> list[str]:
    """Return the letters of a text for which no font is found, one per script: PDF and PNG show boxes for them."""
    rest = [
        grapheme
        for grapheme in dict.fromkeys(graphemes(text))
        if not _COVERED_CHARACTERS.fullmatch(grapheme) and not grapheme.isspace()
    ]
    missing: list[str] = []
    while rest and (character := _first_undrawn(" ".join(rest))):
        letter = next((grapheme for grapheme in rest if character in grapheme), rest[0])
        missing.append(letter)
        rest = [grapheme for grapheme in rest if grapheme != letter and _script(grapheme) != _script(letter)]
    return missing


@lru_cache(512)
def _first_undrawn(text: str) -> str | None:
    """Return the first letter without a glyph, which Typst names because PDF/A, the standard for archives, forbids one.
    """
    typst = _typst()
    try:
        inputs, standards = {"text": text}, ["a-2b"]
        typst.compile(
            _LETTERS_TEMPLATE, font_paths=_fonts(), sys_inputs=inputs, format="pdf", pdf_standards=standards
        )
    except typst.TypstError as error:
        if named := re.search(r'the text `"(.+?)"` could not be displayed', str(error)):
            return re.sub(r"\\u\{([0-9a-f]+)\}", lambda code: chr(int(code[1], 16)), named[1])
        raise
    return None


def _script(letter: str) -> str:
    """Return the first word of a letter's name: "HANGUL", "CJK"."""
    return unicodedata.name(letter[0], "").partition(" ")[0]


def _typeset(svg: str, title: str, about: str, form: Literal["pdf", "png"]) -> bytes:
    root = ElementTree.fromstring(svg)
    words = json.dumps(list(_take_texts(root, 0, 0)))
    lines = ElementTree.tostring(root, encoding="unicode")
    inputs = {"title": title, "about": about, "words": words, "lines": lines}
    pixels = max(MAX_BYTES - BYTES_PER_CHARACTER * len(svg), MAX_BYTES // 10) / BYTES_PER_PIXEL
    ppi = min(PPI, 96 * math.sqrt(pixels / (float(root.get("width", 1)) * float(root.get("height", 1)))))
    return _typst().compile(_PAGE_TEMPLATE, font_paths=_fonts(), sys_inputs=inputs, format=form, ppi=ppi)


def _typst() -> Any:
    return require_package("typst", "A picture as PDF or PNG", "charts")


@cache
def _fonts() -> typst.Fonts:
    """Return the machine's fonts, searched once: there may be thousands."""
    return _typst().Fonts(font_paths=[str(FONTS)])


def _take_texts(parent: ElementTree.Element, x: float, y: float) -> Iterator[dict[str, object]]:
    """Yield all texts inside an element whose origin lies at (x, y), and remove them from it.

    Groups are moved, and texts also turned, as `charts` writes them.
    """
    for child in list(parent):
        moved = re.match(_TRANSLATION, child.get("transform", ""))
        dx, dy = map(float, moved.groups()) if moved else (0.0, 0.0)
        if child.tag != f"{SVG}text":
            yield from _take_texts(child, x + dx, y + dy)
            continue
        parent.remove(child)
        leftwards, anchor = child.get("direction") == "rtl", child.get("text-anchor", "start")
        turned = re.search(r"rotate\((-?\d+)\)", child.get("transform", ""))
        yield {
            "x": x + dx + float(child.get("x", 0)),
            "y": y + dy + float(child.get("y", 0)),
            "angle": int(turned[1]) if turned else 0,
            "size": float(child.get("font-size", FONT_SIZE)),
            "weight": int(child.get("font-weight", 400)),
            "anchor": {"start": "end", "end": "start"}.get(anchor, anchor) if leftwards else anchor,
            "leftwards": leftwards,
            "fill": child.get("fill"),
            "struck": child.get("text-decoration") == "line-through",
            "text": child.text or "",
        }

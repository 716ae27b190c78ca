"""Colours of the pictures, for the light theme and the dark one: the only place that chooses them.

The viewer's scripts get these colours from headlight/viewer/scripts.py; its style sheets and Streamlit's configuration
repeat some of them, which tests/ui/viewer/test_palette.py checks.

An attention weight of 0 has the page's background, and lightness rises or falls steadily from there, so the scales can
be read in grey and by colour-blind people.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from headlight.language import gettext, localized, translatable
from transformer.quoting import quoted

# Hues that colour-blind people can tell apart (Okabe and Ito, 2008), for heads side by side. Their black is replaced by
# a grey that is visible on both backgrounds.
OKABE_ITO = ("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#f0e442", "#98a2b3")

# How a weight becomes a colour, and what the colour bar says of it.
SCALES = {
    "fixed": translatable("{name}, 0 to {limit}"),
    "row": translatable("share of the row's largest {name}"),
    "sqrt": translatable("square root of the {name}"),
}

LESS_COLOUR, MORE_COLOUR = "#0877bd", "#f59322"


@dataclass(frozen=True)
class Theme:
    """The colours of a picture for one theme of the page, each as "#rrggbb"."""

    background: str
    text: str
    muted: str
    line: str
    field: str
    hatch: str
    card: str
    accent: str
    sequential: tuple[str, ...]  # 0 to the largest, evenly spaced
    diverging: tuple[str, ...]  # less, no difference, more
    signed: tuple[str, ...]  # below zero, zero, above zero, for small cells, in which blue on black has to be lighter
    heads: tuple[str, ...]  # Okabe and Ito's, with others for those that vanish on this background


THEMES = {
    "light": Theme(
        background="#ffffff",
        text="#1d2433",
        muted="#5a6477",
        line="#d3d9e2",
        field="#f3f5f8",
        hatch="#c3cad5",
        card="#ffffff",
        accent="#2f5fa8",
        sequential=("#ffffff", "#c9d8f0", "#6f9bd1", "#2f5fa8", "#0b2a66"),
        diverging=(LESS_COLOUR, "#f1f2f4", MORE_COLOUR),
        signed=(LESS_COLOUR, "#f1f2f4", MORE_COLOUR),
        heads=(*OKABE_ITO[:6], "#c9b800", "#000000"),
    ),
    "dark": Theme(
        background="#0e1117",
        text="#e8eaf0",
        muted="#98a2b3",
        line="#333c4c",
        field="#1a202b",
        hatch="#3a4354",
        card="#1d2431",
        accent="#f0a94a",
        sequential=("#0e1117", "#3b2f63", "#b5476d", "#f9a25c", "#fff3c4"),
        diverging=(LESS_COLOUR, "#1c222d", MORE_COLOUR),
        signed=("#2f9be0", "#1c222d", MORE_COLOUR),
        heads=(*OKABE_ITO[:4], "#4c9bd6", *OKABE_ITO[5:7], "#d0d5dd"),
    ),
}


def theme_named(name: str) -> Theme:
    """Return the theme "light" or "dark"; ValueError for any other name."""
    if name not in THEMES:
        raise ValueError(f"There is no theme {quoted(name)}: choose one of {', '.join(THEMES)}.")
    return THEMES[name]


def scale_title(scale: str, name: str, limit: float) -> str:
    """Return the title of the colour bar: the number, and how it becomes a colour."""
    return gettext(SCALES[scale], name=name, limit=localized(f"{limit:g}"))


def scaled(weights: np.ndarray, scale: str) -> np.ndarray:
    """Return the value on the colour scale for each weight of [..., Q, K]."""
    if scale == "sqrt":
        return np.sqrt(weights)
    if scale == "row":
        largest = np.fmax.reduce(weights, axis=-1, keepdims=True)
        return np.divide(weights, largest, out=weights.copy(), where=largest > 0)
    return weights


def shades(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the index of each value in a table of 256 colours that runs from `low` to `high`."""
    return np.rint(255 * np.clip((values - low) / (high - low), 0, 1)).astype(int)


def hexadecimal(rgb: Iterable[int]) -> str:
    """Return a colour of `lookup` as "#rrggbb"."""
    return "#" + "".join(f"{channel:02x}" for channel in rgb)


@cache
def lookup(scale: tuple[str, ...], steps: int = 256) -> np.ndarray:
    """Return a scale as a table of uint8 RGB rows [steps, 3], from its first colour to its last."""
    stops = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in scale])
    at = np.linspace(0, len(scale) - 1, steps)
    channels = [np.interp(at, np.arange(len(scale)), channel) for channel in stops.T]
    table = np.rint(np.stack(channels, axis=1)).astype(np.uint8)
    table.setflags(write=False)
    return table


def thumbnail(values: np.ndarray, scale: tuple[str, ...], low: float, high: float) -> bytes:
    """Return `values` [rows, columns] as a PNG, coloured by `scale` (as in a `Theme`) from `low` to `high`."""
    pixels = lookup(scale)[shades(values, low, high)]
    rows, columns = values.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)  # 0: the line is not filtered
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)  # 8 bits of red, green and blue
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_png_chunk, *zip(*chunks, strict=True)))


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

"""Small pictures as PNG, one pixel per number: thumbnails in a table."""

import struct
import zlib

import numpy as np

from headlight.charts.colours import lookup, shades


def png(values: np.ndarray, scale: tuple[str, ...], low: float, high: float) -> bytes:
    """Return `values` [rows, columns] as a PNG, coloured by `scale` (as in a `Theme`) from `low` to `high`."""
    pixels = lookup(scale)[shades(values, low, high)]
    rows, columns = values.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)  # 0: the line is not filtered
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)  # 8 bits of red, green and blue
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, *zip(*chunks, strict=True)))


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

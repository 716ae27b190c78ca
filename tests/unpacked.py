"""Reads what headlight/viewer/packing.py packs, by the description of its layout alone."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays by name."""
    size = int.from_bytes(data[:4], "little")
    header, body, arrays = json.loads(data[4 : 4 + size]), data[4 + size :], {}
    for listed in header["arrays"]:
        assert listed["at"] % 4 == 0
        kind, count = np.dtype(listed["dtype"]).newbyteorder("<"), int(np.prod(listed["shape"]))
        arrays[listed["name"]] = np.frombuffer(body, kind, count, listed["at"]).reshape(listed["shape"])
    return header, arrays

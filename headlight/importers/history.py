"""The weights that were kept while a checkpoint's model was trained: `history/step-0000040.safetensors`."""

from __future__ import annotations

import re
from pathlib import Path


def snapshots(folder: Path) -> list[Path]:
    """Those of a checkpoint's folder, in the order of their steps."""
    return sorted((folder / "history").glob("step-*.safetensors"), key=step_of)


def step_of(path: Path) -> int:
    """The step at which a snapshot was kept; 0 where its name has no number."""
    number = re.search(r"(\d+)$", path.stem)
    return int(number[1]) if number else 0

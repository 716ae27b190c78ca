"""What a person brought: a file, an archive or a folder, opened so that nothing in it can run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from transformer.checkpoints.weights import Weights


@dataclass(frozen=True)
class Source:
    """One model: its weights, and the folder that they lie in where they came with other files."""

    name: str  # what the person called it
    folder: Path | None  # an unpacked archive is a temporary folder; None for a lone file of weights
    weights: Weights
    size: int  # bytes of the weights


def open_source(path: Path) -> AbstractContextManager[Source]:
    """Opens a .pt/.pth/.ckpt/.bin/.safetensors file, a folder (native or Hugging Face, sharded too) or an archive of
    one. Raises Refused."""
    raise NotImplementedError

"""Small models in every form in which they are brought, and what the tests say of them."""

from __future__ import annotations

import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from headlight.importers.source import open_source
from transformer.checkpoint.weights import Refused


def tensors(layers: int = 2) -> dict[str, Tensor]:
    """Odd shapes, several types, no number twice."""
    made = {f"layers.{n}.weight": torch.arange(6.0).view(2, 3) + 10 * n for n in range(layers)}
    return {**made, "table": torch.arange(12).view(4, 3), "half": torch.ones(3).half(), "scale": torch.tensor(2.5)}


def push_text(value: str) -> bytes:
    """Return the opcode BINUNICODE, which pushes a text."""
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def opened(path: Path) -> dict[str, Tensor]:
    """Read every tensor of a file."""
    with open_source(path) as source:
        return {name: source.weights.tensor(name) for name in source.weights.infos}


def same(tensors: dict[str, Tensor], due: dict[str, Tensor]) -> bool:
    return tensors.keys() == due.keys() and all(
        tensors[name].dtype == due[name].dtype and torch.equal(tensors[name], due[name]) for name in due
    )


def refusal(path: Path) -> Refused:
    """Why it is refused, in one line."""
    try:
        opened(path)
    except Refused as refused:
        assert str(refused) and "\n" not in str(refused)
        return refused
    raise AssertionError(f"{path} was opened")


def folder(path: Path, weights: dict[str, Tensor] | None = None) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}")
    save_file(tensors() if weights is None else weights, path / "model.safetensors")
    return path


def zipped(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def tarred(path: Path, of: Path, mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        archive.add(of, of.name)
    return path


def flat_refusal(path: Path) -> Refused:
    """Why it is refused, for little memory."""
    tracemalloc.start()
    try:
        refused = refusal(path)
        assert tracemalloc.get_traced_memory()[1] < path.stat().st_size + 2**26
    finally:
        tracemalloc.stop()
    return refused

"""Uploads for an import: on disk only while a session needs them."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from transformer.files import remove
from ui.state import models
from ui.state.public import private_only

MAX_UPLOAD_MEGABYTES = 2048  # Streamlit holds an upload in memory until it is copied; larger files go by their path
ENDINGS = ("pt", "pth", "ckpt", "bin", "safetensors", "argosmodel", "zip")
_STALE_SECONDS = 24 * 3600  # seconds after which an upload belongs to a session that has ended
_PIECE_BYTES = 2**22  # bytes


@dataclass(frozen=True)
class ImportSource:
    """The source of an import: its path, and the name that the user gave."""

    path: Path
    name: str
    uploaded: Path | None = None  # the folder that is removed with it


def keep(file: BinaryIO, name: str) -> ImportSource:
    """Copy an upload to the disk piece by piece, under a safe name in a folder of its own.

    Raises ValueError in a public demonstration.
    """
    private_only()
    _sweep()
    folder = Path(tempfile.mkdtemp(dir=_folder()))
    path = folder / safe_name(name)
    source = ImportSource(path, name, folder)
    weakref.finalize(source, shutil.rmtree, folder, ignore_errors=True)  # when its session is over, or the server
    with open(path, "wb") as target:
        shutil.copyfileobj(file, target, _PIECE_BYTES)
    return source


def forget(source: ImportSource | None) -> None:
    """Remove an upload; a file that was named by its path is not touched."""
    if source is not None and source.uploaded is not None:
        shutil.rmtree(source.uploaded, ignore_errors=True)


def safe_name(name: str) -> str:
    """Return a file name without folders and without anything that is special to a shell or a screen."""
    plain = re.sub(r"[^\w.-]", "_", name.replace("\\", "/").rpartition("/")[2]).lstrip(".")
    stem, dot, ending = plain.rpartition(".")
    return f"{stem[:80]}{dot}{ending[:20]}" or "upload"


def _folder() -> Path:
    folder = models.MODELS / ".uploads"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _sweep() -> None:
    """Remove what a server that was killed left behind: uploads, and imports and deletions that were half done."""
    for folder in (*_folder().iterdir(), *models.MODELS.glob(".*.part"), *models.MODELS.glob(".*.deleted")):
        try:
            if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                remove(folder)
        except OSError:  # another session was faster
            continue

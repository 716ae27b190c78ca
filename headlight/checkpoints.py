"""Open a native checkpoint by the name of a model that ships, or by its folder, trusted or not."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from headlight import folders, tokenizer_json
from transformer import Translator
from transformer.access import require_readable
from transformer.checkpoint import Checkpoint, native, save
from transformer.files import read_bytes, read_json
from transformer.quoting import short
from transformer.tokenizers import Tokenizer
from transformer.translator import in_precision

__all__ = [
    "Checkpoint",
    "load",
    "load_tokenizer",
    "load_translator",
    "read_words",
    "save",
    "save_words",
    "snapshots",
    "step_of",
]

WORDS = "words.txt.gz"  # the words of the sentences that the model was trained to read
MAX_PACKED_BYTES, MAX_UNPACKED_BYTES = 200_000, 4_000_000  # bytes of that file, and of its text


def load(folder: str | Path) -> Checkpoint:
    """Read what `save` wrote, ready to run (float32, evaluation mode); a model that ships goes by its name alone.

    The tokenizers are rebuilt with bounds on what they cost, so the folder need not be trusted. Raises ValueError in
    one sentence that names the file and what is wrong with it.
    """
    folder = folders.model(folder)
    require_readable(folder)
    if not os.path.isdir(folder):  # False also for what can be no name
        ship = ", ".join(folders.shipped()) or "missing"
        raise ValueError(f"There is no checkpoint folder {short(folder)}; the models that ship are {ship}.")
    values = read_json(folder / native.CONFIG, native.MAX_CONFIG_BYTES)
    if isinstance(values, dict) and "model_type" in values:
        raise ValueError(
            f"{short(folder)} is a Hugging Face model ({short(values['model_type'])}); import it first: "
            f"{folders.COMMAND} import {shlex.quote(short(folder))} --out checkpoints/NAME"
        )
    return native.load(folder, tokenizer_json.opened)


def load_tokenizer(
    path: str | Path,
    pad_id: int | None = None,
    sos_id: int | None = None,
    eos_id: int | None = None,
    size: int | None = None,
) -> Tokenizer:
    """Read a `tokenizer.json` that need not be trusted; see `Tokenizer.load`."""
    return Tokenizer.load(path, pad_id, sos_id, eos_id, size, tokenizer_json.opened)


def load_translator(folder: str | Path, precision: str = "float32", shares: bool = False) -> Translator:
    """Open a model as `load` does; the weights are in "float32", or in "bfloat16": half the memory, and faster.

    One that `shares` has its weights in memory once, where a large model takes longer to write with a beam.
    """
    return Translator(in_precision(load(folder), precision), shares)


def snapshots(folder: Path) -> list[Path]:
    """Return the snapshots of a training, `history/step-0000040.safetensors`, in the order of their steps."""
    return sorted((folder / "history").glob("step-*.safetensors"), key=step_of)


def step_of(path: Path) -> int:
    """Return the training step of a snapshot; 0 where its name has no number."""
    number = re.search(r"(\d+)$", path.stem)
    return int(number[1]) if number else 0


def save_words(folder: Path, words: Mapping[str, int]) -> int:
    """Write the words that a model was trained to read, by how often each was read; returns how many are listed.

    The rarest are left out where the file would have more than MAX_PACKED_BYTES bytes.
    """
    frequent = sorted(words, key=lambda word: (-words[word], word))
    count = len(frequent)
    while len(packed := _packed(frequent[:count])) > MAX_PACKED_BYTES:
        count = int(count * 0.99 * MAX_PACKED_BYTES / len(packed))
    temporary = folder / f"{WORDS}.{os.getpid()}.part"
    temporary.write_bytes(packed)
    os.replace(temporary, folder / WORDS)
    return count


def _packed(words: Iterable[str]) -> bytes:
    return gzip.compress("\n".join(sorted(words)).encode(), mtime=0)


def read_words(folder: str | Path) -> frozenset[str]:
    """Return the words that the model of a folder was trained to read, in lower case; empty without a list."""
    file = folders.model(folder) / WORDS
    try:
        return _read_words(file, file.stat().st_mtime_ns)
    except OSError:
        return frozenset()


@lru_cache(8)
def _read_words(file: Path, changed: int) -> frozenset[str]:
    try:
        unpacked = zlib.decompressobj(wbits=31)  # gzip
        text = unpacked.decompress(read_bytes(file, MAX_PACKED_BYTES), MAX_UNPACKED_BYTES).decode()
    except (ValueError, zlib.error):  # damaged, or not ours; UnicodeDecodeError is a ValueError
        return frozenset()
    return frozenset(text.split("\n")) - {""}

"""Open a native checkpoint by the name of a model that ships, or by its folder, trusted or not."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch

from headlight import folders, hub, tokenizer_json
from transformer import Translator
from transformer.access import require_readable
from transformer.checkpoint import Checkpoint, native, save
from transformer.checkpoint.weights import Refused
from transformer.config import ModelConfig
from transformer.files import MAX_JSON_BYTES, open_regular, read_bytes, read_json, write_bytes, write_json
from transformer.quoting import quoted, short
from transformer.tokenizers import Tokenizer

__all__ = [
    "Checkpoint", "Description", "describe", "digest", "fetch", "find", "load", "load_tokenizer", "load_translator",
    "read_words", "save", "save_words", "snapshots", "step_of",
]  # fmt: skip

_PARTS = ("encoder", "decoder", "output")
WORDS_FILE = "words.txt.gz"  # the words of the sentences that the model was trained to read
MAX_PACKED_BYTES, MAX_UNPACKED_BYTES = 200_000, 4_000_000  # of WORDS_FILE, and of its text
_MEASUREMENT_FILES = ("heads.json", "why.json", "antecedents.json", "align.json")  # what pages show of a model
_TOKENIZER_FILES = (native.SHARED, native.SOURCE, native.TARGET)
# The files of a model on the hub; `fetch` downloads the weights last.
FILES = (native.CONFIG, native.CARD, *_TOKENIZER_FILES, WORDS_FILE, *_MEASUREMENT_FILES, native.WEIGHTS)


def load(folder: str | Path, device: str = "cpu", dtype: str | None = None) -> Checkpoint:
    """Read a checkpoint that `save` wrote, in evaluation mode; a model that ships is given by its name alone.

    "hub:OWNER/NAME" or "hub:OWNER/NAME@REVISION" is a model on the Hugging Face hub, which `fetch` downloads once.

    `device` is one of torch's, such as "cuda:1", or "auto": the GPU with most free memory if the model fits, else the
    CPU. `dtype` is the type in which matrices are held, "float32", "bfloat16" or "float16"; by default float32, and in
    a model of more than 30 million parameters that of the file, which is mapped into memory and not copied.

    The tokenizers are rebuilt with bounds on what they cost, so the folder need not be trusted. Raises ValueError in
    one sentence that names the file and what is wrong with it.
    """
    folder = _require_ours(folder)
    return native.load(folder, tokenizer_json.opened, resolve_device(device, folder), dtype)


def resolve_device(name: str, folder: Path) -> str:
    """Return a device by its name: for "auto" the GPU with most free memory if the model fits twice, else the CPU.

    Raises ValueError for a device that this machine lacks.
    """
    count = torch.cuda.device_count()
    if name == "auto":
        free, index = max(((torch.cuda.mem_get_info(i)[0], i) for i in range(count)), default=(0, 0))
        weights = folder / native.WEIGHTS
        return f"cuda:{index}" if weights.is_file() and free > 2 * weights.stat().st_size else "cpu"
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError, NotImplementedError):
        devices = ", ".join(["cpu", *(f"cuda:{i}" for i in range(count)), "auto"])
        raise ValueError(f"The device is {quoted(name)}; this machine has {devices}.") from None
    return name


def file_checksum(path: Path) -> str:
    """Return the SHA-256 checksum of a regular file, in hexadecimal."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(folder: str | Path) -> str:
    """Return the SHA-256 digest of weights, configuration and tokenizers, in hexadecimal."""
    whole = hashlib.sha256()
    for name in (native.WEIGHTS, native.CONFIG, *_TOKENIZER_FILES):
        if (file := Path(folder) / name).is_file():
            whole.update(f"{name} {file_checksum(file)}\n".encode())
    return whole.hexdigest()


def find(name: str | Path) -> Path:
    """Return the folder of a model: for "hub:..." the downloaded one, for a name or path that of `folders.model`.

    Raises ValueError as `fetch` does.
    """
    return fetch(name) if hub.is_address(name) else folders.model(name)


def fetch(name: str | Path, endpoint: str | None = None) -> Path:
    """Return the folder of a native model "hub:OWNER/NAME" or "hub:OWNER/NAME@REVISION", downloaded if need be.

    The folder is in the hub's own cache, and opens without a network from then on. Of the repository only FILES are
    fetched, and nothing in them is run. Raises Refused for any other name, as `headlight.hub.fetch` does, and for a
    model in another format, with the command that imports it.
    """
    address = hub.parse_address(name)
    if address is None:
        raise Refused(
            f"{short(str(name))} is not the address of a model on the hub.",
            remedy="Write hub:OWNER/NAME, or hub:OWNER/NAME@REVISION.",
        )

    def choose(sizes: hub.Sizes) -> hub.Sizes:
        tokenizers = native.SHARED in sizes or {native.SOURCE, native.TARGET} <= sizes.keys()
        missing = [file for file in (native.CONFIG, native.WEIGHTS) if file not in sizes]
        if missing or not tokenizers:
            raise _not_native(address, f"it has no {(*missing, native.SHARED)[0]}")
        chosen = {file: sizes[file] for file in FILES if file in sizes}
        for file, size in chosen.items():
            largest = native.MAX_CONFIG_BYTES if file in (native.CONFIG, native.CARD) else MAX_JSON_BYTES
            if file != native.WEIGHTS and size > largest:
                raise Refused(f"{file} of {address} has {size:,} bytes; at most {largest:,} are read.")
        hub.require_small(address, chosen, len(FILES))
        return chosen

    def check(config: Path) -> None:
        values = read_json(config, native.MAX_CONFIG_BYTES)
        if not isinstance(values, dict) or "source_vocab_size" not in values:
            kind = values.get("model_type") if isinstance(values, dict) else None
            raise _not_native(address, "its config.json is in another format" + (f" ({short(kind)})" if kind else ""))

    return hub.fetch(address, choose, check, endpoint=endpoint)


def _not_native(address: hub.Address, why: str) -> Refused:
    command = f"{folders.COMMAND} import {address} --out models/{address.name.rpartition('/')[2]}"
    return Refused(
        f"{address} on the hub is not a model of Headlight: {why}.",
        remedy=f"If it is a Marian, BART, T5 or another model that can be imported: {command}",
    )


def _require_ours(folder: str | Path) -> Path:
    """Return the folder of a model. Raises ValueError if it does not exist, or is of a Hugging Face model."""
    folder = find(folder)
    require_readable(folder)
    if not os.path.isdir(folder):  # unlike Path.is_dir, False for a text that cannot be a path
        ship = ", ".join(folders.shipped()) or "missing"
        raise ValueError(f"There is no checkpoint folder {short(folder)}; the models that ship are {ship}.")
    values = read_json(folder / native.CONFIG, native.MAX_CONFIG_BYTES)
    if isinstance(values, dict) and "model_type" in values:
        raise ValueError(
            f"{short(folder)} is a Hugging Face model ({short(values['model_type'])}); import it first: "
            f"{folders.COMMAND} import {shlex.quote(short(folder))} --out checkpoints/NAME"
        )
    return folder


class Description(NamedTuple):
    card: dict[str, Any]
    config: ModelConfig
    parameters: dict[str, int]  # trainable: "all", and those that each part uses, where tied ones count for each
    dtypes: dict[str, int]  # the number of tensors by the type in which they are stored, such as BF16


def describe(folder: str | Path) -> Description:
    """Describe a checkpoint by its configuration, its card and the header of its weights; no weight is read.

    Raises ValueError as `load` does.
    """
    folder = _require_ours(folder)
    config, card = native.read_facts(folder)
    tensors = native.locate_tensors(config, folder / native.WEIGHTS)
    sizes = {name: stored.numbers for name, (stored, _) in tensors.items()}
    if config.positions == "stored":  # not trained
        sizes = {name: size for name, size in sizes.items() if not name.endswith(".positions.table")}
    parts = {part: sum(n for name, n in sizes.items() if name.startswith(part)) for part in _PARTS}
    table = "decoder.embedding.tokens.weight"
    shared = sizes[table if table in sizes else "encoder.embedding.tokens.weight"]
    parts["decoder"] += 0 if table in sizes else shared
    parts["output"] += 0 if "output.weight" in sizes else shared
    dtypes = Counter(stored.dtype for stored, _ in tensors.values())
    return Description(card, config, {"all": sum(sizes.values()), **parts}, dict(dtypes))


def load_tokenizer(
    path: str | Path,
    pad_id: int | None = None,
    sos_id: int | None = None,
    eos_id: int | None = None,
    size: int | None = None,
) -> Tokenizer:
    """Read a `tokenizer.json` that need not be trusted; see `Tokenizer.load`."""
    return Tokenizer.load(path, pad_id, sos_id, eos_id, size, tokenizer_json.opened)


def load_translator(folder: str | Path, device: str = "cpu", dtype: str | None = None) -> Translator:
    """Open a model that ships by its name, such as "en-fr", or any folder, trusted or not; return a `Translator`."""
    return Translator(load(folder, device, dtype))


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
    write_bytes(folder / WORDS_FILE, packed)
    return count


def _packed(words: Iterable[str]) -> bytes:
    return gzip.compress("\n".join(sorted(words)).encode(), mtime=0)


def read_words(folder: str | Path) -> frozenset[str]:
    """Return the words that the model of a folder was trained to read, in lower case; empty without a list."""
    file = find(folder) / WORDS_FILE
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


def update_card(folder: str | Path, facts: dict[str, Any]) -> None:
    """Add facts to the card of a checkpoint's folder; a card that is missing is created."""
    card = Path(folder) / native.CARD
    write_json(card, (read_json(card) if card.exists() else {}) | facts)

"""The files of an index of tokens: their format, and reading them without trusting them.

index.json                   the model's digest, the corpus, the counts and the checksums of all other files
sentences.jsonl              a line for each sentence: its source and its target
encoder.3.safetensors ...    the vectors of a `TokenSite` of each token, float16 of length 1
source_ids.safetensors ...   COLUMNS: the ids of the sentences, where each begins, which of them are tokens of the
                             index, and which token of the other side each was translated to

Shapes: N tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from headlight.analysis.similar.columns import SUFFIX, read_column
from headlight.analysis.similar.token_vectors import TokenSite
from headlight.checkpoints import file_checksum
from transformer.config import ModelConfig
from transformer.files import read_json
from transformer.model import Transformer
from transformer.quoting import quoted, short

EDITION = 1  # the version of the file format
FACTS_FILE, SENTENCES_FILE = "index.json", "sentences.jsonl"
COLUMNS = {
    "source_ids": "I32", "target_ids": "I32",  # of all sentences, one after the other
    "source_starts": "I64", "target_starts": "I64",  # the index in the ids at which each sentence starts, and their end
    "line_starts": "I64",  # the byte at which each sentence's line starts, and their end
    "source_tokens": "I64", "target_tokens": "I64",  # [N], the index in the ids of each token of the index
    "source_links": "I32", "target_links": "I32",  # [N], the linked token of the other sentence, or -1
}  # fmt: skip
MAX_TOKENS = 5_000_000  # on each side of an index
MAX_INDEX_BYTES = 32 * 2**30  # of all files of an index together
MAX_LINE_BYTES = 100_000  # of the line with a source and its target


class IndexRefused(ValueError):
    """An index that cannot be used; `reason` is "missing", "stale" (of another model) or "broken"."""

    def __init__(self, reason: Literal["missing", "stale", "broken"], text: str) -> None:
        super().__init__(text)
        self.reason = reason


def read_index(folder: Path, model: Transformer, digest: str | None) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return index.json, and the columns and the vectors of each site by name, mapped into memory.

    Raises IndexRefused unless the index is complete, consistent, and of the model with this digest.
    """
    if not (folder / FACTS_FILE).is_file():
        raise IndexRefused("missing", f"There is no index in {short(folder)}; make one with `headlight index`.")
    try:
        facts = read_json(folder / FACTS_FILE, MAX_LINE_BYTES)
        _require_facts(facts)
    except ValueError as error:
        raise broken_index(folder, str(error)) from None
    if facts["edition"] != EDITION:
        text = f"The index {short(folder)} was made by another version of Headlight; make it again."
        raise IndexRefused("stale", text)
    if facts["model"] != digest:
        text = f"The index {short(folder)} was made with another model, or before its weights changed; make it again."
        raise IndexRefused("stale", text)
    try:
        _require_checksums(folder, facts["files"])
        sites = [TokenSite.parse(name) for name in facts["sites"]]
        columns = {name: read_column(folder / (name + SUFFIX), (None,), dtype) for name, dtype in COLUMNS.items()}
        _require_consistent(columns, model.config, (folder / SENTENCES_FILE).stat().st_size)
        for site in sites:
            shape = len(columns[f"{site.side}_tokens"]), *site.shape(model)
            columns[str(site)] = read_column(folder / f"{site}{SUFFIX}", shape, "F16")
    except (ValueError, OSError) as error:
        raise broken_index(folder, str(error)) from None
    return facts, columns


def broken_index(folder: Path, why: str) -> IndexRefused:
    return IndexRefused("broken", f"The index {short(folder)} is broken: {why} Make it again.")


def _require_facts(facts: object) -> None:
    """Raise ValueError unless index.json has every entry that is read, of the right type."""
    kinds = {"edition": int, "model": str, "corpus": str, "sites": list, "files": dict}
    if not isinstance(facts, dict) or not all(isinstance(facts.get(name), kind) for name, kind in kinds.items()):
        raise ValueError(f"{FACTS_FILE} is not that of an index.")
    names = {SENTENCES_FILE, *(name + SUFFIX for name in COLUMNS), *(f"{site}{SUFFIX}" for site in facts["sites"])}
    if not all(isinstance(site, str) and str(TokenSite.parse(site)) == site for site in facts["sites"]):
        raise ValueError(f"{FACTS_FILE} names sites that do not exist.")
    if set(facts["files"]) != names:
        raise ValueError(f"{FACTS_FILE} does not list the files of an index.")


def _require_checksums(folder: Path, files: Mapping[str, Any]) -> None:
    """Raise ValueError for a file whose checksum is not the recorded one."""
    if sum((folder / name).stat().st_size for name in files) > MAX_INDEX_BYTES:
        raise ValueError(f"Its files are larger than {MAX_INDEX_BYTES:,} bytes together.")
    for name, checksum in files.items():
        if file_checksum(folder / name) != checksum:
            raise ValueError(f"{quoted(name)} is not as it was written.")


def _require_consistent(columns: Mapping[str, Tensor], config: ModelConfig, line_bytes: int) -> None:
    """Raise ValueError unless the tables of sentences and tokens fit each other and the model."""
    if not all(_consistencies(columns, config, line_bytes)):
        raise ValueError("Its tables of sentences and tokens do not fit each other or the model.")


def _consistencies(columns: Mapping[str, Tensor], config: ModelConfig, line_bytes: int) -> Iterator[bool]:
    lines = columns["line_starts"]
    yield _rises(lines, line_bytes)
    yield int(lines.diff().max()) <= MAX_LINE_BYTES
    for side, size in (("source", config.source_vocab_size), ("target", config.target_vocab_size)):
        ids, starts, places, links = (columns[f"{side}_{name}"] for name in ("ids", "starts", "tokens", "links"))
        yield len(starts) == len(lines)
        yield _rises(starts, len(ids))
        yield int(starts.diff().max()) <= config.max_length
        yield int(ids.min()) >= 0 and int(ids.max()) < size
        yield 0 < len(places) == len(links) <= MAX_TOKENS
        yield int(places[0]) >= 0 and int(places[-1]) < len(ids) and bool((places.diff() > 0).all())


def _rises(starts: Tensor, end: int) -> bool:
    """Return whether positions rise from 0 to `end`."""
    return len(starts) > 1 and int(starts[0]) == 0 and int(starts[-1]) == end and bool((starts.diff() > 0).all())

"""A corpus as token ids on disk, read again in every pass without being tokenized again.

tokens.bin   the ids of every example, source then target, one after the other
lengths.bin  two numbers per example: the numbers of ids of its source and of its target

A pass reads the files in chunks, so its memory does not grow with the corpus, and yields ids as arrays, which take a
tenth of the memory of lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from transformer.files import open_regular, read_json, write_json
from transformer.quoting import short

if TYPE_CHECKING:  # reading a corpus needs no torch
    from transformer.batches import Example

TOKENS_FILE, LENGTHS_FILE, FACTS_FILE = "tokens.bin", "lengths.bin", "facts.json"
COUNT_FIELDS = ("pairs", "source_tokens", "target_tokens")
DTYPES = ("uint16", "uint32")
CHUNK_EXAMPLES = 1000  # examples that are read at once


class Packed:
    """The examples of a packed corpus: `pairs` of them with `source_tokens` and `target_tokens`, special ones included.

    Raises ValueError where `folder` holds no complete packed corpus.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        facts = read_json(self.folder / FACTS_FILE)
        fields = facts if isinstance(facts, dict) else {}
        counts = [n for name in COUNT_FIELDS if type(n := fields.get(name)) is int and n >= 0]
        if len(counts) < len(COUNT_FIELDS) or fields.get("dtype") not in DTYPES:
            raise ValueError(f"{short(self.folder / FACTS_FILE)} does not say what the corpus is; pack it again.")
        self.pairs, self.source_tokens, self.target_tokens = counts
        self.dtype = np.dtype(fields["dtype"])
        token_bytes = (self.source_tokens + self.target_tokens) * self.dtype.itemsize
        expected = {TOKENS_FILE: token_bytes, LENGTHS_FILE: self.pairs * 8}
        for name, size in expected.items():
            path = self.folder / name
            if not path.is_file() or path.stat().st_size != size:
                raise ValueError(
                    f"{short(self.folder / name)} is not the {size:,} bytes that {FACTS_FILE} says; pack it again."
                )

    def check(self, vocab_size: int) -> None:
        """Read all ids. Raises ValueError where they cannot be of a corpus with `vocab_size` tokens."""
        if not self.pairs:
            raise ValueError(f"{short(self.folder / FACTS_FILE)} has no pair; pack it again.")
        lengths = np.fromfile(self.folder / LENGTHS_FILE, np.int32).reshape(-1, 2)
        if lengths.min() < 1 or lengths.sum(0, np.int64).tolist() != [self.source_tokens, self.target_tokens]:
            raise ValueError(f"{short(self.folder / LENGTHS_FILE)} does not fit {FACTS_FILE}; pack it again.")
        if np.memmap(self.folder / TOKENS_FILE, self.dtype, "r").max() >= vocab_size:
            raise ValueError(
                f"{short(self.folder / TOKENS_FILE)} has tokens that are not in the vocabulary; pack it again."
            )

    def __iter__(self) -> Iterator[Example]:
        with open_regular(self.folder / TOKENS_FILE) as tokens, open_regular(self.folder / LENGTHS_FILE) as lengths:
            while len(sides := np.fromfile(lengths, np.int32, 2 * CHUNK_EXAMPLES)):
                ends = np.cumsum(sides).tolist()
                ids = np.fromfile(tokens, self.dtype, ends[-1])
                for start, middle, end in zip([0, *ends[1:-1:2]], ends[::2], ends[1::2], strict=True):
                    yield ids[start:middle], ids[middle:end]


def pack_examples(examples: Iterable[Example], folder: str | Path, vocab_size: int) -> Packed:
    """Write `examples`, whose ids are below `vocab_size`, into `folder`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FACTS_FILE).unlink(missing_ok=True)  # written last: without it the folder is no corpus
    dtype = np.dtype(np.uint16 if vocab_size <= 2**16 else np.uint32)
    totals = np.zeros(2, np.int64)
    with open(folder / TOKENS_FILE, "wb") as tokens, open(folder / LENGTHS_FILE, "wb") as lengths:
        for example in examples:
            sides = np.array([len(side) for side in example], np.int32)
            tokens.write(np.array([*example[0], *example[1]], dtype).tobytes())
            lengths.write(sides.tobytes())
            totals += sides
    source, target = totals.tolist()
    pairs = (folder / LENGTHS_FILE).stat().st_size // 8
    facts = {"pairs": pairs, "source_tokens": source, "target_tokens": target, "dtype": dtype.name}
    write_json(folder / FACTS_FILE, facts)
    return Packed(folder)

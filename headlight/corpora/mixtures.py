"""Mixtures of several corpora, each with a weight: "tatoeba:en-fr + multi30k:en-fr*2"."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from itertools import repeat

from headlight.corpora.pairs import Corpus, Pair, Rejected
from transformer.quoting import quoted, short

PART_SEPARATOR = " + "
_WEIGHTED = re.compile(r"(.+?)\*(\d+(?:\.\d+)?)")
MAX_WEIGHT, MAX_PARTS = 1000.0, 20


def is_mixture(spec: str) -> bool:
    return PART_SEPARATOR in spec or _WEIGHTED.fullmatch(spec) is not None


def weighted_parts(spec: str) -> list[tuple[str, float]]:
    """Return the corpora that `spec` joins with " + ", each with its weight, which follows its name as "*2".

    Raises ValueError for a part without a name, a weight that is not above 0, a second weight, and too many parts.
    """
    weighted_names, parts = [], spec.split(PART_SEPARATOR)
    if len(parts) > MAX_PARTS:
        raise ValueError(f"{len(parts):,} corpora are too many for a mixture; choose at most {MAX_PARTS}.")
    for part in parts:
        weighted = _WEIGHTED.fullmatch(part.strip())
        name, times = (weighted[1].strip(), float(weighted[2])) if weighted else (part.strip(), 1.0)
        if not name:
            raise ValueError(f"{quoted(spec)} has a part without a name; write CORPUS{PART_SEPARATOR}CORPUS*2.")
        if _WEIGHTED.fullmatch(name):
            raise ValueError(f"{quoted(part)} has two weights; write one, their product.")
        if not 0.0 < times <= MAX_WEIGHT:
            raise ValueError(f"{quoted(part)} is weighted {times:g}; write a number above 0 and up to {MAX_WEIGHT:g}.")
        weighted_names.append((name, times))
    return weighted_names


class Mixture(Corpus):
    """A mixture of `parts`, each a corpus with its weight: 2 yields each of its pairs twice, 0.5 every second pair.

    Once the rows of all parts are counted, they are interleaved evenly, so that shuffling in pools mixes them. Before
    that, a pass takes from all parts in turn and ends with the rest of the longer parts, which is enough for a preview.
    A pair's `origin` is the name of its part.
    """

    def __init__(self, parts: Sequence[tuple[Corpus, float]]) -> None:
        names = short(PART_SEPARATOR.join(corpus.name for corpus, _ in parts))
        super().__init__(names, max(corpus.max_characters for corpus, _ in parts))
        self.parts = list(parts)
        self._rows = [1] * len(parts)

    def count_rows(self) -> None:
        """Read every part to its end."""
        self._rows = [sum(1 for _ in corpus.rows()) for corpus, _ in self.parts]

    def rows(self) -> Iterator[Pair | Rejected]:
        streams = [
            _with_positions(corpus, times, number, rows)
            for number, ((corpus, times), rows) in enumerate(zip(self.parts, self._rows, strict=True))
        ]
        for _, number, row in heapq.merge(*streams):
            yield _with_origin(row, self.parts[number][0].name)


def _with_positions(
    corpus: Corpus, times: float, number: int, rows: int
) -> Iterator[tuple[float, int, Pair | Rejected]]:
    """Yield (position in the pass, number of the corpus, row) for each row, as often as its weight says."""
    for index, row in enumerate(corpus.rows()):
        count = int((index + 1) * times) - int(index * times)
        yield from repeat(((index + 0.5) / rows, number, row), count)


def _with_origin(row: Pair | Rejected, origin: str) -> Pair | Rejected:
    if isinstance(row, Rejected):
        return Rejected(row.line, f"{row.reason} in {origin}")
    return row._replace(origin=origin)

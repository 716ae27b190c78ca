"""Validation pairs apart from training pairs: held out of the corpus, or left out where they are trained on."""

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from itertools import islice

from headlight.corpora.pairs import Corpus, Pair, Pairs, Rejected

HELD_OUT = "held out to validate on"  # why a pair is not trained on
IN_BOTH = "also in the training data"  # why a pair is not validated on
FEWEST = 50  # different pairs: of fewer, each one that is held out takes words with it that no other pair teaches


def hold_out(corpus: Corpus) -> tuple[Corpus, Corpus | None]:
    """(the rest, 1 % of the pairs), the same ones in every run: those with the smallest hashes of their text.

    At least 1 pair and at most 2,000, chosen among the first 200,000. Equal pairs stay on one side.
    Of fewer than `FEWEST` different pairs none is held out: (the corpus, None).
    """
    seen: set[bytes] = set()

    def different() -> Iterator[tuple[bytes, Pair]]:
        for pair in islice(corpus, 200_000):
            if (key := _hash(pair)) not in seen:
                seen.add(key)
                yield key, pair

    smallest = heapq.nsmallest(2000, different())
    held = dict(smallest[: held_out_of(len(seen))])
    if not held:
        return corpus, None
    name = f"{corpus.name}, {len(held):,} pairs held out"
    return _Without(corpus, set(held)), Pairs(name, held.values(), corpus.max_characters)


def held_out_of(different: int) -> int:
    """How many of so many different pairs are held out."""
    return 0 if different < FEWEST else min(2000, max(1, min(different, 200_000) // 100))


class _Without(Corpus):
    """A corpus that rejects the pairs with these hashes, each as often as it stands there, as HELD_OUT."""

    def __init__(self, corpus: Corpus, hashes: set[bytes]) -> None:
        super().__init__(f"{corpus.name}, less the pairs held out", corpus.max_characters)
        self.corpus, self.hashes = corpus, hashes

    def count_rows(self) -> None:
        self.corpus.count_rows()

    def rows(self) -> Iterator[Pair | Rejected]:
        for row in self.corpus.rows():
            held = isinstance(row, Pair) and _hash(row) in self.hashes
            yield Rejected(row.line, HELD_OUT) if held else row


def kept_apart(train: Corpus, validation: Corpus) -> tuple[Corpus, Corpus]:
    """Both corpora; once the first was read to its end, the second rejects the pairs that both have, as IN_BOTH."""
    pairs = Pairs(validation.name, validation, validation.max_characters)
    compared = _Compared(train, pairs)
    return compared, _Apart(pairs, compared)


class _Compared(Corpus):
    """A corpus that notes, while it is read, which of `others` it has."""

    def __init__(self, corpus: Corpus, others: Iterable[Pair]) -> None:
        super().__init__(corpus.name, corpus.max_characters)
        self.corpus = corpus
        self.others, self.found = {_hash(pair) for pair in others}, set[bytes]()

    def count_rows(self) -> None:
        self.corpus.count_rows()

    def rows(self) -> Iterator[Pair | Rejected]:
        for row in self.corpus.rows():
            if isinstance(row, Pair) and (key := _hash(row)) in self.others:
                self.found.add(key)
            yield row


class _Apart(Corpus):
    """A corpus whose pairs are rejected where another was found to have them."""

    def __init__(self, corpus: Corpus, other: _Compared) -> None:
        super().__init__(corpus.name, corpus.max_characters)
        self.corpus, self.other = corpus, other

    def rows(self) -> Iterator[Pair | Rejected]:
        for row in self.corpus.rows():
            doubled = isinstance(row, Pair) and _hash(row) in self.other.found
            yield Rejected(row.line, IN_BOTH) if doubled else row


def _hash(pair: Pair) -> bytes:
    texts = f"{pair.source.strip()}\n{pair.target.strip()}"
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).digest()

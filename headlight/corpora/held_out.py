"""Separate validation from training pairs: hold pairs out, or reject validation pairs that are in the training data."""

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from itertools import islice

from headlight.corpora.pairs import ChangedCorpus, Corpus, Pair, Pairs, Rejected

HELD_OUT = "held out to validate on"  # the reason for rejecting a training pair
IN_TRAINING = "also in the training data"  # the reason for rejecting a validation pair
MIN_PAIRS = 50  # distinct pairs; with fewer, a held-out pair has words that no other pair teaches


def hold_out(corpus: Corpus) -> tuple[Corpus, Corpus | None]:
    """Return (the rest, the held-out pairs): 1 % of the pairs, those with the smallest hashes, the same in every run.

    At least 1 pair and at most 2,000 are held out, of the first 200,000. Equal pairs stay on one side. With fewer than
    `MIN_PAIRS` distinct pairs, nothing is held out and the result is (the corpus, None).
    """
    distinct: set[bytes] = set()

    def distinct_pairs() -> Iterator[tuple[bytes, Pair]]:
        for pair in islice(corpus, 200_000):
            if (key := _hash(pair)) not in distinct:
                distinct.add(key)
                yield key, pair

    smallest = heapq.nsmallest(2000, distinct_pairs())
    validation = dict(smallest[: held_out_count(len(distinct))])
    if not validation:
        return corpus, None
    name = f"{corpus.name}, {len(validation):,} pairs held out"
    return _WithoutHeldOut(corpus, set(validation)), Pairs(name, validation.values(), corpus.max_characters)


def held_out_count(distinct: int) -> int:
    """Return how many of `distinct` pairs are held out."""
    return 0 if distinct < MIN_PAIRS else min(2000, max(1, min(distinct, 200_000) // 100))


class _WithoutHeldOut(ChangedCorpus):
    """A corpus that rejects all pairs with these hashes as HELD_OUT."""

    def __init__(self, corpus: Corpus, hashes: set[bytes]) -> None:
        super().__init__(corpus, f"{corpus.name}, less the pairs held out")
        self.hashes = hashes

    def change(self, pair: Pair) -> Pair | Rejected:
        return Rejected(pair.line, HELD_OUT) if _hash(pair) in self.hashes else pair


def separate(train: Corpus, validation: Corpus) -> tuple[Corpus, Corpus]:
    """Return both corpora. Once train has been read to its end, validation rejects the common pairs as IN_TRAINING."""
    pairs = Pairs(validation.name, validation, validation.max_characters)
    compared = _Compared(train, pairs)
    return compared, _Separated(pairs, compared)


class _Compared(ChangedCorpus):
    """A corpus that records in `common`, while it is read, the pairs that another corpus has, too."""

    def __init__(self, corpus: Corpus, other: Iterable[Pair]) -> None:
        super().__init__(corpus)
        self.other, self.common = {_hash(pair) for pair in other}, set[bytes]()

    def change(self, pair: Pair) -> Pair:
        if (key := _hash(pair)) in self.other:
            self.common.add(key)
        return pair


class _Separated(ChangedCorpus):
    """A corpus that rejects the pairs in `common` of another corpus, as IN_TRAINING."""

    def __init__(self, corpus: Corpus, other: _Compared) -> None:
        super().__init__(corpus)
        self.other = other

    def change(self, pair: Pair) -> Pair | Rejected:
        return Rejected(pair.line, IN_TRAINING) if _hash(pair) in self.other.common else pair


def _hash(pair: Pair) -> bytes:
    texts = f"{pair.source.strip()}\n{pair.target.strip()}"
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).digest()

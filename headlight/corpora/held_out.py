"""Separate validation pairs from training pairs: by holding pairs out, or by leaving out those that are trained on."""

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from itertools import islice

from headlight.corpora.pairs import ChangedCorpus, Corpus, Pair, Pairs, Rejected

HELD_OUT = "held out to validate on"  # why a pair is not trained on
IN_TRAINING = "also in the training data"  # why a pair is not validated on
MIN_PAIRS = 50  # different ones: among fewer, a pair that is held out has words that no other pair teaches


def hold_out(corpus: Corpus) -> tuple[Corpus, Corpus | None]:
    """Return (the rest, 1 % of the pairs), the same ones in every run: those with the smallest hashes of their text.

    At least 1 pair and at most 2,000, chosen among the first 200,000. Equal pairs stay on one side.
    Of fewer than `MIN_PAIRS` different pairs none is held out: (the corpus, None).
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


def held_out_count(different: int) -> int:
    """Return how many of so many different pairs are held out."""
    return 0 if different < MIN_PAIRS else min(2000, max(1, min(different, 200_000) // 100))


class _WithoutHeldOut(ChangedCorpus):
    """A corpus that rejects the pairs with these hashes as HELD_OUT, each as often as it comes."""

    def __init__(self, corpus: Corpus, hashes: set[bytes]) -> None:
        super().__init__(corpus, f"{corpus.name}, less the pairs held out")
        self.hashes = hashes

    def change(self, pair: Pair) -> Pair | Rejected:
        return Rejected(pair.line, HELD_OUT) if _hash(pair) in self.hashes else pair


def separate(train: Corpus, validation: Corpus) -> tuple[Corpus, Corpus]:
    """Return both corpora; once the first was read to its end, the second rejects the pairs of both, as IN_TRAINING."""
    pairs = Pairs(validation.name, validation, validation.max_characters)
    compared = _Compared(train, pairs)
    return compared, _Separated(pairs, compared)


class _Compared(ChangedCorpus):
    """A corpus that notes, while it is read, which of the pairs of another corpus it has."""

    def __init__(self, corpus: Corpus, other: Iterable[Pair]) -> None:
        super().__init__(corpus)
        self.other, self.common = {_hash(pair) for pair in other}, set[bytes]()

    def change(self, pair: Pair) -> Pair:
        if (key := _hash(pair)) in self.other:
            self.common.add(key)
        return pair


class _Separated(ChangedCorpus):
    """A corpus that rejects the pairs that another was found to have as well, as IN_TRAINING."""

    def __init__(self, corpus: Corpus, other: _Compared) -> None:
        super().__init__(corpus)
        self.other = other

    def change(self, pair: Pair) -> Pair | Rejected:
        return Rejected(pair.line, IN_TRAINING) if _hash(pair) in self.other.common else pair


def _hash(pair: Pair) -> bytes:
    texts = f"{pair.source.strip()}\n{pair.target.strip()}"
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).digest()

"""A fingerprint of training pairs: a small sample of their hashes, by which a model's own training data is recognised.

The sample is bottom-k (Cohen and Kaplan 2007): the SAMPLE_HASHES smallest hashes. Pairs whose hash is below the largest
of them can be looked up, and are a random sample of all pairs.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from headlight.corpora.pairs import Pair

SAMPLE_HASHES = 2000  # of 1,000 pairs from a corpus of 300,000, about 7 can be looked up
HASH_BYTES = 5  # two of 300,000 pairs have the same hash with a probability of 0.04
CARD_KEY = "trained_on"


class Overlap(NamedTuple):
    """The number of pairs that could be looked up, and how many of them the model was trained on."""

    in_training: int
    looked_up: int


class Fingerprint:
    """A sample of the pairs that a model is trained on. Case, punctuation and spaces are ignored."""

    def __init__(self) -> None:
        self.pairs = 0
        self._hashes: set[int] = set()
        self._limit = 1 << (8 * HASH_BYTES)  # hashes from here on are not in the sample

    def add(self, pair: Pair) -> None:
        self.pairs += 1
        number = _hash(pair)
        if number < self._limit:
            self._hashes.add(number)
            if len(self._hashes) >= 2 * SAMPLE_HASHES:
                self._shrink()

    def to_card(self, before: object = None) -> dict[str, Any]:
        """Return the card's entry, merged with `before`, the entry of an earlier training."""
        pairs = self.pairs
        if (earlier := _parse_card(before)) is not None:
            pairs += earlier[0]
            self._limit = min(self._limit, earlier[2])
            self._hashes = {number for number in self._hashes | earlier[1] if number < self._limit}
        self._shrink()
        sample = b"".join(number.to_bytes(HASH_BYTES, "big") for number in sorted(self._hashes))
        return {"pairs": pairs, "limit": self._limit, "sample": base64.b64encode(sample).decode()}

    def _shrink(self) -> None:
        if len(self._hashes) > SAMPLE_HASHES:
            smallest = sorted(self._hashes)
            self._hashes, self._limit = set(smallest[:SAMPLE_HASHES]), smallest[SAMPLE_HASHES]


def overlap(card: Mapping[str, Any], pairs: Iterable[Pair]) -> Overlap | None:
    """Return how many of `pairs` the model of `card` was trained on; None where its card has no fingerprint."""
    fingerprint = _parse_card(card.get(CARD_KEY))
    if fingerprint is None:
        return None
    _, hashes, limit = fingerprint
    looked_up = [number for number in {_hash(pair) for pair in pairs} if number < limit]
    return Overlap(sum(number in hashes for number in looked_up), len(looked_up))


def _hash(pair: Pair) -> int:
    text = "\t".join("".join(filter(str.isalnum, side.casefold())) for side in (pair.source, pair.target))
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=HASH_BYTES).digest(), "big")


def _parse_card(value: object) -> tuple[int, set[int], int] | None:
    """Return pairs, hashes and limit as `to_card` wrote them; a card may come from anywhere."""
    if not isinstance(value, Mapping):
        return None
    pairs, limit, sample = (value.get(name) for name in ("pairs", "limit", "sample"))
    if not (isinstance(pairs, int) and isinstance(limit, int) and isinstance(sample, str)):
        return None
    try:
        packed = base64.b64decode(sample, validate=True)
    except (binascii.Error, ValueError):
        return None
    numbers = range(0, len(packed) - HASH_BYTES + 1, HASH_BYTES)
    return pairs, {int.from_bytes(packed[at : at + HASH_BYTES], "big") for at in numbers}, limit

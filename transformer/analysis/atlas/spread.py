"""A number of each head over many sentences: its mean, its spread, and the sentences where it is most and least.

Shapes: L layers, H heads, B sentences. Sums are whole numbers, so they do not depend on the order in which parts
are added: several processes find bit for bit what one finds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

UNIT = 2**24  # of which the sums count whole numbers; 512 squared, a million times, still fits into 64 bits
TWO_DIGITS = 100  # steps of 1 in which sentences agree, if nothing else is said
SURE = 1.96  # standard errors on both sides of a mean hold 95 % of what another sample would give
NOTHING = np.iinfo(np.int64).min
NOBODY = np.iinfo(np.int64).max  # the index of no sentence


@dataclass
class Sums:
    """Running sums of a value that every sentence has for each head, [L, H]; NaN where it has none.

    A value stands for so many `units` of its sentence: 1, or the words or pronouns that it is a share of.
    """

    shape: tuple[int, int]
    steps: int = TWO_DIGITS  # of 1; values that differ by less count as the same where the most and least are sought
    # Sentences, Σ value, Σ value² in whole units and the rest of it in units of units, units, Σ value * units.
    parts: np.ndarray = field(init=False)  # [6, L, H] int64
    most: np.ndarray = field(init=False)  # [2 (the largest, the smallest), 3 (rank, index, value), L, H] int64

    def __post_init__(self) -> None:
        self.parts = np.zeros((6, *self.shape), np.int64)
        self.most = np.zeros((2, 3, *self.shape), np.int64)
        self.most[:, 0], self.most[:, 1] = NOTHING, NOBODY

    def add(self, layer: int, values: np.ndarray, units: np.ndarray, indices: np.ndarray, lengths: np.ndarray) -> None:
        """Values [B, H] of one layer, with units, places in the corpus and lengths in tokens, [B] each."""
        there = ~np.isnan(values)
        if not there.any():
            return
        clean = np.where(there, values, 0.0).astype(np.float64)
        whole = np.rint(clean * UNIT).astype(np.int64)
        # The square of an importance is less than a unit, and what is left of it is counted, too.
        squares = clean**2 * UNIT
        rest = np.rint((squares - np.floor(squares)) * UNIT)
        weight = units[:, None] * there
        self.parts[:, layer] += np.stack(
            [
                there.sum(0),
                whole.sum(0),
                np.floor(squares).astype(np.int64).sum(0),
                rest.astype(np.int64).sum(0),
                weight.sum(0),
                (whole * weight).sum(0),
            ]
        )
        for side, sign in enumerate((1, -1)):
            # Among sentences that agree the longer one shows more, up to 20 tokens.
            rank = np.rint(sign * clean * self.steps).astype(np.int64) * 64 + np.minimum(lengths, 20)[:, None]
            rank = np.where(there & (lengths >= 5)[:, None], rank, np.where(there, rank - 2**40, NOTHING))
            best = rank.argmax(0)
            heads = np.arange(rank.shape[1])
            index = np.where(there.any(0), indices[best], NOBODY)
            self._offer(side, layer, np.stack([rank[best, heads], index, whole[best, heads]]))

    def _offer(self, side: int, layer: int | slice, offered: np.ndarray) -> None:
        had = self.most[side, :, layer]
        better = (offered[0] > had[0]) | ((offered[0] == had[0]) & (offered[1] < had[1]))
        self.most[side, :, layer] = np.where(better, offered, had)

    def join(self, parts: np.ndarray, most: np.ndarray) -> None:
        """Adds what another one has found."""
        self.parts += parts
        for side in (0, 1):
            self._offer(side, slice(None), most[side])

    def spread(self) -> Spread:
        count, total, squares, rest, units, weighted = self.parts.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_sentence = total / UNIT / count
            # The mean of squares less the square of the mean; their rounding must not make it negative.
            square = (squares + rest / UNIT) / UNIT / count
            variance = np.maximum(square - by_sentence**2, 0.0) * count / np.maximum(count - 1, 1)
            mean = weighted / UNIT / units
        nobody = self.most[:, 1] == NOBODY
        most, least = np.where(nobody, -1, self.most[:, 1])
        largest, smallest = np.where(nobody, np.nan, self.most[:, 2] / UNIT)
        return Spread(mean, np.sqrt(variance), self.parts[0], self.parts[4], most, least, largest, smallest)


@dataclass(frozen=True)
class Spread:
    """One measure of each head over a corpus, [L, H] each."""

    mean: np.ndarray  # over all units; NaN where there is none
    deviation: np.ndarray  # standard deviation of the sentences' own values
    sentences: np.ndarray
    units: np.ndarray  # sentences, or words or pronouns, that the mean is taken over
    most: np.ndarray  # the sentence of the largest value by its place in the corpus, -1 where there is none
    least: np.ndarray
    largest: np.ndarray  # the value in that sentence, NaN where there is none
    smallest: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """Half the width of the mean's 95 % interval, sentences taken as drawn at random."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return SURE * self.deviation / np.sqrt(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, NaN as null."""
        return {
            name: [[None if np.isnan(value) else value for value in row] for row in array.tolist()]
            for name, array in vars(self).items()
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Spread:
        counted = {"sentences", "units", "most", "least"}
        return cls(**{n: np.array(array, np.int64 if n in counted else np.float64) for n, array in values.items()})

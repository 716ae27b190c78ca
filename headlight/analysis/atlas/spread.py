"""A number of each head over many sentences: its mean, its spread, and the sentences where it is most and least.

Shapes: L layers, H heads, B sentences. Sums are whole numbers, so they do not depend on the order in which parts
are added: several processes find bit for bit what one finds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

FIXED_POINT_ONE = 2**24  # the fixed-point form of 1; a million times 512 squared still fits into 64 bits
Z_95_PERCENT = 1.96  # standard errors on both sides of a mean hold 95 % of what another sample would give
LONG_SENTENCE_TOKENS = 5  # a shorter sentence shows little
MAX_COUNTED_TOKENS = 20  # longer sentences count as equally long
NO_SENTENCE = np.iinfo(np.int64).max  # the index of no sentence
# The numbers that are stored for the sentence with the largest value, and for that with the smallest. The first three
# rank the sentences: whether a sentence is long (1, 0, or -1 for no sentence), its value in steps, and its length. Of
# sentences that these rank alike, the first in the corpus is chosen.
IS_LONG, STEPS, TOKENS, INDEX, VALUE = range(5)


@dataclass
class Sums:
    """Running sums, [L, H], of a value that each sentence has for each head; NaN is left out.

    A value is weighted by its number of `units`: 1, or the words or pronouns of the sentence that it is a share of.
    """

    shape: tuple[int, int]
    steps: int = 100  # per 1; values that round to the same step rank alike as largest and smallest
    # Sentences, Σ value, Σ value² (its fixed-point integer, then the fraction left of it), units, Σ value * units.
    parts: np.ndarray = field(init=False)  # [6, L, H] int64
    most: np.ndarray = field(init=False)  # [2 (the largest, the smallest), 5 (IS_LONG to VALUE), L, H] int64

    def __post_init__(self) -> None:
        self.parts = np.zeros((6, *self.shape), np.int64)
        self.most = np.zeros((2, 5, *self.shape), np.int64)
        self.most[:, IS_LONG], self.most[:, INDEX] = -1, NO_SENTENCE

    def add(self, layer: int, values: np.ndarray, units: np.ndarray, indices: np.ndarray, lengths: np.ndarray) -> None:
        """Add values [B, H] of one layer, with units, indices in the corpus and lengths in tokens, [B] each."""
        measured = ~np.isnan(values)
        if not measured.any():
            return
        clean = np.where(measured, values, 0.0).astype(np.float64)
        fixed = np.rint(clean * FIXED_POINT_ONE).astype(np.int64)
        # The square of an importance is below the fixed-point resolution, so its fraction is summed, too.
        squares = clean**2 * FIXED_POINT_ONE
        fractions = np.rint((squares - np.floor(squares)) * FIXED_POINT_ONE)
        weight = units[:, None] * measured
        self.parts[:, layer] += np.stack(
            [
                measured.sum(0),
                fixed.sum(0),
                np.floor(squares).astype(np.int64).sum(0),
                fractions.astype(np.int64).sum(0),
                weight.sum(0),
                (fixed * weight).sum(0),
            ]
        )
        for side, sign in enumerate((1, -1)):
            counted_tokens = np.minimum(lengths, MAX_COUNTED_TOKENS)
            of_sentence = np.stack([lengths >= LONG_SENTENCE_TOKENS, counted_tokens, indices])[..., None]
            enough, tokens, index = np.broadcast_arrays(*of_sentence, clean)[:3]
            steps = np.rint(sign * clean * self.steps).astype(np.int64)
            every = np.stack(
                [np.where(measured, enough, -1), steps, tokens, np.where(measured, index, NO_SENTENCE), fixed]
            )
            best = _best(every[:INDEX])
            self._offer(side, layer, every[:, best, np.arange(len(best))])

    def _offer(self, side: int, layer: int | slice, offered: np.ndarray) -> None:
        """Replace the sentence with the largest or smallest value of each head where `offered` ranks higher."""
        held = self.most[side, :, layer]
        better, same = np.zeros(held.shape[1:], bool), np.ones(held.shape[1:], bool)
        for new, old in zip((*offered[:INDEX], -offered[INDEX]), (*held[:INDEX], -held[INDEX]), strict=True):
            better |= same & (new > old)
            same &= new == old
        self.most[side, :, layer] = np.where(better, offered, held)

    def join(self, parts: np.ndarray, most: np.ndarray) -> None:
        """Add the sums of another process."""
        self.parts += parts
        for side in (0, 1):
            self._offer(side, slice(None), most[side])

    def spread(self) -> MeasureSpread:
        count, total, squares, fractions, units, weighted = self.parts.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_sentence = total / FIXED_POINT_ONE / count
            # The mean of squares less the square of the mean; their rounding must not make it negative.
            square = (squares + fractions / FIXED_POINT_ONE) / FIXED_POINT_ONE / count
            variance = np.maximum(square - by_sentence**2, 0.0) * count / np.maximum(count - 1, 1)
            mean = weighted / FIXED_POINT_ONE / units
        is_empty = self.most[:, INDEX] == NO_SENTENCE
        most, least = np.where(is_empty, -1, self.most[:, INDEX])
        largest, smallest = np.where(is_empty, np.nan, self.most[:, VALUE] / FIXED_POINT_ONE)
        return MeasureSpread(mean, np.sqrt(variance), self.parts[0], self.parts[4], most, least, largest, smallest)


def _best(keys: np.ndarray) -> np.ndarray:
    """Return the first sentence of each head that is largest by the first of `keys` [N, B, H], then by the next: [H].
    """
    tied = np.ones(keys.shape[1:], bool)
    for key in keys:
        tied &= key == np.where(tied, key, np.iinfo(key.dtype).min).max(0)
    return tied.argmax(0)


@dataclass(frozen=True)
class MeasureSpread:
    """A measure of each head over a corpus, [L, H] each."""

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
        """Half the width of the mean's 95 % interval, with sentences as a random sample."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return Z_95_PERCENT * self.deviation / np.sqrt(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return the measure as JSON has it, NaN as null."""
        return {
            name: [[None if np.isnan(value) else value for value in row] for row in array.tolist()]
            for name, array in vars(self).items()
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> MeasureSpread:
        counted = {"sentences", "units", "most", "least"}
        return cls(**{n: np.array(array, np.int64 if n in counted else np.float64) for n, array in values.items()})

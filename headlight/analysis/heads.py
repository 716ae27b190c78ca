"""What a head does, in numbers: how widely, how far and where it looks.

Shapes: L layers, H heads, Q queries, K keys. Patterns are [..., Q, K]; every measure gives [...].

All measures are means over the rows, and each row counts as shares of its own sum. So a head that was
scaled measures as it did before, and a row that sums to 0 (of a head that is switched off) is left out; a
head with no row left measures NaN.

Query i and key j are compared by their places in their own sentences. In cross-attention, i counts the
tokens that are written and j those of the source, and neither is scaled to the other's length: a distance
is a number of tokens, and the same position is the key of the same number. In the decoder, whose first tokens can
look at little but themselves, the share on the same position is high in a short sentence for that reason alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headlight.analysis.combine import normalise


def _mean_over_rows(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """The mean of `values` [..., Q] where `counted` (broadcasts to it); NaN where nothing counts."""
    counted = np.broadcast_to(counted, values.shape)
    number = counted.sum(-1)
    total = np.where(counted, values, 0.0).sum(-1)
    return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)


def _shares(patterns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows as shares, and which of them [..., Q] have any."""
    shares = normalise(patterns.astype(np.float64))
    return shares, (shares != 0).any(-1)


def entropy(patterns: np.ndarray) -> np.ndarray:
    """-Σ p log2 p, in bits: 0 for a head that looks at one key, log2 K for one that looks at K keys alike."""
    shares, on = _shares(patterns)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.abs(_mean_over_rows(-(shares * logs).sum(-1), on))  # abs: a sharp row's entropy is 0, not -0


def mean_distance(patterns: np.ndarray) -> np.ndarray:
    """Σ p |i - j|, in tokens: how far from the query's own position a head looks."""
    shares, on = _shares(patterns)
    return _mean_over_rows((shares * _distances(*patterns.shape[-2:])).sum(-1), on)


def _distances(queries: int, keys: int) -> np.ndarray:
    return np.abs(np.arange(queries)[:, None] - np.arange(keys))


def diagonal(patterns: np.ndarray, masked: np.ndarray | None = None) -> np.ndarray:
    """The share on the key of the query's own number; rows without such a key are left out."""
    return _on_offset(patterns, 0, masked)


def previous(patterns: np.ndarray, masked: np.ndarray | None = None) -> np.ndarray:
    """The share on the key before the query's own number; rows without it, as the first, are left out."""
    return _on_offset(patterns, -1, masked)


def following(patterns: np.ndarray, masked: np.ndarray | None = None) -> np.ndarray:
    """The share on the key after the query's own number; rows without it, as the last, are left out."""
    return _on_offset(patterns, 1, masked)


def _on_offset(patterns: np.ndarray, offset: int, masked: np.ndarray | None) -> np.ndarray:
    """The share on key i + offset, over the rows that have that key and may see it."""
    queries, keys = patterns.shape[-2:]
    there = np.arange(queries) + offset
    rows = np.flatnonzero((there >= 0) & (there < keys))
    if masked is not None:
        rows = rows[~masked[rows, rows + offset]]
    shares, on = _shares(patterns[..., rows, :])
    return _mean_over_rows(shares[..., np.arange(len(rows)), rows + offset], on)


def on_special(patterns: np.ndarray, special: np.ndarray) -> np.ndarray:
    """The share on special tokens; `special` is bool [K]."""
    shares, on = _shares(patterns)
    return _mean_over_rows(shares[..., special].sum(-1), on)


def strongest_column(patterns: np.ndarray, masked: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The key that receives the most from all rows, and the mean share that those which may see it give it.

    It is chosen by its total: by that mean, a key which only the last row of a causal pattern may see would
    often win. The share is NaN (and the key 0) for a head that is switched off.
    """
    shares, on = _shares(patterns)
    index = shares.sum(-2).argmax(-1)
    column = np.take_along_axis(shares, index[..., None, None], -1)[..., 0]
    if masked is not None:
        on = on & ~masked.T[index]
    return index, _mean_over_rows(column, on)


def share_by_key(patterns: np.ndarray, masked: np.ndarray | None = None) -> np.ndarray:
    """The mean share that each key gets from the rows that may see it, [..., K]; NaN for a head that is off."""
    shares, on = _shares(patterns)
    columns = np.swapaxes(shares, -1, -2)  # [..., K, Q]
    seen = np.ones(columns.shape[-2:], bool) if masked is None else ~masked.T
    return _mean_over_rows(columns, on[..., None, :] & seen)


def sharpness(patterns: np.ndarray) -> np.ndarray:
    """The mean of each row's largest share: 1 for a head whose every row looks at one key."""
    shares, on = _shares(patterns)
    return _mean_over_rows(shares.max(-1), on)


@dataclass(frozen=True)
class Measures:
    """Each measure of each head, [L, H], and the `largest` that a head could reach under this mask."""

    entropy: np.ndarray
    distance: np.ndarray
    diagonal: np.ndarray
    previous: np.ndarray
    special: np.ndarray
    largest: dict[str, float]


class Measure(NamedTuple):
    """How a measure is shown; `name` is its field in `Measures`, `brief` its meaning where there is room for a line."""

    name: str
    label: str
    unit: str
    brief: str
    meaning: str


MEASURES = (
    Measure(
        "entropy",
        "Entropy",
        "bits",
        "spread of the weights; 0 is one token",
        "How widely attention is spread: 0 bits is one token, and each bit doubles the number of tokens.",
    ),
    Measure(
        "distance",
        "Distance",
        "tokens",
        "from the query's own position, on average",
        "How far from the query's own position the head looks, on average.",
    ),
    Measure(
        "diagonal",
        "Same position",
        "share",
        "share of weight on the key at the query's position",
        "The share of weight on the key at the same position.",
    ),
    Measure(
        "previous",
        "Previous",
        "share",
        "share of weight on the token before",
        "The share of weight on the token before.",
    ),
    Measure(
        "special",
        "Special",
        "share",
        "share of weight on special tokens such as [EOS]",
        "The share of weight on special tokens such as [EOS].",
    ),
)


def measure(patterns: np.ndarray, masked: np.ndarray, special: np.ndarray) -> Measures:
    """Measures every head of `patterns` [L, H, Q, K]; `masked` is bool [Q, K], `special` bool [K]."""
    visible = ~masked

    def each(function: Callable[..., np.ndarray], *arguments: np.ndarray) -> np.ndarray:
        """Layer by layer, since hundreds of tokens make a double-precision copy of all layers large."""
        return np.stack([function(layer, *arguments) for layer in patterns])

    return Measures(
        each(entropy),
        each(mean_distance),
        each(diagonal, masked),
        each(previous, masked),
        each(on_special, special),
        {
            "entropy": float(np.log2(visible.sum(-1)).mean()),
            "distance": float(np.where(visible, _distances(*masked.shape), 0).max(-1).mean()),
            "diagonal": 1.0,
            "previous": 1.0,
            "special": 1.0,
        },
    )

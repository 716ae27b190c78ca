"""Patterns for the demo page: seeded, so that the page and the tests hold the same arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SOURCE = ["A₁", "little", "girl", "is", "sitting", "on", "a₂", "bench", ".", "[EOS]"]
WRITES = ["Une", "petite", "fille", "est", "assise", "sur", "un", "banc", ".", "[EOS]"]
READS = ["[SOS]", *WRITES[:-1]]
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", '"><b>&amp;', "${alert(1)}"]


@dataclass(frozen=True)
class Case:
    """One kind of attention: `patterns` [L, H, Q, K], whose rows sum to 1 over the cells that are not masked."""

    patterns: NDArray[np.float32]
    masked: NDArray[np.bool_]
    rows: list[str]
    columns: list[str]
    rows_read: list[str] | None


def case(name: str) -> Case:
    if name == "cross":
        return _case(3, 4, WRITES, SOURCE, READS)
    if name == "encoder":
        return _case(2, 4, SOURCE, SOURCE, None)
    if name == "decoder":
        return _case(3, 4, WRITES, READS, READS, causal=True)
    if name == "hostile":
        return _case(1, 2, HOSTILE, HOSTILE, HOSTILE)
    if name == "wide":
        return _case(1, 2, WRITES, [f"{word}{i + 1}" for i, word in enumerate(SOURCE * 40)], READS)
    if name == "one":
        return _case(1, 1, ["a"], ["a"], None)
    layers, heads, length = (int(part) for part in name.split("x"))  # "12x16x40"
    words = [f"{SOURCE[i % len(SOURCE)]}{i + 1}" for i in range(length)]
    return _case(layers, heads, words, words, None)


def captions(view: Case) -> list[list[list[str]]]:
    """For each head a text that names the key with the largest mean weight, and that mean."""
    means = view.patterns.mean(axis=2, dtype=np.float64)
    return [
        [["looks at ", view.columns[row.argmax()], f", {100 * row.max():.0f}\u00a0% on average"] for row in layer]
        for layer in means
    ]


def _case(
    layers: int, heads: int, rows: list[str], columns: list[str], read: list[str] | None, causal: bool = False
) -> Case:
    rng = np.random.default_rng(7)
    shape = (layers, heads, len(rows), len(columns))
    scores = rng.normal(0, 1, shape) + rng.normal(0, 1, (layers, heads, 1, len(columns)))
    step = np.arange(len(columns)) - np.arange(len(rows))[:, None]
    for n in range(layers * heads):
        sharp, near = step == (n % 4) - 1, abs(step) < 3
        scores[n // heads, n % heads] += (n % 3) * 2.5 * sharp + (n % 4) * 0.8 * near
    masked = step > 0 if causal else np.zeros(step.shape, bool)
    weights = np.where(masked, 0, np.exp(scores))
    weights /= weights.sum(-1, keepdims=True)
    return Case(weights.astype(np.float32), masked, rows, columns, read)

"""Find the nearest tokens in an embedding matrix.

Letters: V tokens of the vocabulary, D = d_model.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from transformer.model import Transformer


@dataclass(frozen=True)
class Neighbour:
    """A token and the cosine of its row with the query's row."""

    id: int
    cosine: float


def neighbours(matrix: np.ndarray, id: int, without: Collection[int] = (), most: int = 6) -> list[Neighbour]:
    """Return the tokens whose rows of `matrix` [V, D] have the largest cosine with the row of `id`, nearest first.

    The token itself and those in `without` are left out, and so is a row of zeros, which has no direction.
    Raises ValueError for an id that has no row.
    """
    if not 0 <= id < len(matrix):
        raise ValueError(f"Token {id} has no row in a matrix of {len(matrix):,} rows; choose one that has.")
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))  # without a copy: a vocabulary may be large
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = matrix @ matrix[id] / (lengths * lengths[id])
    cosines[[id, *(other for other in without if other < len(matrix))]] = np.nan
    candidates = np.flatnonzero(np.isfinite(cosines))
    best = candidates[np.argsort(-cosines[candidates], kind="stable")][:most]
    return [Neighbour(int(other), float(cosines[other])) for other in best]


def weights(model: Transformer) -> dict[str, Tensor]:
    """Return the matrices in which a token has a row, "encoder", "decoder" and "output": [V, D] each."""
    return {
        "encoder": model.encoder.embedding.tokens.weight,
        "decoder": model.decoder.embedding.tokens.weight,
        "output": model.output.weight,
    }


def tied(model: Transformer) -> list[list[str]]:
    """Return the names of `weights`, grouped by matrix: tied weights are one group."""
    groups: dict[int, list[str]] = {}
    for name, weight in weights(model).items():
        groups.setdefault(id(weight), []).append(name)
    return list(groups.values())

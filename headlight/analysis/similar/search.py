"""Find the nearest vectors by cosine, exactly, block by block.

Shapes: N vectors of D dimensions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from transformer.yielding import yield_turn

BLOCK_NUMBERS = 2**20  # numbers in a block, which is converted to float32 at once
# Stored vectors have length 1 up to rounding to float16, which is at most 2^-11 of each number. Two cosines that differ
# by more than this are therefore in the same order as the products, which are computed first.
_COSINE_ROUNDING = 2 * 2**-11 + 1e-4


class Nearest(NamedTuple):
    """The nearest rows, best first, and their cosines in float64."""

    rows: np.ndarray  # int64
    cosines: np.ndarray


@torch.inference_mode()
def nearest(vectors: Tensor, query: np.ndarray, count: int, excluded: np.ndarray | None = None) -> Nearest:
    """Return the `count` rows of `vectors` [N, D], float16 of length 1, with the largest cosine with `query` [D].

    All products are computed in float32, and the cosines of those that could be among the nearest in float64, so the
    result is that of a search in float64. Rows of zeros have no direction and are left out, and so are those that
    `excluded` [N] marks. Of equal cosines the earlier row comes first. Raises ValueError for a query of zeros, and for
    vectors with NaN or infinite values.
    """
    exact = query.astype(np.float64)
    length = float(np.linalg.norm(exact))
    if not 0 < length < np.inf:
        raise ValueError("The vector of this token has no direction: the head is off, or was pruned.")
    exact /= length
    direction, step = torch.from_numpy(exact.astype(np.float32)), max(1, BLOCK_NUMBERS // len(query))
    products = torch.empty(len(vectors))
    for start in range(0, len(vectors), step):
        yield_turn()
        block = vectors[start : start + step].float()
        torch.mv(block, direction, out=products[start : start + step])
    scores = products.numpy()
    if not np.isfinite(scores).all():
        raise ValueError("It holds vectors that are not numbers.")
    if excluded is not None:
        scores[excluded] = -np.inf
    least = -np.inf
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count] - _COSINE_ROUNDING
    candidates = np.flatnonzero((scores >= least) & (scores > -np.inf))
    cosines = np.empty(len(candidates))
    for start in range(0, len(candidates), step):
        rows = vectors[torch.from_numpy(candidates[start : start + step])].double().numpy()
        lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))
        with np.errstate(invalid="ignore", divide="ignore"):
            cosines[start : start + step] = np.where(lengths > 0, rows @ exact / lengths, -np.inf)
    order = np.lexsort((candidates, -cosines))[:count]
    order = order[cosines[order] > -np.inf]
    return Nearest(candidates[order], cosines[order])


def unit(vectors: Tensor) -> Tensor:
    """Return vectors [..., D] with length 1; zeros stay zeros."""
    return vectors / vectors.norm(dim=-1, keepdim=True).clamp(min=torch.finfo(vectors.dtype).tiny)

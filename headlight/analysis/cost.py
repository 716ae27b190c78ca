"""What a layer costs, in multiply-adds, by the length of the sentence; and Table 1 of Vaswani et al. 2017.

Letters: n tokens, d = d_model, f = d_ff, k the width of a convolution, r the tokens that are near enough to be seen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

WIDTH, NEAR = 3, 16  # k and r of the table


class LayerCost(NamedTuple):
    """Multiply-adds of one encoder layer over n tokens."""

    attention: int  # 2 n² d: the products q kᵀ, and the weights times v
    projections: int  # 4 n d²: of queries, keys, values, and of the heads joined
    feed_forward: int  # 2 n d f; half as much again where it is gated


def layer_cost(n: int, d_model: int, width: int, d_ff: int, gated: bool = False) -> LayerCost:
    """`width` is that of all heads together: d_model, except in T5."""
    return LayerCost(2 * n * n * width, 4 * n * d_model * width, (3 if gated else 2) * n * d_model * d_ff)


def crossing(d_model: int, width: int, d_ff: int, gated: bool = False) -> int:
    """The first length at which the products of attention cost more than all maps of the layer."""
    one = layer_cost(1, d_model, width, d_ff, gated)
    return math.floor((one.projections + one.feed_forward) / one.attention) + 1


class Kind(NamedTuple):
    """A row of Table 1, its numbers at one n and d: multiply-adds of a layer, steps one after the other, path length.

    The orders of magnitude of the table are taken as they stand, without the constants that they leave out.
    """

    name: str
    complexity: str
    products: float
    steps: int
    path: int


def table_1(n: int, d: int) -> list[Kind]:
    """Self-attention, recurrent, convolutional and restricted self-attention layers, as the paper compares them."""
    deep = max(1, math.ceil(math.log(max(n, 2), WIDTH)))
    return [
        Kind("Self-attention", "n² · d", n * n * d, 1, 1),
        Kind("Recurrent (RNN)", "n · d²", n * d * d, n, n),
        Kind(f"Convolutional, width {WIDTH}", "k · n · d²", WIDTH * n * d * d, 1, deep),
        Kind(f"Self-attention to {NEAR} neighbours", "r · n · d", min(NEAR, n) * n * d, 1, math.ceil(n / NEAR)),
    ]

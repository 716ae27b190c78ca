"""Batch norm and layer norm on the same numbers, and the blocks that treat each token by itself.

Shapes: B sentences, N tokens of a stack, M = d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from headlight.analysis.anatomy import as_float64, standardised
from headlight.analysis.stream import FEED_FORWARD, Stream, layer_blocks

NORM_EPS = 1e-5  # of torch.nn.BatchNorm1d


class BothNorms(NamedTuple):
    """A token's vector normalised in two ways, before gain and bias: [M] each."""

    read: np.ndarray
    layer: np.ndarray  # by the mean and variance of its own numbers, or as the model's own norm does
    batch: np.ndarray  # each number by the mean and variance that it has over all tokens of the batch


def both_norms(batch: Sequence[Stream], stack: str, layer: int | None, block: str, token: int) -> BothNorms:
    """Normalise a token of the batch's first sentence, as a block's norm reads it, by layer norm and by batch norm.

    Without a `layer`, the norm is the one after the whole stack. Batch norm is that of Ioffe and Szegedy 2015 in
    training, over the tokens of all sentences; layer norm is that of Ba, Kiros and Hinton 2016. Raises ValueError where
    there is no norm.
    """
    rows = np.concatenate([_read(passed, stack, layer, block) for passed in batch])
    norm = batch[0].module(stack).norm if layer is None else batch[0].residuals(stack, layer)[block][0].norm
    if not isinstance(norm, torch.nn.LayerNorm | torch.nn.RMSNorm):
        raise ValueError("This model has no norm there; choose another part.")
    over_batch = (rows - rows.mean(0)) / np.sqrt(rows.var(0) + NORM_EPS)
    return BothNorms(rows[token], standardised(rows[token], norm), over_batch[token])


def _read(passed: Stream, stack: str, layer: int | None, block: str) -> np.ndarray:
    """Return the input of a norm: [N, M] float64."""
    if layer is None:
        states = passed.stack(stack).states[-1]
    else:
        residual, block_states = passed.residuals(stack, layer)[block][0], layer_blocks(passed, stack, layer)[block]
        states = block_states.before if residual.norm_first else block_states.before + block_states.output
    return as_float64(states)


@torch.no_grad()
def moved_by_others(passed: Stream, stack: str, layer: int, token: int) -> float:
    """Return the largest change of a feed-forward network's output at a token when the other tokens are reordered.

    It is 0 up to rounding, since the network is applied to each token alone.
    """
    read = layer_blocks(passed, stack, layer)[FEED_FORWARD].read
    module = passed.layer(stack, layer).feed_forward
    order = torch.arange(len(read)).flip(0)
    moved_to = int((order == token).nonzero())
    return float((module(read)[token] - module(read[order])[moved_to]).abs().max())

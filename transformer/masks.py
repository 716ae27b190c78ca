"""Padding masks and look-ahead masks.

The paper masks padding everywhere, and in the decoder's self-attention all later tokens. A model may be configured to
apply neither (`ModelConfig.padding_mask`, `look_ahead_mask`), as the code of two tutorials does.

Shapes: B sentences, S source tokens, T target tokens, K keys.
"""

from __future__ import annotations

import torch
from torch import Tensor

from transformer.config import ModelConfig


def visible_keys(ids: Tensor, pad_id: int) -> Tensor:
    """Return True for the keys that are not padding: [B, 1, 1, K].

    The first key is always visible: a sentence of padding alone would mask every key, and its softmax would be NaN.
    """
    visible = ids != pad_id
    visible[:, 0] = True
    return visible[:, None, None, :]


def look_ahead_mask(queries: int, keys: int, device: torch.device) -> Tensor:
    """Return True where the key is not later than the query: [queries, keys]. The last query is the last key."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def source_mask(src: Tensor, config: ModelConfig) -> Tensor:
    """Return the mask of the encoder and of cross-attention for `src` [B, S], True where visible: [B, 1, 1, S]."""
    if config.padding_mask == "never":
        return torch.ones_like(src, dtype=torch.bool)[:, None, None, :]
    return visible_keys(src, config.pad_id)


def target_mask(tgt: Tensor, config: ModelConfig) -> Tensor:
    """Return the mask of the decoder's self-attention for `tgt` [B, T]; it broadcasts to [B, 1, T, T]."""
    length = tgt.size(1)
    visible = source_mask(tgt, config)
    if config.look_ahead_mask == "never":
        return visible
    return look_ahead_mask(length, length, tgt.device) & visible


def describe_missing_masks(config: ModelConfig) -> str | None:
    """Describe in a sentence which of the paper's masks this model lacks; None where both are applied."""
    both = config.padding_mask == config.look_ahead_mask == "never"
    if both:
        return (
            "This model applies no mask: nothing is hidden from its attention, neither padding nor, in the decoder, "
            "the words still to be written."
        )
    if config.look_ahead_mask == "never":
        return "This model applies no look-ahead mask: its decoder sees the words that it is still to write."
    if config.padding_mask == "never":
        return "This model applies no padding mask: its attention sees the padding of shorter sentences in a batch."
    return None

"""What attention may look at: the one place where its masks are made.

The paper hides padding everywhere, and from each target token those that come later. A model may be told never to hide
either (`ModelConfig.padding_mask`, `look_ahead_mask`), as the code of two tutorials does.

Shapes: B sentences, S source tokens, T target tokens, K keys.
"""

from __future__ import annotations

import torch
from torch import Tensor

from transformer.config import ModelConfig


def visible_keys(ids: Tensor, pad_id: int) -> Tensor:
    """True at the tokens that may be looked at: [B, 1, 1, K].

    The first token always may: a sentence of padding alone would leave a query no key, and its softmax no number.
    """
    visible = ids != pad_id
    visible[:, 0] = True
    return visible[:, None, None, :]


def no_later_keys(queries: int, keys: int, device: torch.device) -> Tensor:
    """True where the key is not later than the query, the last query being the last key: [queries, keys]."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def source_mask(src: Tensor, config: ModelConfig) -> Tensor:
    """True where the encoder and cross-attention may look at `src` [B, S]: [B, 1, 1, S]."""
    if config.padding_mask == "never":
        return torch.ones_like(src, dtype=torch.bool)[:, None, None, :]
    return visible_keys(src, config.pad_id)


def target_mask(tgt: Tensor, config: ModelConfig) -> Tensor:
    """True where the decoder's self-attention may look at `tgt` [B, T]: broadcasts to [B, 1, T, T]."""
    length = tgt.size(1)
    seen = source_mask(tgt, config)
    if config.look_ahead_mask == "never":
        return seen
    return no_later_keys(length, length, tgt.device) & seen


def never_hidden(config: ModelConfig) -> str | None:
    """What this model's attention sees that the paper hides, as a sentence; None where its masks are applied."""
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

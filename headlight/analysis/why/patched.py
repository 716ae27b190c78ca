"""A pass in which a caller may exchange heads and states, as activation patching does.

Shapes: B rows, S source tokens, T target tokens that are read, N tokens of a stack, H heads, D = d_head, M = d_model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from transformer.attention import MultiHeadAttention
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.masks import source_mask, target_mask
from transformer.model import Transformer
from transformer.taps import Site
from transformer.yielding import yield_turn


class ResidualSite(NamedTuple):
    """A point of the residual stream: layer 0 is the embedding, then what each layer leaves."""

    stack: str
    layer: int


Heads = Callable[[Site, Tensor], Tensor]  # [B, H, N, D] of a site -> those to go on with
States = Callable[[ResidualSite, Tensor], Tensor]  # [B, N, M] at a place -> those to go on with


def same_heads(site: Site, heads: Tensor) -> Tensor:
    return heads


def same_states(site: ResidualSite, states: Tensor) -> Tensor:
    return states


@torch.no_grad()
def patched(
    model: Transformer, src: Tensor, tgt: Tensor, heads: Heads = same_heads, states: States = same_states
) -> Tensor:
    """Return the decoder's last states [B, T, M] for `tgt` [B, T] and `src` [B, S]; `model.output` maps them to logits.

    `heads` and `states` see all on the way.
    """
    assert not model.training, "dropout would change the numbers from pass to pass"
    yield_turn()

    def attention(module: MultiHeadAttention, looked_at: Tensor | None, mask: Tensor) -> Callable[[Tensor], Tensor]:
        def sublayer(x: Tensor) -> Tensor:
            keys_values = module.keys_values(x if looked_at is None else looked_at)
            return module.join(heads(module.site, module.heads(x, keys_values, mask)))

        return sublayer

    read, written = source_mask(src, model.config), target_mask(tgt, model.config)
    x = states(ResidualSite("encoder", 0), model.encoder.embedding(src))
    for number, layer in enumerate(model.encoder.layers, 1):
        assert isinstance(layer, EncoderLayer)
        around_attention, around_feed_forward = layer.residuals
        x = around_attention(x, attention(layer.attention, None, read))
        x = states(ResidualSite("encoder", number), around_feed_forward(x, layer.feed_forward))
    memory = model.encoder.norm(x)
    x = states(ResidualSite("decoder", 0), model.decoder.embedding(tgt))
    for number, layer in enumerate(model.decoder.layers, 1):
        assert isinstance(layer, DecoderLayer)
        around_self, around_cross, around_feed_forward = layer.residuals
        x = around_self(x, attention(layer.self_attention, None, written))
        x = around_cross(x, attention(layer.cross_attention, memory, read))
        x = states(ResidualSite("decoder", number), around_feed_forward(x, layer.feed_forward))
    last: Tensor = model.decoder.norm(x)
    return last

"""Run a pass in which heads, patterns, feed-forward outputs and states can be exchanged, as in activation patching.

Shapes: B rows, S source tokens, T target tokens that are read, N tokens of a stack, H heads, D = d_head, M = d_model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.masks import source_mask, target_mask
from transformer.model import Transformer
from transformer.taps import Tap
from transformer.yielding import yield_turn

HEADS, PATTERN, FEED_FORWARD, STATE = "heads", "pattern", "feed-forward", "state"


class Point(NamedTuple):
    """A point of the network: the heads of an attention [B, H, N, D], their patterns [B, H, Q, K], the output of a
    feed-forward network [B, N, M], or the residual stream [B, N, M].

    Layers count from 0; a state's layer 0 is the embedding, and its layer i the output of layer i - 1.
    """

    part: str  # "heads", "pattern", "feed-forward" or "state"
    stack: str  # "encoder" or "decoder"
    layer: int
    kind: str = ""  # of an attention: "self" or "cross"


Exchange = Callable[[Point, Tensor], Tensor]  # from the tensor at a point to the one that replaces it


def unchanged(point: Point, x: Tensor) -> Tensor:
    return x


@torch.no_grad()
def patched(
    model: Transformer, src: Tensor, tgt: Tensor, exchange: Exchange = unchanged, tap: Tap | None = None
) -> Tensor:
    """Return the decoder's last states [B, T, M] for `tgt` [B, T] and `src` [B, S]; `model.output` maps them to logits.

    `exchange` sees every head, feed-forward output and state on the way; `tap` sees the patterns.
    """
    assert not model.training, "dropout would change the numbers from pass to pass"
    yield_turn()

    def attention(module: MultiHeadAttention, looked_at: Tensor | None, mask: Tensor) -> Callable[[Tensor], Tensor]:
        def sublayer(x: Tensor) -> Tensor:
            keys_values = module.keys_values(x if looked_at is None else looked_at)
            return module.join(exchange(Point(HEADS, *module.site), module.heads(x, keys_values, mask, tap)))

        return sublayer

    def feed_forward(layer: EncoderLayer | DecoderLayer, around: nn.Module, at: Point, x: Tensor) -> Tensor:
        x = around(x, lambda h: exchange(at, layer.feed_forward(h)))
        return exchange(Point(STATE, at.stack, at.layer + 1), x)

    read, written = source_mask(src, model.config), target_mask(tgt, model.config)
    x = exchange(Point(STATE, "encoder", 0), model.encoder.embedding(src))
    for number, layer in enumerate(model.encoder.layers):
        assert isinstance(layer, EncoderLayer)
        around_attention, around_feed_forward = layer.residuals
        x = around_attention(x, attention(layer.attention, None, read))
        x = feed_forward(layer, around_feed_forward, Point(FEED_FORWARD, "encoder", number), x)
    memory = model.encoder.norm(x)
    x = exchange(Point(STATE, "decoder", 0), model.decoder.embedding(tgt))
    for number, layer in enumerate(model.decoder.layers):
        assert isinstance(layer, DecoderLayer)
        around_self, around_cross, around_feed_forward = layer.residuals
        x = around_self(x, attention(layer.self_attention, None, written))
        x = around_cross(x, attention(layer.cross_attention, memory, read))
        x = feed_forward(layer, around_feed_forward, Point(FEED_FORWARD, "decoder", number), x)
    last: Tensor = model.decoder.norm(x)
    return last

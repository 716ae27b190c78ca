"""One encoder layer and one decoder layer, each drawn as in figure 1 of the paper.

Shapes: B sentences, S source tokens, T target tokens.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from transformer.attention import MultiHeadAttention
from transformer.config import ModelConfig
from transformer.taps import Site, Tap

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}


class FeedForward(nn.Module):
    """Two linear maps with an activation between, the same at every position (section 3.3)."""

    def __init__(self, d_model: int, d_ff: int, activation: str):
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(self.activation(self.inner(x)))


class Residual(nn.Module):
    """A sublayer with its dropout, its norm, and the path around it; the norm stands before or after."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.norm: nn.Module = nn.LayerNorm(config.d_model, eps=config.norm_eps)
        self.dropout = nn.Dropout(config.dropout)
        self.norm_first = config.norm == "pre"

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


def _attention(config: ModelConfig, n_heads: int, site: Site) -> MultiHeadAttention:
    return MultiHeadAttention(config.d_model, n_heads, site, config.qkv_bias, config.attention_output_bias)


class EncoderLayer(nn.Module):
    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        stack = config.encoder
        self.attention = _attention(config, stack.n_heads, Site("encoder", layer, "self"))
        self.feed_forward = FeedForward(config.d_model, stack.d_ff, config.activation)
        self.residuals = nn.ModuleList(Residual(config) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor, tap: Tap | None = None) -> Tensor:
        """`x` [B, S, d_model]; `mask` broadcasts to [B, H, S, S]."""
        around_attention, around_feed_forward = self.residuals
        x = around_attention(x, lambda h: self.attention(h, self.attention.keys_values(h), mask, tap))
        return around_feed_forward(x, self.feed_forward)


class DecoderLayer(nn.Module):
    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        stack = config.decoder
        self.self_attention = _attention(config, stack.n_heads, Site("decoder", layer, "self"))
        self.cross_attention = _attention(config, stack.n_heads, Site("decoder", layer, "cross"))
        self.feed_forward = FeedForward(config.d_model, stack.d_ff, config.activation)
        self.residuals = nn.ModuleList(Residual(config) for _ in range(3))

    def forward(
        self, x: Tensor, memory: Tensor, self_mask: Tensor, cross_mask: Tensor, tap: Tap | None = None
    ) -> Tensor:
        """`x` [B, T, d_model]; `memory` [B, S, d_model]; the masks broadcast to [B, H, T, T] and [B, H, T, S]."""
        around_self, around_cross, around_feed_forward = self.residuals
        own, cross = self.self_attention, self.cross_attention
        x = around_self(x, lambda h: own(h, own.keys_values(h), self_mask, tap))
        x = around_cross(x, lambda h: cross(h, cross.keys_values(memory), cross_mask, tap))
        return around_feed_forward(x, self.feed_forward)

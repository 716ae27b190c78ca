"""One encoder layer and one decoder layer, each drawn as in figure 1 of the paper.

Shapes: B sentences, S source tokens, T target tokens.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from transformer.attention import MultiHeadAttention
from transformer.config import ModelConfig, StackConfig
from transformer.taps import Site, Tap

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}


class FeedForward(nn.Module):
    """The position-wise feed-forward network (section 3.3): linear, activation, linear.

    If `gated`, the activation is multiplied with a third linear layer (Shazeer 2020, "GLU variants improve
    transformer").
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor], bias: bool = True, gated: bool = False
    ):
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff, bias=bias)
        self.gate = nn.Linear(d_model, d_ff, bias=bias) if gated else None
        self.outer = nn.Linear(d_ff, d_model, bias=bias)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        active = self.activation(self.inner(x))
        return self.outer(active if self.gate is None else active * self.gate(x))


class Residual(nn.Module):
    """A residual connection around a sublayer, with dropout, and a norm before or after it (pre-norm, post-norm)."""

    def __init__(self, norm: nn.Module, dropout: float, norm_first: bool):
        super().__init__()
        self.norm = norm
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class Parts:
    """Builds the modules of a layer from the configuration; a family with other modules, such as T5, overrides them."""

    def __init__(self, config: ModelConfig):
        self.config = config

    def attention(self, site: Site) -> MultiHeadAttention:
        config = self.config
        stack = config.encoder if site.stack == "encoder" else config.decoder
        return MultiHeadAttention(
            config.d_model,
            stack.n_heads,
            site,
            config.qkv_bias,
            config.attention_output_bias,
            remaining=config.kept_heads(*site),
        )

    def feed_forward(self, stack: StackConfig) -> FeedForward:
        return FeedForward(self.config.d_model, stack.d_ff, ACTIVATIONS[self.config.activation])

    def norm(self) -> nn.Module:
        return nn.LayerNorm(self.config.d_model, eps=self.config.norm_eps)

    def residuals(self, count: int) -> nn.ModuleList:
        first = self.config.norm == "pre"
        return nn.ModuleList(Residual(self.norm(), self.config.dropout, first) for _ in range(count))

    def last_norm(self) -> nn.Module:
        """Return the norm after the last layer of a stack, or the identity."""
        return self.norm() if self.config.final_norm else nn.Identity()


class EncoderLayer(nn.Module):
    def __init__(self, parts: Parts, layer: int):
        super().__init__()
        self.attention = parts.attention(Site("encoder", layer, "self"))
        self.feed_forward = parts.feed_forward(parts.config.encoder)
        self.residuals = parts.residuals(2)

    def forward(self, x: Tensor, mask: Tensor, tap: Tap | None = None) -> Tensor:
        """Map `x` [B, S, d_model] to the same shape; `mask` broadcasts to [B, H, S, S]."""
        around_attention, around_feed_forward = self.residuals
        x = around_attention(x, lambda h: self.attention(h, self.attention.keys_values(h), mask, tap))
        return around_feed_forward(x, self.feed_forward)


class DecoderLayer(nn.Module):
    def __init__(self, parts: Parts, layer: int):
        super().__init__()
        self.self_attention = parts.attention(Site("decoder", layer, "self"))
        self.cross_attention = parts.attention(Site("decoder", layer, "cross"))
        self.feed_forward = parts.feed_forward(parts.config.decoder)
        self.residuals = parts.residuals(3)

    def forward(
        self, x: Tensor, memory: Tensor, self_mask: Tensor, cross_mask: Tensor, tap: Tap | None = None
    ) -> Tensor:
        """Map `x` [B, T, d_model] to the same shape, attending to `memory` [B, S, d_model].

        The masks broadcast to [B, H, T, T] and [B, H, T, S].
        """
        around_self, around_cross, around_feed_forward = self.residuals
        own, cross = self.self_attention, self.cross_attention
        x = around_self(x, lambda h: own(h, own.keys_values(h), self_mask, tap))
        x = around_cross(x, lambda h: cross(h, cross.keys_values(memory), cross_mask, tap))
        return around_feed_forward(x, self.feed_forward)

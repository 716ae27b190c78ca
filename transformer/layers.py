"""One encoder layer and one decoder layer, each drawn as in figure 1 of the paper.

Shapes: B sentences, S source tokens, T target tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.attention import Linear, MultiHeadAttention
from transformer.config import ModelConfig, StackConfig
from transformer.taps import Site, Tap

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),  # Hendrycks and Gimpel 2016, "Gaussian error linear units"
    "silu": F.silu,
    "none": nn.Identity(),
}


class FeedForward(nn.Module):
    """The position-wise feed-forward network (section 3.3): linear, activation, linear.

    If `gated`, the activation is multiplied with a third linear layer (Shazeer 2020, "GLU variants improve
    transformer"). `dropout` is that of the activations.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        activation: Callable[[Tensor], Tensor],
        bias: bool = True,
        gated: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.inner = Linear(d_model, d_ff, bias=bias)
        self.gate = Linear(d_model, d_ff, bias=bias) if gated else None
        self.outer = Linear(d_ff, d_model, bias=bias)
        self.activation = activation
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        active = self.dropout(self.activation(self.inner(x)))
        return self.outer(active if self.gate is None else active * self.gate(x))


class UnbiasedNorm(nn.LayerNorm):
    """Layer norm by the unbiased deviation, as tutorials write it; if `scalar`, all features share one gain and bias.

    The unbiased deviation is the usual one times √(n / (n - 1)), so this is layer norm with √((n - 1) / n) times the
    learned gain, and (n - 1) / n times epsilon. `weight`, `bias` and `eps` are those of that layer norm, so that code
    that reads a layer norm can read this one.
    """

    def __init__(self, d_model: int, eps: float, scalar: bool):
        nn.Module.__init__(self)  # the layer norm's own would make `weight` and `bias` parameters
        self.normalized_shape, self.elementwise_affine = (d_model,), True
        self.eps = eps * (d_model - 1) / d_model
        self.gain = nn.Parameter(torch.ones(1 if scalar else d_model))
        self.shift = nn.Parameter(torch.zeros(1 if scalar else d_model))

    @property
    def weight(self) -> Tensor:  # type: ignore[override]
        n = self.normalized_shape[0]
        return (self.gain * math.sqrt((n - 1) / n)).expand(n)

    @property
    def bias(self) -> Tensor:  # type: ignore[override]
        return self.shift.expand(self.normalized_shape)


class Residual(nn.Module):
    """A residual connection around a sublayer, with dropout, and a norm before or after it (pre-norm, post-norm).

    Dropout applies to the sublayer's output or, with `after_sum`, to the sum. With `connected` False the residual
    connection is left out: the sublayer's output replaces its input.
    """

    def __init__(
        self, norm: nn.Module, dropout: float, norm_first: bool, after_sum: bool = False, connected: bool = True
    ):
        super().__init__()
        self.norm = norm
        self.dropout = nn.Dropout(dropout)
        self.norm_first, self.after_sum, self.connected = norm_first, after_sum, connected

    def shortcut(self, x: Tensor) -> Tensor:
        """Return what is added to the sublayer's output: `x`, or zeros without the connection."""
        return x if self.connected else torch.zeros_like(x)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        output, shortcut = sublayer(self.norm(x) if self.norm_first else x), self.shortcut(x)
        total = self.dropout(shortcut + output) if self.after_sum else shortcut + self.dropout(output)
        return total if self.norm_first else self.norm(total)


class OutputTransform(nn.Module):
    """The layer before BERT's output projection: linear, activation and layer norm (Devlin et al. 2019, its code)."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.linear = Linear(config.d_model, config.d_model)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(self.activation(self.linear(x)))
        return normed


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
            dropout=config.attention_dropout,
        )

    def feed_forward(self, stack: StackConfig) -> FeedForward:
        config = self.config
        activation = ACTIVATIONS[config.activation]
        return FeedForward(config.d_model, stack.d_ff, activation, dropout=config.activation_dropout)

    def norm(self) -> nn.Module:
        config = self.config
        if config.norm_form == "none":
            return nn.Identity()
        if config.norm_form == "standard":
            return nn.LayerNorm(config.d_model, eps=config.norm_eps)
        return UnbiasedNorm(config.d_model, config.norm_eps, scalar=config.norm_form == "scalar")

    def residuals(self, count: int) -> nn.ModuleList:
        config, first = self.config, self.config.norm == "pre"
        return nn.ModuleList(
            Residual(self.norm(), config.dropout, first, config.dropout_after_sum, config.residual)
            for _ in range(count)
        )

    def last_norm(self) -> nn.Module:
        """Return the norm after the last layer of a stack, or the identity."""
        return self.norm() if self.config.final_norm else nn.Identity()


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each in a residual connection."""

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
    """Masked self-attention, cross-attention to the encoder's output, then the feed-forward network."""

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

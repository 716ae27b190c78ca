"""The parts of T5. Each flows as the paper's part of that name does, whose `forward` it inherits, and is built of
other pieces: so its `__init__` makes its own and leaves the paper's unmade.

Shapes: B sentences, H heads, Q queries, K keys, D = d_kv; H * D need not be d_model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.attention import MultiHeadAttention, attend
from transformer.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from transformer.t5.config import T5Config
from transformer.taps import Site, Tap

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}


class RelativeBias(nn.Module):
    """A learned number for each head and distance, added to the scores (Raffel et al. 2020, section 2.1).

    Near distances have a number each; from a quarter of the buckets on (half, where only what came before is seen)
    they share one with more and more others, and beyond `max_distance` all with each other.
    """

    def __init__(self, config: T5Config, n_heads: int, both_sides: bool):
        super().__init__()
        self.table = nn.Embedding(config.buckets, n_heads)
        self.max_distance, self.both_sides = config.max_distance, both_sides

    def bucket(self, distances: Tensor) -> Tensor:
        """The row of the table for each distance, from query to key: below 0 for a key that came before."""
        count = self.table.num_embeddings
        if self.both_sides:
            count //= 2
            first, far = (distances > 0) * count, distances.abs()
        else:
            first, far = torch.zeros_like(distances), -distances.clamp(max=0)
        exact = count // 2
        growth = (far.clamp(min=1).float() / exact).log() / math.log(self.max_distance / exact)
        shared = (exact + (growth * (count - exact)).long()).clamp(max=count - 1)
        return first + torch.where(far < exact, far, shared)

    def along(self, distances: Tensor) -> Tensor:
        """The bias at each distance: [...] -> [H, ...]."""
        biases: Tensor = self.table(self.bucket(distances))
        return biases.movedim(-1, 0)

    def forward(self, queries: int, keys: int) -> Tensor:
        """What is added to the scores where the last query is the last key: [1, H, Q, K]."""
        places = torch.arange(keys, device=self.table.weight.device)
        return self.along(places - places[keys - queries :, None])[None]


class T5Attention(MultiHeadAttention):
    """Attention without scaling; in self-attention with a bias for the distance, which all layers of a stack share."""

    scale = 1.0

    def __init__(self, config: T5Config, n_heads: int, site: Site, position_bias: RelativeBias | None):
        nn.Module.__init__(self)
        width = n_heads * config.d_kv
        self.n_heads = n_heads
        self.site = site
        self.query = nn.Linear(config.d_model, width, bias=False)
        self.key = nn.Linear(config.d_model, width, bias=False)
        self.value = nn.Linear(config.d_model, width, bias=False)
        self.output = nn.Linear(width, config.d_model, bias=False)
        self.position_bias = position_bias

    def forward(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor, tap: Tap | None = None) -> Tensor:
        k, v = keys_values
        bias = None if self.position_bias is None else self.position_bias(x.size(1), k.size(2))
        heads = attend(self._split(self.query(x)), k, v, mask, self.site, tap, self.scale, bias)
        return self.output(heads.transpose(1, 2).flatten(-2))  # [B, H, Q, D] -> [B, Q, H * D]


class T5FeedForward(FeedForward):
    """The paper's without biases; where gated, the activation is multiplied with a third linear map (Shazeer 2020,
    "GLU variants improve transformer")."""

    def __init__(self, config: T5Config, d_ff: int):
        nn.Module.__init__(self)
        self.inner = nn.Linear(config.d_model, d_ff, bias=False)
        self.gate = nn.Linear(config.d_model, d_ff, bias=False) if config.gated else None
        self.outer = nn.Linear(d_ff, config.d_model, bias=False)
        self.activation = ACTIVATIONS[config.activation]

    def forward(self, x: Tensor) -> Tensor:
        active = self.activation(self.inner(x))
        return self.outer(active if self.gate is None else active * self.gate(x))


class T5Residual(Residual):
    """The norm stands before, and divides by the root mean square: no mean, no bias (Zhang and Sennrich 2019)."""

    def __init__(self, config: T5Config):
        nn.Module.__init__(self)
        self.norm = nn.RMSNorm(config.d_model, eps=config.norm_eps)
        self.dropout = nn.Dropout(config.dropout)
        self.norm_first = True


class T5EncoderLayer(EncoderLayer):
    def __init__(self, config: T5Config, layer: int, position_bias: RelativeBias):
        nn.Module.__init__(self)
        stack = config.encoder
        self.attention = T5Attention(config, stack.n_heads, Site("encoder", layer, "self"), position_bias)
        self.feed_forward = T5FeedForward(config, stack.d_ff)
        self.residuals = nn.ModuleList(T5Residual(config) for _ in range(2))


class T5DecoderLayer(DecoderLayer):
    def __init__(self, config: T5Config, layer: int, position_bias: RelativeBias):
        nn.Module.__init__(self)
        stack = config.decoder
        self.self_attention = T5Attention(config, stack.n_heads, Site("decoder", layer, "self"), position_bias)
        self.cross_attention = T5Attention(config, stack.n_heads, Site("decoder", layer, "cross"), None)
        self.feed_forward = T5FeedForward(config, stack.d_ff)
        self.residuals = nn.ModuleList(T5Residual(config) for _ in range(3))

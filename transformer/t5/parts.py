"""The parts of T5, of which the paper's layers are built.

Shapes: H heads, Q queries, K keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.attention import MultiHeadAttention
from transformer.config import StackConfig
from transformer.layers import FeedForward, Parts
from transformer.t5.config import T5Config
from transformer.taps import Site

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


class T5Parts(Parts):
    """Attention without scaling; in self-attention with a bias for the distance, which all layers of a stack share.

    No map has a bias, and norms divide by the root mean square: no mean, no bias (Zhang and Sennrich 2019).
    """

    config: T5Config

    def __init__(self, config: T5Config):
        super().__init__(config)
        self.position_biases = {
            "encoder": RelativeBias(config, config.encoder.n_heads, both_sides=True),
            "decoder": RelativeBias(config, config.decoder.n_heads, both_sides=False),
        }

    def attention(self, site: Site) -> MultiHeadAttention:
        config = self.config
        stack = config.encoder if site.stack == "encoder" else config.decoder
        return MultiHeadAttention(
            config.d_model,
            stack.n_heads,
            site,
            config.qkv_bias,
            config.attention_output_bias,
            config.d_kv,
            scale=1.0,
            position_bias=self.position_biases[site.stack] if site.kind == "self" else None,
            kept=config.kept_heads(*site),
        )

    def feed_forward(self, stack: StackConfig) -> FeedForward:
        config = self.config
        return FeedForward(config.d_model, stack.d_ff, ACTIVATIONS[config.activation], bias=False, gated=config.gated)

    def norm(self) -> nn.Module:
        return nn.RMSNorm(self.config.d_model, eps=self.config.norm_eps)

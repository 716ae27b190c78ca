"""T5, and the modules in it that replace those of the paper.

Shapes: H heads, Q queries, K keys.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from transformer import layers
from transformer.attention import MultiHeadAttention
from transformer.config import StackConfig
from transformer.layers import FeedForward, Parts
from transformer.model import Transformer
from transformer.t5.config import T5Config
from transformer.taps import Site

ACTIVATIONS = {**layers.ACTIVATIONS, "gelu": layers.ACTIVATIONS["gelu-tanh"]}


class RelativeBias(nn.Module):
    """Relative position bias: a learned number per head and distance bucket (Raffel et al. 2020, section 2.1).

    Small distances have a bucket each. Larger ones share logarithmically wider buckets, and all distances beyond
    `max_distance` share the last. With `both_sides`, half of the buckets are for keys after the query.
    """

    def __init__(self, config: T5Config, n_heads: int, both_sides: bool):
        super().__init__()
        self.table = nn.Embedding(config.buckets, n_heads)
        self.max_distance, self.both_sides = config.max_distance, both_sides

    def bucket(self, distances: Tensor) -> Tensor:
        """Return the table row of each distance, key position minus query position: negative for earlier keys."""
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
        """Return the bias of each head at each distance: [...] -> [H, ...]."""
        biases: Tensor = self.table(self.bucket(distances))
        return biases.movedim(-1, 0)

    def forward(self, queries: int, keys: int) -> Tensor:
        """Return the bias [1, H, Q, K] for scores whose last query is the last key."""
        positions = torch.arange(keys, device=self.table.weight.device)
        return self.along(positions - positions[keys - queries :, None])[None]


class T5Parts(Parts):
    """Builds T5's modules: unscaled attention with a position bias, and RMSNorm.

    All layers of a stack share the bias; in umT5 (Chung et al. 2023, "UniMax") each has its own. Linear layers and
    norms have no bias (RMSNorm: Zhang and Sennrich 2019).
    """

    config: T5Config

    def __init__(self, config: T5Config):
        super().__init__(config)
        self.position_biases = {stack: self._position_bias(stack) for stack in ("encoder", "decoder")}

    def _position_bias(self, stack: str) -> RelativeBias:
        sizes = self.config.encoder if stack == "encoder" else self.config.decoder
        return RelativeBias(self.config, sizes.n_heads, both_sides=stack == "encoder")

    def attention(self, site: Site) -> MultiHeadAttention:
        config = self.config
        stack = config.encoder if site.stack == "encoder" else config.decoder
        bias = None
        if site.kind == "self":
            bias = self.position_biases[site.stack] if config.shared_bias else self._position_bias(site.stack)
        return MultiHeadAttention(
            config.d_model,
            stack.n_heads,
            site,
            config.qkv_bias,
            config.attention_output_bias,
            config.d_kv,
            scale=1.0,
            position_bias=bias,
            remaining=config.kept_heads(*site),
        )

    def feed_forward(self, stack: StackConfig) -> FeedForward:
        config = self.config
        return FeedForward(config.d_model, stack.d_ff, ACTIVATIONS[config.activation], bias=False, gated=config.gated)

    def norm(self) -> nn.Module:
        return nn.RMSNorm(self.config.d_model, eps=self.config.norm_eps)


class T5(Transformer):
    """`Transformer` with one embedding for both stacks.

    T5 1.0 divides the decoder's output by √d_model before the output projection. Here that factor is part of the gain
    of the decoder's final norm, which is equivalent.
    """

    parts: ClassVar[type[Parts]] = T5Parts

    def __init__(self, config: T5Config):
        super().__init__(config)
        self.decoder.embedding.tokens.weight = self.encoder.embedding.tokens.weight

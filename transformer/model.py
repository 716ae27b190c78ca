"""The encoder-decoder transformer of "Attention Is All You Need" (Vaswani et al. 2017).

Shapes: B sentences, S source tokens, T target tokens, V target vocabulary, H heads.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from transformer.attention import Linear
from transformer.config import ModelConfig
from transformer.layers import DecoderLayer, EncoderLayer, OutputTransform, Parts
from transformer.masks import source_mask, target_mask
from transformer.positions import (
    At,
    LearnedPositions,
    NoPositions,
    SinusoidalPositions,
    StoredPositions,
    sinusoidal,
    without_exp,
)
from transformer.taps import Site, Tap

POSITIONS = {
    "sinusoidal": lambda c: SinusoidalPositions(sinusoidal(c.max_length, c.d_model, c.position_base)),
    "no-exp": lambda c: SinusoidalPositions(without_exp(c.max_length, c.d_model, c.position_base)),
    "learned": lambda c: LearnedPositions(c.max_length, c.d_model),
    "stored": lambda c: StoredPositions(c.max_length, c.d_model),
    "none": lambda c: NoPositions(),
}


class Embedding(nn.Module):
    """Token embeddings scaled by √d_model (section 3.4) plus positions; some families normalise the sum."""

    def __init__(self, config: ModelConfig, vocab_size: int, normed: bool):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, config.d_model)
        self.positions = POSITIONS[config.positions](config)
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps) if normed else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)
        self.scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0
        self.max_length = config.max_length

    def forward(self, ids: Tensor, at: At = 0) -> Tensor:
        """Embed `ids` [B, T] at consecutive positions from `at` on, or at the positions `at` [T]: [B, T, d_model].

        Raises ValueError for a position beyond `max_length`.
        """
        length = int(at.max()) + 1 if isinstance(at, Tensor) else at + ids.size(1)
        if length > self.max_length:
            raise ValueError(
                f"The sentence has {length} tokens and this model reads at most {self.max_length}; "
                "shorten it or split it into sentences."
            )
        tokens = self.tokens(ids)  # in the type that the table is stored in; what follows is in at least float32
        tokens = tokens.to(torch.promote_types(tokens.dtype, torch.float32))
        return self.dropout(self.norm(self.positions(tokens * self.scale, at)))


class Encoder(nn.Module):
    def __init__(self, parts: Parts):
        super().__init__()
        config = parts.config
        self.embedding = Embedding(config, config.source_vocab_size, config.norms_embedding("encoder"))
        self.layers = nn.ModuleList(EncoderLayer(parts, layer) for layer in range(config.encoder.n_layers))
        self.norm = parts.last_norm()

    def forward(self, src: Tensor, mask: Tensor, tap: Tap | None = None) -> Tensor:
        x = self.embedding(src)
        for layer in self.layers:
            x = layer(x, mask, tap)
        return self.norm(x)


class Decoder(nn.Module):
    def __init__(self, parts: Parts):
        super().__init__()
        config = parts.config
        self.embedding = Embedding(config, config.target_vocab_size, config.norms_embedding("decoder"))
        self.layers = nn.ModuleList(DecoderLayer(parts, layer) for layer in range(config.decoder.n_layers))
        self.norm = OutputTransform(config) if config.output_transform else parts.last_norm()

    def forward(
        self, tgt: Tensor, memory: Tensor, self_mask: Tensor, cross_mask: Tensor, tap: Tap | None = None
    ) -> Tensor:
        x = self.embedding(tgt)
        for layer in self.layers:
            x = layer(x, memory, self_mask, cross_mask, tap)
        return self.norm(x)


class Transformer(nn.Module):
    """The encoder-decoder transformer: maps `src` [B, S] and `tgt` [B, T] to next-token logits [B, T, V].

    The forward pass writes nothing to the model, and taps belong to the caller, so threads can share one model.
    Decoding runs the faster form in `transformer.inference.prepared`, which computes the same.
    """

    parts: ClassVar[type[Parts]] = Parts

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        parts = self.parts(config)
        self.encoder = Encoder(parts)
        self.decoder = Decoder(parts)
        self.output = Linear(config.d_model, config.target_vocab_size, bias=config.logits_bias)
        if config.tied != "none":
            self.output.weight = self.decoder.embedding.tokens.weight
        if config.tied == "all":
            self.encoder.embedding.tokens.weight = self.decoder.embedding.tokens.weight
        if config.initialisation == "torch":
            return
        self.apply(initialise)
        if config.initialisation == "xavier":
            nn.init.xavier_uniform_(self.encoder.embedding.tokens.weight)
            nn.init.xavier_uniform_(self.decoder.embedding.tokens.weight)
        elif config.tied != "none":  # `apply` has initialised the shared matrix as a projection
            initialise(self.decoder.embedding.tokens)

    def encode(self, src: Tensor, tap: Tap | None = None) -> Tensor:
        """Encode `src` [B, S]: return the memory that cross-attention attends to, [B, S, d_model]."""
        return self.encoder(src, source_mask(src, self.config), tap)

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor, tap: Tap | None = None) -> Tensor:
        """Return the decoder's final hidden state at each token of `tgt` [B, T]: [B, T, d_model]."""
        return self.decoder(tgt, memory, target_mask(tgt, self.config), source_mask(src, self.config), tap)

    def forward(self, src: Tensor, tgt: Tensor, tap: Tap | None = None) -> Tensor:
        """Return the logits of the token after each token of `tgt`, [B, T, V]."""
        return self.output(self.decode(tgt, self.encode(src, tap), src, tap=tap))

    def sites(self) -> list[Site]:
        """List every attention module of the network in the order of the forward pass."""
        encoder = [Site("encoder", layer, "self") for layer in range(self.config.encoder.n_layers)]
        decoder = [
            Site("decoder", layer, kind) for layer in range(self.config.decoder.n_layers) for kind in ("self", "cross")
        ]
        return encoder + decoder


def initialise(module: nn.Module) -> None:
    """Initialise a module: Xavier for linear layers; embeddings with variance 1 after scaling by √d_model."""
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    elif isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def count_parameters(model: nn.Module) -> int:
    """Count the trainable parameters; a tied matrix counts once."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)

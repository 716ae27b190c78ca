"""The encoder-decoder transformer of "Attention Is All You Need" (Vaswani et al. 2017).

Shapes: B sentences, S source tokens, T target tokens, V target vocabulary, H heads.
"""

from __future__ import annotations

import math
from typing import ClassVar

from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers import DecoderLayer, EncoderLayer, Parts
from transformer.masks import source_mask, target_mask
from transformer.positions import At, LearnedPositions, NoPositions, SinusoidalPositions, StoredPositions
from transformer.taps import Site, Tap

POSITIONS = {
    "sinusoidal": lambda c: SinusoidalPositions(c.max_length, c.d_model),
    "learned": lambda c: LearnedPositions(c.max_length, c.d_model),
    "stored": lambda c: StoredPositions(c.max_length, c.d_model),
    "none": lambda c: NoPositions(),
}


class Embedding(nn.Module):
    """Tokens as vectors, scaled by √d_model (section 3.4), with their positions; some families norm the sum."""

    def __init__(self, config: ModelConfig, vocab_size: int):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, config.d_model)
        self.positions = POSITIONS[config.positions](config)
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps) if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)
        self.scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0
        self.max_length = config.max_length

    def forward(self, ids: Tensor, at: At = 0) -> Tensor:
        """`ids` [B, T] stand at positions from `at` on, or each at its own of `at` [T]."""
        length = int(at.max()) + 1 if isinstance(at, Tensor) else at + ids.size(1)
        if length > self.max_length:
            raise ValueError(
                f"The sentence has {length} tokens and this model reads at most {self.max_length}; "
                "shorten it or split it into sentences."
            )
        return self.dropout(self.norm(self.positions(self.tokens(ids) * self.scale, at)))


class Encoder(nn.Module):
    def __init__(self, parts: Parts):
        super().__init__()
        config = parts.config
        self.embedding = Embedding(config, config.source_vocab_size)
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
        self.embedding = Embedding(config, config.target_vocab_size)
        self.layers = nn.ModuleList(DecoderLayer(parts, layer) for layer in range(config.decoder.n_layers))
        self.norm = parts.last_norm()

    def forward(
        self, tgt: Tensor, memory: Tensor, self_mask: Tensor, cross_mask: Tensor, tap: Tap | None = None
    ) -> Tensor:
        x = self.embedding(tgt)
        for layer in self.layers:
            x = layer(x, memory, self_mask, cross_mask, tap)
        return self.norm(x)


class Transformer(nn.Module):
    """Reads `src` [B, S], writes the logits of the token after each of `tgt` [B, T]: [B, T, V].

    Nothing is written to the model while it runs: a tap belongs to the caller, so one model serves any number of
    threads. `transformer.inference.prepared` has the form in which it decodes.
    """

    parts: ClassVar[type[Parts]] = Parts

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        parts = self.parts(config)
        self.encoder = Encoder(parts)
        self.decoder = Decoder(parts)
        self.output = nn.Linear(config.d_model, config.target_vocab_size, bias=config.logits_bias)
        if config.tied != "none":
            self.output.weight = self.decoder.embedding.tokens.weight
        if config.tied == "all":
            self.encoder.embedding.tokens.weight = self.decoder.embedding.tokens.weight
        self.apply(initialise)
        if config.tied != "none":  # the projection was drawn after the embedding that it is
            initialise(self.decoder.embedding.tokens)

    def encode(self, src: Tensor, tap: Tap | None = None) -> Tensor:
        """The memory that the decoder looks at: [B, S, d_model]."""
        return self.encoder(src, source_mask(src, self.config), tap)

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor, tap: Tap | None = None) -> Tensor:
        """The decoder's last state at each token of `tgt`: [B, T, d_model]."""
        return self.decoder(tgt, memory, target_mask(tgt, self.config), source_mask(src, self.config), tap)

    def forward(self, src: Tensor, tgt: Tensor, tap: Tap | None = None) -> Tensor:
        return self.output(self.decode(tgt, self.encode(src, tap), src, tap=tap))

    def sites(self) -> list[Site]:
        """Every attention of the network, in the order in which a sentence meets them."""
        encoder = [Site("encoder", layer, "self") for layer in range(self.config.encoder.n_layers)]
        decoder = [
            Site("decoder", layer, kind) for layer in range(self.config.decoder.n_layers) for kind in ("self", "cross")
        ]
        return encoder + decoder


def initialise(module: nn.Module) -> None:
    """Xavier for the linear maps; embeddings so that, scaled by √d_model, each component has variance 1."""
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    elif isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def count_parameters(model: nn.Module) -> int:
    """Numbers that training changes; a tied matrix counts once."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)

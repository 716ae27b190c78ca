"""T5 as a whole: the paper's two stacks, built of T5's layers."""

from __future__ import annotations

from torch import nn

from transformer.model import Decoder, Embedding, Encoder, Transformer, initialise
from transformer.t5.config import T5Config
from transformer.t5.layers import RelativeBias, T5DecoderLayer, T5EncoderLayer


class T5Encoder(Encoder):
    def __init__(self, config: T5Config):
        nn.Module.__init__(self)
        stack = config.encoder
        bias = RelativeBias(config, stack.n_heads, both_sides=True)
        self.embedding = Embedding(config, config.source_vocab_size)
        self.layers = nn.ModuleList(T5EncoderLayer(config, layer, bias) for layer in range(stack.n_layers))
        self.norm = nn.RMSNorm(config.d_model, eps=config.norm_eps)


class T5Decoder(Decoder):
    def __init__(self, config: T5Config):
        nn.Module.__init__(self)
        stack = config.decoder
        bias = RelativeBias(config, stack.n_heads, both_sides=False)
        self.embedding = Embedding(config, config.target_vocab_size)
        self.layers = nn.ModuleList(T5DecoderLayer(config, layer, bias) for layer in range(stack.n_layers))
        self.norm = nn.RMSNorm(config.d_model, eps=config.norm_eps)


class T5(Transformer):
    """Reads and writes as `Transformer` does.

    Where T5 1.0 divides its decoder's vectors by √d_model before the output, that factor stands in the gain of the
    decoder's last norm here, which comes to the same.
    """

    def __init__(self, config: T5Config):
        nn.Module.__init__(self)
        self.config = config
        self.encoder = T5Encoder(config)
        self.decoder = T5Decoder(config)
        self.decoder.embedding.tokens.weight = self.encoder.embedding.tokens.weight
        self.output = nn.Linear(config.d_model, config.target_vocab_size, bias=False)
        if config.tied == "all":
            self.output.weight = self.encoder.embedding.tokens.weight
        self.apply(initialise)
        initialise(self.encoder.embedding.tokens)  # the projection may have been drawn after the embedding that it is

"""The T5 model: the encoder and decoder of the paper, built from T5's modules."""

from __future__ import annotations

from typing import ClassVar

from transformer.layers import Parts
from transformer.model import Transformer
from transformer.t5.config import T5Config
from transformer.t5.parts import T5Parts


class T5(Transformer):
    """`Transformer` with one embedding for both stacks.

    T5 1.0 divides the decoder's output by √d_model before the output projection. Here that factor is part of the gain
    of the decoder's final norm, which is equivalent.
    """

    parts: ClassVar[type[Parts]] = T5Parts

    def __init__(self, config: T5Config):
        super().__init__(config)
        self.decoder.embedding.tokens.weight = self.encoder.embedding.tokens.weight

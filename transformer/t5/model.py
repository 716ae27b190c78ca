"""T5 as a whole: the paper's two stacks, built of T5's parts."""

from __future__ import annotations

from typing import ClassVar

from transformer.layers import Parts
from transformer.model import Transformer
from transformer.t5.config import T5Config
from transformer.t5.parts import T5Parts


class T5(Transformer):
    """Reads and writes as `Transformer` does, with one embedding for both stacks.

    Where T5 1.0 divides its decoder's vectors by √d_model before the output, that factor stands in the gain of the
    decoder's final layer norm here, which comes to the same.
    """

    parts: ClassVar[type[Parts]] = T5Parts

    def __init__(self, config: T5Config):
        super().__init__(config)
        self.decoder.embedding.tokens.weight = self.encoder.embedding.tokens.weight

"""An encoder-decoder transformer that shows what every head of every layer looks at.

import transformer
model = transformer.load("checkpoints/en-fr")
model.translate("A little girl is sitting on a bench.").text
trace = model.trace("A little girl is sitting on a bench.")
trace.cross[2, 0]  # layer 3, head 1: [T, S]
"""

from transformer.config import ModelConfig, StackConfig, TrainConfig
from transformer.model import Transformer
from transformer.presets import PRESETS, preset
from transformer.trace import Trace
from transformer.translator import Translation, Translator

load = Translator.load

__all__ = [
    "PRESETS", "ModelConfig", "StackConfig", "Trace", "TrainConfig", "Transformer", "Translation", "Translator",
    "load", "preset",
]  # fmt: skip

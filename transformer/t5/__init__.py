"""T5 (Raffel et al. 2020, "Exploring the limits of transfer learning"): the same architecture with other modules.

T5 uses RMSNorm, relative position biases on unscaled attention scores, and linear layers without biases. Version 1.1
(also Flan-T5, mT5 and ByT5) gates the feed-forward network.
"""

from transformer.t5.config import T5Config
from transformer.t5.parts import T5, RelativeBias

__all__ = ["T5", "RelativeBias", "T5Config"]

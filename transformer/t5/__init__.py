"""T5 (Raffel et al. 2020, "Exploring the limits of transfer learning"): the paper's flow, made of other parts.

Its norms divide by the root mean square alone, its positions are a bias on the scores, which are not scaled, and it
has no biases elsewhere. Versions 1.1 (also Flan-T5, mT5 and ByT5) gate the feed-forward network.
"""

from transformer.t5.config import T5Config
from transformer.t5.model import T5
from transformer.t5.parts import RelativeBias

__all__ = ["T5", "RelativeBias", "T5Config"]

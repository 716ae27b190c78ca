"""The decoder read at every layer: what the model would say if it stopped there.

Shapes: L layers, T target tokens that are read, M = d_model, V target vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from headlight.analysis.stream import Stream
from transformer.yielding import yield_turn


class Lens(NamedTuple):
    """The most probable tokens after each token that was read, best first: [L + 1, T, top] each.

    Row 0 is the embedding, the last row what the whole model says.
    """

    ids: np.ndarray  # int64
    probabilities: np.ndarray  # float32


@torch.no_grad()
def lens(stream: Stream, top: int = 5) -> Lens:
    """Each layer's state through the decoder's final layer norm (where it has one) and the output projection.

    The "logit lens" of nostalgebraist (2020). A layer was trained to be read by the next one, not by the output:
    what an early row says is what is already there in the output's terms, not what the layer means.
    """
    model = stream.model
    best = []
    for state in stream.decoder.states:  # a layer at a time: [T, V] is large
        yield_turn()
        probabilities = model.output(model.decoder.norm(state)).float().softmax(-1)
        best.append(probabilities.topk(min(top, probabilities.size(-1))))
    ids, shares = (torch.stack([layer[i] for layer in best]).cpu().numpy() for i in (1, 0))
    return Lens(ids, shares)

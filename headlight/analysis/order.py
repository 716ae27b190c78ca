"""Compare what the encoder makes of the same words in two orders.

Letters: S tokens, D = d_model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from transformer.masks import source_mask
from transformer.model import Transformer
from transformer.t5 import T5
from transformer.taps import Inputs, Site
from transformer.yielding import yield_turn


class Embedded(NamedTuple):
    """The input of the encoder's first layer, taken apart; each [S, D]."""

    tokens: np.ndarray  # the embeddings, scaled as the model scales them
    positions: np.ndarray  # the positional encodings
    both: np.ndarray  # their sum
    read: np.ndarray  # the input of the first layer: the sum, in some families normed


@torch.inference_mode()
def embedded(model: Transformer, ids: Sequence[int]) -> Embedded:
    """Return the embeddings, the encodings and their sum for the source `ids`."""
    embedding = model.encoder.embedding
    src = _batch(model, ids)
    tokens = embedding.tokens(src) * embedding.scale
    positions, both = embedding.positions(torch.zeros_like(tokens), 0), embedding.positions(tokens, 0)
    return Embedded(*(x[0].float().cpu().numpy() for x in (tokens, positions, both, embedding(src))))


@torch.inference_mode()
def encoder_states(model: Transformer, ids: Sequence[int], positions: bool = True) -> np.ndarray:
    """Return the encoder's output for the source `ids`, with or without positions: [S, D].

    T5 has positions in the scores of its attention, not in the embeddings.
    """
    src = _batch(model, ids)
    if positions:
        return model.encode(src)[0].float().cpu().numpy()
    if isinstance(model, T5):
        return model.encode(src, _from_products_alone)[0].float().cpu().numpy()
    encoder, mask = model.encoder, source_mask(src, model.config)
    x = encoder.embedding.norm(encoder.embedding.tokens(src) * encoder.embedding.scale)
    for layer in encoder.layers:
        x = layer(x, mask)
    return encoder.norm(x)[0].float().cpu().numpy()


def _from_products_alone(site: Site, pattern: torch.Tensor, inputs: Inputs) -> torch.Tensor:
    """Return the pattern that T5's attention would have without a bias on its scores, as a tap."""
    return (inputs.q @ inputs.k.mT).masked_fill(~inputs.mask, -torch.inf).softmax(-1)


def _batch(model: Transformer, ids: Sequence[int]) -> torch.Tensor:
    assert not model.training, "dropout would change what is shown"
    yield_turn()
    return torch.tensor([list(ids)], device=next(model.parameters()).device)


def reordering(first: Sequence[int], second: Sequence[int]) -> list[int] | None:
    """Return the index in `first` of each token of `second`, or None if they are not the same tokens.

    A token that occurs more than once keeps its order: the second "the" of one is the second "the" of the other.
    """
    places = defaultdict[int, list[int]](list)
    for index in range(len(first) - 1, -1, -1):
        places[first[index]].append(index)
    order = [places[token].pop() for token in second if places[token]]
    return order if len(order) == len(first) == len(second) else None

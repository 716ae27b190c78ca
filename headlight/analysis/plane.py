"""Words in a plane: their embeddings, and one head's queries and keys for them.

Shapes: N words, D = d_head, M = d_model; P points of C coordinates, two of which the plane has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from headlight.analysis.anatomy import as_float64, linear, norm_of
from headlight.analysis.sites import attention_at, require_unpruned
from transformer.layers import DecoderLayer, EncoderLayer, Residual
from transformer.model import Transformer
from transformer.taps import Site


@dataclass(frozen=True)
class WordVectors:
    """Words as one head of a self-attention reads them, without their positions, in double precision."""

    embeddings: np.ndarray  # [N, M], from which queries and keys are made
    queries: np.ndarray  # [N, D]
    keys: np.ndarray  # [N, D]
    scores: np.ndarray  # [N, N], q · k / √D, or q · k in T5, which does not divide; rows are queries


@torch.no_grad()
def word_vectors(model: Transformer, site: Site, head: int, words: Sequence[Sequence[int]]) -> WordVectors:
    """Return the vectors of words, given as the ids of their tokens, at a head of a self-attention (from 0).

    The embeddings are scaled and normed as the model does before that head. A word of several tokens is their mean:
    W_Q and W_K are linear, so its query is the mean of its tokens' queries, its key the mean of their keys, and its
    score with another word the mean of the scores of all pairs of their tokens.
    Raises ValueError for cross-attention, for a head that does not exist, and for a word without tokens.
    """
    if site.kind == "cross":
        raise ValueError(
            "Queries of cross-attention come from the decoder and keys from the encoder's output, not from one "
            "embedding; choose a self-attention."
        )
    if not words or not all(words):
        raise ValueError("There is a word without tokens, or no word at all; give at least one token for each word.")
    attention = attention_at(model, site)
    require_unpruned(attention, head)
    stack = model.encoder if site.stack == "encoder" else model.decoder
    layer = stack.layers[site.layer]
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    path = layer.residuals[0]
    assert isinstance(path, Residual)
    ids = torch.tensor([id for word in words for id in word], device=model.output.weight.device)
    tokens = as_float64(stack.embedding.tokens(ids) * stack.embedding.scale)
    if model.config.norms_embedding(site.stack):
        tokens = norm_of(tokens, stack.embedding.norm)
    if path.norm_first:
        tokens = norm_of(tokens, path.norm)
    starts = np.cumsum([0, *map(len, words)])[:-1]
    embeddings = np.add.reduceat(tokens, starts, axis=0) / np.array([[len(word)] for word in words])
    first = attention.remaining.index(head) * attention.d_head
    own = slice(first, first + attention.d_head)
    queries, keys = linear(embeddings, attention.query)[:, own], linear(embeddings, attention.key)[:, own]
    scale = 1 / math.sqrt(attention.d_head) if attention.scale is None else attention.scale
    return WordVectors(embeddings, queries, keys, queries @ keys.T * scale)


@dataclass(frozen=True)
class Plane:
    """Points in the plane in which they vary most, around their mean (principal component analysis)."""

    points: np.ndarray  # [P, 2]
    origin: np.ndarray  # [2], the vector 0
    shares: np.ndarray  # [2], of the variance, along each axis; 0 where all points are the same


def plane(vectors: np.ndarray) -> Plane:
    """Return `vectors` [P, C] in the plane of their first two principal components.

    With X the vectors minus their mean and X = U S Vᵀ (np.linalg.svd), the axes are the first two rows of Vᵀ and axis
    i has s_i² / Σ s² of the variance. An axis has two directions: the one in which its largest number, by size, is
    positive. An axis along which nothing varies, such as the second of two points, has coordinates 0.
    """
    mean = vectors.mean(0)
    centred = vectors - mean
    _, sizes, rows = np.linalg.svd(centred, full_matrices=False)
    # Sizes at the level of rounding count as 0, or equal points would spread along an axis of rounding errors.
    varies = sizes > np.finfo(float).eps * max(vectors.shape) * np.abs(vectors).max(initial=0.0)
    axes, shares = np.zeros((2, vectors.shape[1])), np.zeros(2)
    for i in range(min(2, int(varies.sum()))):
        axes[i] = rows[i] * (np.sign(rows[i, np.abs(rows[i]).argmax()]) or 1.0)
        shares[i] = sizes[i] ** 2 / (sizes**2).sum()
    return Plane(centred @ axes.T, -mean @ axes.T, shares)

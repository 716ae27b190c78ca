"""Compute every number of one query token on its way through one head.

Everything is computed in double precision from the model's weights and from the vectors that reach the block in a
real pass. This is independent of the model's own code, and `agreement` compares the results.

Shapes: H heads, K keys, D = d_head, M = d_model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from headlight.analysis.sites import attention_at, require_unpruned
from headlight.analysis.stream import Stream, layer_blocks, require_paper_layers, rest_of_layer
from transformer.attention import MultiHeadAttention
from transformer.taps import Site

CHUNK_NUMBERS = 2**24  # numbers of a matrix that are converted to double precision at once: 128 MiB


@dataclass(frozen=True)
class Variant:
    """The stages from the adjustment of the scores on, with or without it and the mask."""

    adjusted: np.ndarray  # [K], q · k divided, or with the position bias; q · k where nothing is adjusted
    weights: np.ndarray  # [K], their softmax; a masked key has 0
    heads: np.ndarray  # [H, D], the weighted sum of values of every head; the chosen one's follows the variant
    moved: np.ndarray  # [H, M], what each head adds by way of the output projection
    added: np.ndarray  # [M], their sum and the projection's bias
    total: np.ndarray  # [M], the stream and what was added
    after: np.ndarray  # [M], the same, normed where the model norms after the block

    def difference(self, other: Variant) -> tuple[float, float]:
        """Return the `largest_difference` of the weights, and of the vectors that leave the block."""
        return largest_difference(self.weights, other.weights), largest_difference(self.after, other.after)


@dataclass(frozen=True)
class Walk:
    """The numbers of one query token on its way through one head of one block."""

    site: Site
    head: int
    query: int
    tokens: np.ndarray | None  # [K, M], embeddings as the model scales them, where the block reads the embedding itself
    positions: np.ndarray | None  # [K, M], what is added to them; None where the model adds none
    embedded: np.ndarray | None  # [K, M], their sum, where the model norms it before the first layer
    stream: np.ndarray  # [K, M], the residual stream at each key; in cross-attention the memory
    normed: np.ndarray | None  # [K, M], the stream's norm, from which keys and values come; None where they don't
    x: np.ndarray  # [M], the query's own stream
    x_normed: np.ndarray | None  # [M], its norm, from which q comes
    q: np.ndarray  # [D]
    k: np.ndarray  # [K, D]
    v: np.ndarray  # [K, D]
    scores: np.ndarray  # [K], q · k
    divisor: float  # of the scores: √D, or 1 where the model leaves them as they are
    position_bias: np.ndarray | None  # [K], what is added to the scores for the distance; None where nothing is
    visible: np.ndarray  # [K] bool, True where the mask lets the query look
    output_bias: np.ndarray  # [M]
    variants: dict[tuple[bool, bool], Variant]  # by (adjusted, masked); (True, True) is the model's

    @property
    def own(self) -> Variant:
        """The walk with the numbers that the model computed."""
        return self.variants[True, True]


class WalkError(NamedTuple):
    """The largest differences between the numbers of a walk and the model's own."""

    pattern: float  # from the recorded row of the pattern
    output: float  # from what the layer leaves at this token


def walk(stream: Stream, site: Site, head: int, query: int) -> Walk:
    """Follow the token `query` through one head; layers, heads and tokens count from 0.

    Raises ValueError for an attention, head or token that does not exist, and for a model without the paper's layers.
    """
    require_paper_layers(stream.model)
    attention = attention_at(stream.model, site)
    require_unpruned(attention, head)
    row = attention.remaining.index(head)
    _within("token", query, len(stream.ids(site.stack)))
    residual = stream.residuals(site.stack, site.layer)[site.kind][0]
    before = as_float64(layer_blocks(stream, site.stack, site.layer)[site.kind].before)
    normed = norm_of(before, residual.norm) if residual.norm_first else None
    own = before if normed is None else normed
    memory = as_float64(stream.encoder.last) if site.kind == "cross" else None
    read = own if memory is None else memory

    mask = stream.target_mask if site.stack == "decoder" and site.kind == "self" else stream.source_mask
    visible = mask.expand(1, 1, len(own), len(read))[0, 0, query].cpu().numpy()
    q = _heads(linear(own[query], attention.query), attention)  # [H, D] of the heads that are left
    k = _heads(linear(read, attention.key), attention)  # [H, K, D]
    v = _heads(linear(read, attention.value), attention)
    scores = np.einsum("hd,hkd->hk", q, k)
    divisor, position_bias = _adjustment(attention, len(own), len(read), query)
    final_scores = scores / divisor + (0.0 if position_bias is None else position_bias)
    bias = _bias(attention.output)

    def variant(adjusts: bool, masked: bool) -> Variant:
        pattern = softmax(np.where(visible, final_scores, -np.inf))  # [H, K], the model's
        adjusted = final_scores[row] if adjusts else scores[row]
        pattern[row] = softmax(np.where(visible | (not masked), adjusted, -np.inf))
        joined = np.zeros((attention.n_heads, attention.d_head))  # a pruned head gives nothing
        joined[list(attention.remaining)] = np.einsum("hk,hkd->hd", pattern, v)
        moved = np.einsum("hdm,hd->hm", as_float64(attention.outputs_by_head()), joined)
        added = moved.sum(0) + bias
        total = before[query] + added
        after = total if residual.norm_first else norm_of(total, residual.norm)
        return Variant(adjusted, pattern[row], joined, moved, added, total, after)

    first = site.layer == 0 and memory is None
    embedding = embedded(stream, site.stack) if first else None
    return Walk(
        site=site,
        head=head,
        query=query,
        tokens=None if embedding is None else embedding.tokens,
        positions=None if embedding is None else embedding.positions,
        embedded=None if embedding is None else embedding.summed,
        stream=before if memory is None else memory,
        normed=normed if memory is None else None,
        x=before[query],
        x_normed=None if normed is None else normed[query],
        q=q[row],
        k=k[row],
        v=v[row],
        scores=scores[row],
        divisor=divisor,
        position_bias=None if position_bias is None else position_bias[row],
        visible=visible,
        output_bias=bias,
        variants={(adjusts, masked): variant(adjusts, masked) for adjusts in (True, False) for masked in (True, False)},
    )


def agreement(walk: Walk, stream: Stream, row: np.ndarray) -> WalkError:
    """Compare the walk with the model: with `row` [K] of its recorded pattern, and with the layer's output.

    The layer's output is compared with the walk's last vector after the rest of the layer.
    """
    stack, layer, kind = walk.site
    own = stream.stack(stack).states[layer + 1][walk.query]
    walked = rest_of_layer(stream, stack, layer, kind, torch.as_tensor(walk.own.after).to(own))
    error = largest_difference(as_float64(walked), as_float64(own))
    return WalkError(largest_difference(walk.own.weights, row), error)


def largest_difference(computed: np.ndarray, own: np.ndarray) -> float:
    """Return the largest difference of two numbers, relative to the largest of `own` where that is above 1.

    Single precision holds seven digits, so numbers in the tens have larger rounding errors.
    """
    return float(np.abs(computed - own).max() / max(1.0, np.abs(own).max()))


@torch.no_grad()
def _adjustment(attention: MultiHeadAttention, queries: int, keys: int, query: int) -> tuple[float, np.ndarray | None]:
    """Return the divisor of a query's scores, and the bias for distance that is added to them, [H, K] or None."""
    scale, bias = attention.scale, attention.position_bias
    divisor = math.sqrt(attention.d_head) if scale is None else 1 / scale
    return divisor, None if bias is None else as_float64(bias(queries, keys)[0, list(attention.remaining), query])


class EmbeddedStack(NamedTuple):
    """The input of a stack's first layer, taken apart; [tokens, M] each."""

    tokens: np.ndarray  # the embeddings as the model scales them
    positions: np.ndarray | None  # what is added to them, where anything is
    summed: np.ndarray | None  # the sum, where the model norms it


@torch.no_grad()
def embedded(stream: Stream, stack: str) -> EmbeddedStack:
    """Return the input of a stack's first layer, taken apart."""
    embedding, config = stream.module(stack).embedding, stream.model.config
    scaled = embedding.tokens(stream.ids(stack)) * embedding.scale
    tokens, positions = as_float64(scaled), None
    if config.positions != "none":
        positions = as_float64(embedding.positions(torch.zeros_like(scaled)[None], 0)[0])
    summed = tokens if positions is None else tokens + positions
    return EmbeddedStack(tokens, positions, summed if config.norms_embedding(stack) else None)


def linear(x: np.ndarray, layer: nn.Linear) -> np.ndarray:
    """Return W x + b over the last axis."""
    rows = layer.weight.split(CHUNK_NUMBERS // layer.in_features + 1)  # a vocabulary in double precision is large
    product: np.ndarray = np.concatenate([x @ as_float64(row).T for row in rows], axis=-1) + _bias(layer)
    return product


def norm_of(x: np.ndarray, norm: nn.Module) -> np.ndarray:
    """Return `standardised` times the norm's gain, plus its bias if it has one, over the last axis."""
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    normed: np.ndarray = standardised(x, norm) * as_float64(norm.weight)
    return normed if isinstance(norm, nn.RMSNorm) else normed + as_float64(norm.bias)


def standardised(x: np.ndarray, norm: nn.Module) -> np.ndarray:
    """Return (x - mean) / √(variance + ε) over the last axis, with mean 0 and variance 1 (Ba et al. 2016).

    T5's norm does not subtract the mean: x / √(mean of squares + ε) (Zhang and Sennrich 2019).
    """
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    centred = x if isinstance(norm, nn.RMSNorm) else x - x.mean(-1, keepdims=True)
    standard: np.ndarray = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + (norm.eps or 0.0))
    return standard


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return e^s / Σ e^s over the last axis; a score of -inf becomes 0."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    shares: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return shares


def _heads(x: np.ndarray, attention: MultiHeadAttention) -> np.ndarray:
    """Split the heads: [..., H * D] -> [H, ..., D]."""
    return np.moveaxis(x.reshape(*x.shape[:-1], len(attention.remaining), attention.d_head), -2, 0)


def _bias(layer: nn.Linear) -> np.ndarray:
    return np.zeros(layer.out_features) if layer.bias is None else as_float64(layer.bias)


def as_float64(x: Tensor) -> np.ndarray:
    """Return a tensor as an array in double precision."""
    numbers: np.ndarray = x.detach().double().cpu().numpy()
    return numbers


def _within(what: str, number: int, count: int) -> None:
    if not 0 <= number < count:
        raise ValueError(f"There is no {what} {number} here; choose one from 0 to {count - 1}.")


# Why the scores are divided by √d_head: their variance, and how far the softmax is from spreading, against d_head.
WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
DRAWS, QUERIES = 20, 20  # draws of keys, and queries for each; a single draw of few keys would say little


@dataclass(frozen=True)
class ScoreSpread:
    """The spread of the scores and the concentration of their softmax, as means over the queries."""

    variance: float  # of the scores
    largest: float  # the largest weight of a row: 1 / K for equal weights, 1 where one key has all of it
    entropy: float  # the entropy of a row, as a share of that of equal weights


def score_spread(scores: np.ndarray) -> ScoreSpread:
    """Return how scores [Q, K] spread, as means over the queries."""
    weights = softmax(scores)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy = -(weights * logs).sum(-1).mean() / math.log(max(weights.shape[-1], 2))
    return ScoreSpread(float(scores.var()), float(weights.max(-1).mean()), float(entropy))


def against_width(keys: int) -> list[tuple[ScoreSpread, ScoreSpread]]:
    """Return the spread of random scores at each of WIDTHS: of q · k, and of q · k / √width.

    The numbers of q and k have mean 0 and variance 1.
    """
    rng = np.random.default_rng(0)
    spreads = []
    for width in WIDTHS:
        scores = np.concatenate(
            [rng.standard_normal((QUERIES, width)) @ rng.standard_normal((width, keys)) for _ in range(DRAWS)]
        )
        spreads.append((score_spread(scores), score_spread(scores / math.sqrt(width))))
    return spreads

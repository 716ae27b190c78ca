"""Combine many heads into one pattern, and tokens into words. Each docstring says what happens to the weights.

Shapes: L layers, H heads, Q queries, K keys, S source tokens, T target tokens. Patterns are [..., Q, K].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from transformer.byte_pieces import join_labels
from transformer.quoting import quoted
from transformer.trace import Patterns

Groups = Sequence[Sequence[int]]  # indices of tokens that belong together, in order


def mean_heads(patterns: Patterns) -> np.ndarray:
    """Average the heads, [L, H, Q, K] -> [L, Q, K]; no single head need look like it. Rows still sum to 1."""
    return np.stack([layer.mean(-3) for layer in patterns])


def max_heads(patterns: Patterns) -> np.ndarray:
    """Return the largest weight of any head, [L, H, Q, K] -> [L, Q, K]. Rows sum to 1 or more."""
    return np.stack([layer.max(-3) for layer in patterns])


def _with_residual(patterns: Patterns) -> np.ndarray:
    """Mix half the mean of the heads with half the token itself, [L, H, N, N] -> [L, N, N]; rows sum to 1.

    Where heads are switched off, the mean sums to less than 1 and the token itself weighs more than half.
    """
    return normalise(mean_heads(patterns) + np.eye(patterns.shape[-1], dtype=patterns.dtype))


def rollout(patterns: Patterns) -> np.ndarray:
    """Follow self-attention down to the embeddings, after each layer: [L, H, N, N] -> [L, N, N].

    Abnar and Zuidema 2020, "Quantifying attention flow in transformers": each layer is ½ A + ½ I, where A is the mean
    of its heads and I stands for the residual path, and the layers are multiplied. Rows sum to 1, and a causal pattern
    stays causal. In a decoder this leaves out what comes in by cross-attention; `rollout_source` doesn't.
    """
    layers = _with_residual(patterns)
    followed = [layers[0]]
    for layer in layers[1:]:
        followed.append(layer @ followed[-1])
    return np.stack(followed)


class Sources(NamedTuple):
    """The origin of each row of the decoder. A row of `source` and that of `target` together sum to 1."""

    source: np.ndarray  # [L, T, S]
    target: np.ndarray  # [L, T, T], causal


def rollout_source(encoder: Patterns, decoder: Patterns, cross: Patterns) -> Sources:
    """Follow attention through decoder and encoder down to both sentences, after each decoder layer.

    The rule of Abnar and Zuidema (½ A + ½ I for every attention with its residual path) kept up through the decoder, as
    Ferrando et al. 2022 ("Towards opening the black box of neural machine translation") follow their contributions: a
    row starts at its own target token, self-attention mixes the rows, and cross-attention then takes half of each from
    the source, through the rollout of the whole encoder.

    Takes `encoder` [L, H, S, S], which may have another depth, `decoder` [L, H, T, T], `cross` [L, H, T, S].
    """
    memory = rollout(encoder)[-1]
    length, n_source = cross.shape[-2:]
    target, source = np.eye(length, dtype=cross.dtype), np.zeros((length, n_source), cross.dtype)
    followed = []
    for itself, looked_at in zip(_with_residual(decoder), mean_heads(cross), strict=True):
        target, source = itself @ target, itself @ source
        residual = 1 / (1 + looked_at.sum(-1, keepdims=True))  # half, or more where heads are switched off
        target, source = residual * target, residual * (source + looked_at @ memory)
        followed.append(Sources(source, target))
    return Sources(*map(np.stack, zip(*followed, strict=True)))


class Hidden(NamedTuple):
    """A pattern without some of its columns, and the share of attention that went with them."""

    pattern: np.ndarray  # [..., Q, columns that are left]
    of_row: np.ndarray  # [..., Q], 0 to 1
    overall: float


def hide_columns(patterns: np.ndarray, hidden: np.ndarray, renormalise: bool = False) -> Hidden:
    """Return `patterns` without the keys where `hidden`, bool [K], is true.

    The remaining weights are unchanged, so rows sum to less than 1. With `renormalise` they are divided by their sum,
    except in rows that are hidden as a whole, which are 0.
    """
    visible = patterns[..., ~hidden]
    gone = patterns[..., hidden].sum(-1)
    total = patterns.sum(-1)
    share = np.divide(gone, total, out=np.zeros_like(total), where=total != 0)
    overall = float(gone.sum() / total.sum()) if total.sum() else 0.0
    return Hidden(normalise(visible) if renormalise else visible, share, overall)


def merge(patterns: np.ndarray, row_groups: Groups, column_groups: Groups) -> np.ndarray:
    """Return tokens merged into words, [..., Q, K] -> [..., row groups, column groups].

    A word gets what its tokens get (columns are summed) and gives what its tokens give on average (rows are
    averaged), so rows that summed to 1 still do. Every index is in exactly one group.
    """
    n_rows, n_columns = patterns.shape[-2:]
    rows, columns = _membership(row_groups, n_rows), _membership(column_groups, n_columns)
    rows /= rows.sum(-1, keepdims=True)
    return (rows @ patterns @ columns.T).astype(patterns.dtype)


class MergedMask(NamedTuple):
    """The masked cells between words. In a causal pattern the cells on the diagonal are often `partly` masked."""

    masked: np.ndarray  # every pair of their tokens is masked
    partly: np.ndarray  # some pairs are and some aren't, so fewer tokens gave the weight than it seems


def merge_masked(masked: np.ndarray, row_groups: Groups, column_groups: Groups) -> MergedMask:
    """Return the mask, bool [Q, K], that belongs to a merged pattern."""
    rows, columns = _membership(row_groups, masked.shape[0]), _membership(column_groups, masked.shape[1])
    hidden = rows @ masked @ columns.T
    pairs = np.outer(rows.sum(-1), columns.sum(-1))
    return MergedMask(hidden == pairs, (hidden > 0) & (hidden < pairs))


def merge_labels(labels: Sequence[str], groups: Groups, joint: str = "") -> list[str]:
    """Return the labels of each group, joined; bytes that together are a character become that character."""
    return [join_labels([part for i in group for part in (joint, labels[i])][1:]) for group in groups]


def _membership(groups: Groups, size: int) -> np.ndarray:
    """Return [groups, size], 1 where the index is in the group. Raises ValueError unless each index is in exactly one
    group.
    """
    if sorted(i for group in groups for i in group) != list(range(size)) or not all(map(len, groups)):
        raise ValueError(f"The groups {quoted(groups)} don't hold each of {size} tokens once; give every index once.")
    matrix = np.zeros((len(groups), size))
    for row, group in enumerate(groups):
        matrix[row, list(group)] = 1
    return matrix


def normalise(patterns: np.ndarray) -> np.ndarray:
    """Return every row, along the last axis, divided by its sum; a row that sums to 0 stays 0."""
    total = patterns.sum(-1, keepdims=True)
    return np.divide(patterns, total, out=np.zeros_like(patterns), where=total != 0)

"""The key/value cache of a decode: each token is projected to keys and values once. The caller owns the cache.

Shapes: N rows, which are hypotheses of A sentences, at most R of each; H heads, K keys, D = d_head.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer.taps import Observer, Site

KeysValues = tuple[Tensor, Tensor]

_INITIAL_CAPACITY = 32  # tokens; it doubles when full, since allocating costs more than copying


class Rows:
    """Maps rows (hypotheses) to sentences, so that the hypotheses of a sentence share one copy of its source."""

    def __init__(self, sentence: Tensor, counts: Tensor):
        """`sentence` [N] is the sentence of each row, ascending from 0; `counts` [A] the rows per sentence."""
        self.sentence, self.sentences, self.most = sentence, len(counts), int(counts.max())
        self.full = self.sentences * self.most == len(sentence)
        first = counts.cumsum(0) - counts
        self.index_in_sentence = torch.arange(len(sentence), device=sentence.device) - first[sentence]

    def group(self, x: Tensor) -> Tensor:
        """Group rows by sentence: [N, 1, d_model] -> [A, R, d_model], zero-padded where a sentence has fewer rows."""
        if self.full:
            return x.reshape(self.sentences, self.most, -1)
        grouped = x.new_zeros(self.sentences, self.most, x.size(-1))
        grouped[self.sentence, self.index_in_sentence] = x[:, 0]
        return grouped

    def ungroup(self, x: Tensor) -> Tensor:
        """Undo `group`: [A, R, ...] -> [N, ...]."""
        return x.flatten(0, 1) if self.full else x[self.sentence, self.index_in_sentence]

    def by_row(self, observer: Observer) -> Observer:
        """Return an observer of patterns [A, H, R, K] that passes them to `observer` by row, [N, H, 1, K]."""
        return _RowObserver(self, observer)


@dataclass(frozen=True)
class _RowObserver(Observer):
    rows: Rows
    observer: Observer

    def see(self, site: Site, pattern: Tensor) -> None:
        self.observer.see(site, self.rows.ungroup(pattern.transpose(1, 2))[:, :, None])


class KeyValueCache:
    """Keys and values of self-attention, which grow by a token per step, and of cross-attention, which are fixed.

    `source` holds keys and values [A, H, K, D] per layer; `visible` [A, 1, 1, K] is False at padding, or None where
    there is no padding. `rows` is None as long as each sentence has one row. `absorbed` holds, by layer, the
    cross-attention of a single sentence with absorbed projections.
    """

    def __init__(self, source: list[KeysValues], visible: Tensor | None):
        self.length = 0  # target tokens held
        self.source, self.visible = source, visible
        self.absorbs = visible is None and absorption_pays(source[0][0])
        self.absorbed: dict[int, AbsorbedAttention] = {}
        self.rows: Rows | None = None
        self._own: dict[int, Tensor] = {}  # [2, N, H, capacity, D] per layer
        self._spare: Tensor | None = None  # the buffer that `select` freed last, reused since allocating is slower

    def grow(self, layer: int, new: Tensor) -> Tensor:
        """Append the keys and values of new tokens [2, N, H, T, D]; return those of all tokens, [2, N, H, K, D]."""
        start, end = self.length, self.length + new.size(3)
        cached = self._own.get(layer)
        if cached is None or end > cached.size(3):
            capacity = max(end, _INITIAL_CAPACITY if cached is None else 2 * cached.size(3))
            grown = new.new_empty(*new.shape[:3], capacity, new.size(4))
            if cached is not None:
                grown[:, :, :, :start] = cached[:, :, :, :start]
            self._own[layer] = cached = grown
        cached.narrow(3, start, end - start).copy_(new)
        return cached.narrow(3, 0, end)

    def forget(self) -> None:
        """Drop all target tokens."""
        self.length = 0

    @torch.inference_mode()
    def select(self, rows: Tensor) -> None:
        """Keep the given rows, in that order: the hypotheses with which a beam continues.

        Rows must be grouped by sentence, in the sentences' order. Keys and values that a tap was shown earlier are
        overwritten.
        """
        for layer, cached in self._own.items():
            shape = cached.shape[0], len(rows), *cached.shape[2:]
            if self._spare is None or self._spare.shape != shape:
                self._spare = cached.new_empty(shape)
            moved = self._spare.narrow(3, 0, self.length)  # copy the filled part only
            torch.index_select(cached.narrow(3, 0, self.length), 1, rows, out=moved)
            self._own[layer], self._spare = self._spare, cached
        before = rows if self.rows is None else self.rows.sentence[rows]
        sentences, sentence, counts = before.unique_consecutive(return_inverse=True, return_counts=True)
        if len(sentences) < len(self.source[0][0]):
            self.source = [(k.index_select(0, sentences), v.index_select(0, sentences)) for k, v in self.source]
            self.visible = None if self.visible is None else self.visible.index_select(0, sentences)
        self.rows = None if len(sentences) == len(sentence) else Rows(sentence, counts)


def absorption_pays(k: Tensor) -> bool:
    """Return whether absorbing the keys [B, H, S, D] pays: for one sentence with S <= D, so that no matrix grows."""
    return len(k) == 1 and k.size(2) <= k.size(3)


class AbsorbedAttention:
    """Cross-attention for decoding one sentence, with its keys and values absorbed into the projections around them.

    A head's scores (x Wq + bq) kᵀ equal x (Wq kᵀ) + bq kᵀ, and its output p v Wo equals p (v Wo). The products in
    brackets are the same for every written token, so that each token needs two matrix products instead of four
    (DeepSeek-V2, 2024, section 2.1.2, calls this weight absorption). S are source tokens.
    """

    def __init__(self, query: nn.Linear, output: nn.Linear, k: Tensor, v: Tensor, scale: float | None):
        """Absorb `k` and `v` [1, H, S, D] into the projections `query` and `output`; `scale` defaults to 1 / √D."""
        self.shape = n_heads, _ = k.shape[1:3]
        k = k[0] * (1 / math.sqrt(k.size(-1)) if scale is None else scale)
        into = query.weight.float().unflatten(0, (n_heads, -1))  # [H, D, d_model]
        out_of = output.weight.float().unflatten(1, (n_heads, -1)).permute(1, 2, 0)  # [H, D, d_model]
        self.keys = (k @ into).flatten(0, 1).mT  # [d_model, H * S]
        self.values = (v[0] @ out_of).flatten(0, 1)  # [H * S, d_model]
        self.bias = k.new_zeros(())
        if query.bias is not None:
            self.bias = (k @ query.bias.float().view(n_heads, -1, 1)).flatten()  # [H * S]
        if output.bias is not None:
            self.values += output.bias / n_heads  # a head's weights sum to 1

    def __call__(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        """Return the pattern [N, H, 1, S] of `x` [N, 1, d_model], and the attention's output added to `residual`."""
        scores = torch.addmm(self.bias, x[:, 0], self.keys)
        pattern = scores.view(len(x), self.shape[0], 1, self.shape[1])
        torch.softmax(pattern, -1, out=pattern)
        return pattern, torch.addmm(residual[:, 0], scores, self.values)[:, None]

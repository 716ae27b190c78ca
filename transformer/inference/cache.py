"""The keys and values that a decode has seen, so that each token is projected once. The caller owns it.

Shapes: N rows, which are hypotheses of A sentences, at most R of each; H heads, K keys, D = d_head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.inference.folded import Folded, folds
from transformer.taps import Observer, Site

KeysValues = tuple[Tensor, Tensor]

_PLACES = 32  # for so many tokens at first, then twice as many: new memory costs more than what is written there


class Rows:
    """The sentence that each row belongs to: what the rows of one sentence look at lies in memory once."""

    def __init__(self, sentence: Tensor, counts: Tensor):
        """`sentence` [N] counts up from 0, a row each, and `counts` [A] says how many rows each sentence has."""
        self.sentence, self.sentences, self.most = sentence, len(counts), int(counts.max())
        self.full = self.sentences * self.most == len(sentence)
        first = counts.cumsum(0) - counts
        self.place = torch.arange(len(sentence), device=sentence.device) - first[sentence]

    def together(self, x: Tensor) -> Tensor:
        """[N, 1, d_model] -> [A, R, d_model]: a sentence's rows as its queries, with 0 where it has fewer."""
        if self.full:
            return x.reshape(self.sentences, self.most, -1)
        places = x.new_zeros(self.sentences, self.most, x.size(-1))
        places[self.sentence, self.place] = x[:, 0]
        return places

    def apart(self, x: Tensor) -> Tensor:
        """[A, R, ...] -> [N, ...]."""
        return x.flatten(0, 1) if self.full else x[self.sentence, self.place]

    def shown(self, observer: Observer) -> Observer:
        """One that sees patterns [A, H, R, K], and shows them to `observer` as those of rows, [N, H, 1, K]."""
        return _OfRows(self, observer)


@dataclass(frozen=True)
class _OfRows(Observer):
    rows: Rows
    observer: Observer

    def see(self, site: Site, pattern: Tensor) -> None:
        self.observer.see(site, self.rows.apart(pattern.transpose(1, 2))[:, :, None])


class Cache:
    """Self-attention's keys and values grow by a token per step; cross-attention's are computed once per sentence.

    `source` has a layer's keys and values each, [A, H, K, D], and `visible` [A, 1, 1, K] is False at their padding;
    None where there is none. `rows` is None as long as each sentence has one row. `folded` has the only sentence,
    by layer, where it is folded.
    """

    def __init__(self, source: list[KeysValues], visible: Tensor | None):
        self.length = 0  # target tokens held
        self.source, self.visible = source, visible
        self.folds = visible is None and folds(source[0][0])
        self.folded: dict[int, Folded] = {}
        self.rows: Rows | None = None
        self._own: dict[int, Tensor] = {}  # [2, N, H, places, D] a layer
        self._spare: Tensor | None = None  # what the last layer that was selected from lay in: new memory costs more

    def grow(self, layer: int, new: Tensor) -> Tensor:
        """Takes in the newest tokens' keys and values, [2, N, H, T, D], and gives all so far, [2, N, H, K, D]."""
        start, end = self.length, self.length + new.size(3)
        held = self._own.get(layer)
        if held is None or end > held.size(3):
            places = max(end, _PLACES if held is None else 2 * held.size(3))
            grown = new.new_empty(*new.shape[:3], places, new.size(4))
            if held is not None:
                grown[:, :, :, :start] = held[:, :, :, :start]
            self._own[layer] = held = grown
        held.narrow(3, start, end - start).copy_(new)
        return held.narrow(3, 0, end)

    def forget(self) -> None:
        """Holds no target token any more."""
        self.length = 0

    @torch.inference_mode()
    def select(self, rows: Tensor) -> None:
        """Keeps the given rows, in that order: a beam goes on from the hypotheses it chose.

        They are grouped by sentence, in the sentences' order. What a tap was shown of the keys and values before is
        overwritten.
        """
        for layer, held in self._own.items():
            shape = held.shape[0], len(rows), *held.shape[2:]
            if self._spare is None or self._spare.shape != shape:
                self._spare = held.new_empty(shape)
            moved = self._spare.narrow(3, 0, self.length)  # only what is written moves
            torch.index_select(held.narrow(3, 0, self.length), 1, rows, out=moved)
            self._own[layer], self._spare = self._spare, held
        before = rows if self.rows is None else self.rows.sentence[rows]
        sentences, sentence, counts = before.unique_consecutive(return_inverse=True, return_counts=True)
        if len(sentences) < len(self.source[0][0]):
            self.source = [(k.index_select(0, sentences), v.index_select(0, sentences)) for k, v in self.source]
            self.visible = None if self.visible is None else self.visible.index_select(0, sentences)
        self.rows = None if len(sentences) == len(sentence) else Rows(sentence, counts)

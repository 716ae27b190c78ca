"""The keys and values that a decode has seen, so that each token is projected once. The caller owns it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

KeysValues = tuple[Tensor, Tensor]  # each [B, H, K, D]


class Cache:
    """Self-attention's keys and values grow by a token a step; cross-attention's are computed once."""

    def __init__(self) -> None:
        self.length = 0  # target tokens held
        self._own: dict[int, KeysValues] = {}
        self._source: dict[int, KeysValues] = {}

    def grow(self, layer: int, new: KeysValues) -> KeysValues:
        if layer in self._own:
            old = self._own[layer]
            new = torch.cat([old[0], new[0]], 2), torch.cat([old[1], new[1]], 2)
        self._own[layer] = new
        return new

    def once(self, layer: int, compute: Callable[[], KeysValues]) -> KeysValues:
        if layer not in self._source:
            self._source[layer] = compute()
        return self._source[layer]

    def select(self, rows: Tensor, same_source: bool = False) -> None:
        """Keeps the given rows of the batch, in that order: a beam goes on from the hypotheses it chose.

        With `same_source` each new row reads the sentence that the row in its place read, so that part stays.
        """
        for held in (self._own,) if same_source else (self._own, self._source):
            for layer, (k, v) in held.items():
                held[layer] = k.index_select(0, rows), v.index_select(0, rows)

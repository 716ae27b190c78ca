"""Padded batches of sentence pairs of similar length, each with about the same number of tokens.

B batch, S source length, T target length.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer.tokenizers import PAD

Ids = list[int] | np.ndarray
Example = tuple[Ids, Ids]  # source ids ending with [EOS]; target ids from [SOS] to [EOS]


class Batch(NamedTuple):
    """`src` [B, S] and `tgt` [B, T], int64, padded at the end with `pad_id`."""

    src: Tensor
    tgt: Tensor
    pad_id: int = PAD

    @property
    def n_tokens(self) -> int:
        """The number of target tokens that the decoder predicts: all but each row's [SOS] and padding."""
        return int((self.tgt[:, 1:] != self.pad_id).sum())


def collate(examples: Sequence[Example], pad_id: int = PAD) -> Batch:
    sources, targets = zip(*examples, strict=True)
    return Batch(_pad(sources, pad_id), _pad(targets, pad_id), pad_id)


def _pad(rows: Iterable[Ids], pad_id: int) -> Tensor:
    tensors = [torch.from_numpy(np.array(row, np.int64)) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=pad_id)


def _length(example: Example) -> int:
    source, target = example
    return max(len(source), len(target))


def bucket(examples: Iterable[Example], budget: int) -> list[list[Example]]:
    """Sort `examples` by length and split them so that rows * longest side is at most `budget` tokens.

    An example that exceeds the budget by itself gets its own batch.
    """
    batches: list[list[Example]] = []
    for example in sorted(examples, key=_length):  # a stable sort: equal lengths stay shuffled
        if batches and (len(batches[-1]) + 1) * _length(example) <= budget:
            batches[-1].append(example)
        else:
            batches.append([example])
    return batches


class BatchStream:
    """An endless, reproducible stream of shuffled batches from a corpus that may be larger than memory.

    `examples` is iterated once per epoch, in pools of `pool` examples, of which one is in memory at a time. Each pool
    is shuffled and bucketed within `budget` (see `bucket`), and its batches are shuffled.
    """

    def __init__(
        self, examples: Iterable[Example], budget: int, pad_id: int = PAD, seed: int = 0, pool: int = 100_000
    ) -> None:
        self.examples, self.budget, self.pad_id, self.seed, self.pool = examples, budget, pad_id, seed, pool
        self._epoch, self._index = 0, 0

    def state(self) -> tuple[int, int]:
        """Return (epoch, number of its batches yielded so far), counted from 0, for `restore`."""
        return self._epoch, self._index

    def restore(self, state: Sequence[int]) -> None:
        """Continue with the batch that a stream in this `state()` would yield next."""
        self._epoch, self._index = state

    def __iter__(self) -> Iterator[Batch]:
        while True:
            yield from self.epoch()

    def epoch(self) -> Iterator[Batch]:
        """Yield the remaining batches of the current epoch. Raises ValueError when the corpus has no example."""
        index = -1
        for index, batch in enumerate(self._batches()):
            if index >= self._index:
                self._index = index + 1
                yield collate(batch, self.pad_id)
        if index < 0:
            raise ValueError("The corpus has no usable pair; its report says what was rejected.")
        self._epoch, self._index = self._epoch + 1, 0

    def _batches(self) -> Iterator[list[Example]]:
        examples, number = iter(self.examples), 0
        while pool := list(islice(examples, self.pool)):
            shuffle = random.Random(f"{self.seed} {self._epoch} {number}").shuffle
            shuffle(pool)
            batches = bucket(pool, self.budget)
            shuffle(batches)
            pool.clear()
            yield from batches
            batches.clear()  # before the next pool is read: only one pool is ever in memory
            number += 1

"""Who tells a search what comes next: the network itself a step at a time, or a draft of it that is checked.

A draft (Leviathan et al. 2023, "Fast inference from transformers via speculative decoding") is what the search would
write if the network were its copy in 8 bits, some steps ahead, whole beams and all. One pass of the network over every
token of it gives the network's own logits there, and the search decides by those alone. So it writes what it would
have written step by step; the draft only says which tokens are computed together, and the network's weights, which
take longer to read than to multiply, are read once for many of them.

Shapes: N live hypotheses, T tokens that each has written, L levels of a draft, n tokens of it, H heads, K keys,
S source tokens, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from transformer.cache import Cache
from transformer.prepared import Prepared
from transformer.taps import Observer, Recorder, Tap, by_row, chain

FIRST, MOST = 16, 32  # steps that are drafted at first, and at most
TOKENS = 96  # of a draft, at most: with more, the pass that checks it takes as much longer
SPARE = 2  # hypotheses by which a draft is wider where one went wrong


class Writer(Protocol):
    def logits(self, prefix: Tensor, tap: Tap | None) -> Tensor:
        """Those after the last of `prefix` [N, 1 + T], a row for each live hypothesis, [SOS] first: [N, V]."""

    def select(self, parents: Tensor) -> None:
        """The next rows continue these of the last ones, in this order."""


class StepByStep:
    """One pass of the network a step."""

    def __init__(self, network: Prepared, cache: Cache):
        self.network, self.cache = network, cache

    def logits(self, prefix: Tensor, tap: Tap | None) -> Tensor:
        return self.network.write_next(prefix, self.cache, tap)

    def select(self, parents: Tensor) -> None:
        self.cache.select(parents)


@dataclass(frozen=True)
class Level:
    """The live hypotheses of one step of a draft, a token each: the one that they wrote last."""

    tokens: Tensor  # [N]
    rows: dict[tuple[int, int], int]  # by the row of the level before, and the token
    places: Tensor  # [N] where the cache holds them
    paths: Tensor  # [N, T] where it holds what stands before each

    def after(self, parents: Tensor, tokens: Tensor) -> Level:
        """The next one, whose rows continue `parents` [N] of these by `tokens` [N]."""
        first = int(self.places[-1]) + 1
        rows = {pair: row for row, pair in enumerate(zip(parents.tolist(), tokens.tolist(), strict=True))}
        return Level(tokens, rows, torch.arange(first, first + len(tokens)), self.through()[parents])

    def through(self) -> Tensor:
        """The paths with their own places: [N, T + 1]."""
        return torch.cat([self.paths, self.places[:, None]], 1)


class Ahead(Protocol):
    def __call__(self, writer: Writer, spare: int) -> Iterator[tuple[Tensor, Tensor]]:
        """How the search, by so many hypotheses wider, would go on if `writer` told it what comes next.

        For each step the rows that live on, by the row that they continue, [N], and the token that they add, [N].
        """


class Drafted:
    """A draft of some steps, one pass to check it, and so on. For one sentence, and taps that go row by row."""

    def __init__(self, network: Prepared, draft: Prepared, cache: Cache, ahead: Ahead, changing: Tap | None):
        """`changing` are those of the search's taps that change patterns."""
        self.network, self.draft, self.cache, self.ahead, self.changing = network, draft, cache, ahead, changing
        self.steps = FIRST  # to draft
        self.spare = 0  # hypotheses by which the draft is wider than the search
        self.used = 0  # levels of the draft that the search has reached
        self.levels: list[Level] = []
        self.rows: list[int] = []  # of the last of these, one for each live hypothesis
        self.first = 0  # where the cache holds the draft
        self.written = torch.empty(0, 0)  # [n, V] logits
        self.seen: Recorder | None = None

    def logits(self, prefix: Tensor, tap: Tap | None) -> Tensor:
        parts = by_row(tap)
        assert parts is not None
        tokens, observer = prefix[:, -1], parts[1]
        rows = self._foreseen(tokens.tolist())
        if rows is None:
            self._look_ahead(tokens, observer is not None)
            rows = list(range(len(tokens)))
        self.rows, level = rows, self.levels[self.used]
        self.used += 1
        if observer is not None:
            self._show(level, observer)
        return self.written[level.places[rows] - self.first]

    def select(self, parents: Tensor) -> None:
        self.rows = [self.rows[parent] for parent in parents.tolist()]

    def _foreseen(self, tokens: list[int]) -> list[int] | None:
        """The rows of the next level that are the live hypotheses; None where one of them is missing."""
        if self.used == len(self.levels):
            return None
        known = self.levels[self.used].rows
        rows = [known.get(pair, -1) for pair in zip(self.rows, tokens, strict=True)]
        return None if -1 in rows else rows

    def _look_ahead(self, tokens: Tensor, record: bool) -> None:
        """Drafts what follows the live hypotheses, whose last tokens are `tokens`, and checks it."""
        paths = self._paths(len(tokens))
        self.first = self.cache.length
        self.levels, self.used = self._draft(tokens, paths), 0
        self._check(record)
        if len(self.levels) > 1 and self.written[:, 0].isnan().any():
            # A key that is not a number reaches those that it is hidden from, since 0 times it is none either.
            self.levels, self.cache.length = self.levels[:1], self.first
            self._check(record)

    def _check(self, record: bool) -> None:
        """The network reads the draft."""
        count = sum(len(level.tokens) for level in self.levels)
        mask = torch.zeros(count, self.first + count, dtype=torch.bool)
        for level in self.levels:
            of_level = level.places - self.first
            mask[of_level[0] : of_level[-1] + 1].scatter_(1, level.through(), True)
        at = torch.cat([torch.full_like(level.tokens, level.paths.size(1)) for level in self.levels])
        every = torch.cat([level.tokens for level in self.levels])
        self.seen = Recorder() if record else None
        self.written = self.network.write_tree(every, at, mask, self.cache, chain(self.changing, self.seen))

    def _draft(self, tokens: Tensor, paths: Tensor) -> list[Level]:
        if self.levels and self.used == len(self.levels):
            self.steps = min(2 * self.steps, MOST)
        elif self.levels:
            self.steps, self.spare = max(self.used, 4), SPARE
        levels = [Level(tokens, {}, torch.arange(self.first, self.first + len(tokens)), paths)]
        room = TOKENS - len(tokens)
        ahead = self.ahead(StepByStep(self.draft, self.cache.branches(paths)), self.spare)
        while len(levels) < self.steps and room >= len(levels[-1].tokens):
            parents, chosen = next(ahead, (tokens[:0], tokens[:0]))
            if not len(chosen):
                break
            levels.append(levels[-1].after(parents, chosen))
            room -= len(chosen)
        return levels

    def _paths(self, count: int) -> Tensor:
        """Where the cache holds what each live hypothesis has written but for its last token; the rest is forgotten."""
        if not self.levels:
            return torch.empty(count, 0, dtype=torch.long)
        paths = self.levels[self.used - 1].through()[self.rows]
        places = paths.unique()
        self.cache.keep(places)
        return torch.searchsorted(places, paths)

    def _show(self, level: Level, tap: Observer) -> None:
        """The rows of the patterns that the live hypotheses' last tokens look along, [N, H, 1, K] at each site."""
        assert self.seen is not None
        tokens, keys = level.places[self.rows] - self.first, level.through()[self.rows]
        for site, (pattern,) in self.seen.items():
            of_sentence = pattern[0]
            rows = of_sentence[:, tokens[:, None], keys] if site.kind == "self" else of_sentence[:, tokens]
            tap.see(site, rows.transpose(0, 1)[:, :, None])

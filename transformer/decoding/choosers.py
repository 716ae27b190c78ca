"""Choosers pick the next tokens: the most probable, a sampled one, or the best of several hypotheses at once.

Shapes: B sentences, of which A have live hypotheses, N live hypotheses, C candidates, V target vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from transformer.decoding.step import Fate


class Live(NamedTuple):
    """The hypotheses that go into a step, one per row, grouped by sentence."""

    sentences: Tensor  # [N]
    written: Tensor  # [N, tokens so far]
    totals: Tensor  # [N]

    @property
    def length(self) -> int:
        return self.written.size(1)


class Candidates(NamedTuple):
    """The candidates that come out of a step, [C] each, as `DecodeStep` holds them."""

    parents: Tensor
    tokens: Tensor
    totals: Tensor
    scores: Tensor
    fates: Tensor


class Chooser(Protocol):
    """A strategy's choice among the next tokens."""

    @property
    def size(self) -> int:
        """The largest number of hypotheses that a sentence keeps at a step."""

    def __call__(self, live: Live, allowed: Tensor, free: Tensor) -> Candidates:
        """Return the candidates of a step.

        `allowed` [N, V] are log-probabilities, -inf for the tokens that a row may not write. `free` [N, V] are the same
        without the restriction to forced tokens; it is the same tensor where nothing is forced.
        """


def _fates(tokens: Tensor, eos_id: int, at_bound: Tensor) -> Tensor:
    """Return the `Fate` of each chosen token: finished at [EOS], cut off at the length limit, else live."""
    fates = torch.full_like(tokens, Fate.LIVE).masked_fill_(at_bound, Fate.UNFINISHED)
    return fates.masked_fill_(tokens == eos_id, Fate.FINISHED)


def _one_each(live: Live, allowed: Tensor, tokens: Tensor, eos_id: int, bounds: Tensor) -> Candidates:
    """Return one candidate per row: the token [N] that was chosen for it."""
    totals = live.totals + allowed.gather(1, tokens[:, None])[:, 0]
    fates = _fates(tokens, eos_id, bounds[live.sentences] == live.length + 1)
    return Candidates(torch.arange(len(tokens), device=tokens.device), tokens, totals, totals, fates)


@dataclass(frozen=True)
class Greedy:
    """Choose the most probable token."""

    size: ClassVar[int] = 1

    eos_id: int
    bounds: Tensor  # [B] the largest number of tokens that each sentence may have

    def __call__(self, live: Live, allowed: Tensor, free: Tensor) -> Candidates:
        return _one_each(live, allowed, allowed.argmax(-1), self.eos_id, self.bounds)


def tempered(log_probs: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0) -> Tensor:
    """Return log-probabilities [..., V] as sampling draws from them: p ** (1 / temperature), cut and renormalised.

    The cut leaves the `top_k` most probable tokens, and of those the nucleus: the fewest whose probabilities reach
    `top_p` (nucleus sampling, Holtzman et al. 2020); the others get -inf. Raises ValueError for a temperature outside
    0.001 to 1000, a `top_k` below 1 or a `top_p` that is not above 0 and at most 1.
    """
    if not 0.001 <= temperature <= 1000:
        raise ValueError(f"The temperature is {temperature}; it must be a number from 0.001 to 1000.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; it must be at least 1, or None to keep every token.")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}; it must be above 0 and at most 1.")
    log_probs = (log_probs / temperature).log_softmax(-1)
    if top_k is not None and top_k < log_probs.size(-1):
        best = log_probs.topk(top_k)
        nothing = torch.full_like(log_probs, -torch.inf)
        log_probs = nothing.scatter(-1, best.indices, best.values).log_softmax(-1)
    if top_p < 1:
        ordered = log_probs.sort(dim=-1, descending=True, stable=True)
        probs = ordered.values.exp()
        likelier = probs.cumsum(-1) - probs  # the share of the tokens before each; nothing before the first
        nucleus = ordered.values.masked_fill(likelier >= top_p, -torch.inf)
        log_probs = torch.empty_like(log_probs).scatter(-1, ordered.indices, nucleus).log_softmax(-1)
    return log_probs


@dataclass(frozen=True)
class Sample:
    """Draw a token from the tempered probabilities.

    A draw depends only on the seed, the sentence's index in the batch and the step, so a decode that is forced to
    repeat the beginning of another continues as that one did.
    """

    size: ClassVar[int] = 1
    eos_id: int
    bounds: Tensor  # [B] the largest number of tokens that each sentence may have
    draws: Tensor  # [B, steps], each from 0 up to but not including 1
    temperature: float
    top_k: int | None
    top_p: float

    def __call__(self, live: Live, allowed: Tensor, free: Tensor) -> Candidates:
        sums = tempered(allowed, self.temperature, self.top_k, self.top_p).double().exp().cumsum(-1)
        drawn = self.draws[live.sentences, live.length, None] * sums[:, -1:]
        # "right" steps over tokens of probability 0, where the sum does not grow.
        tokens = torch.searchsorted(sums, drawn, right=True)[:, 0]
        return _one_each(live, allowed, tokens, self.eos_id, self.bounds)


def draws(seed: int, sentences: int, steps: int) -> Tensor:
    """Return a number from [0, 1) for each step of each sentence: [sentences, steps], in double precision.

    The numbers are rounded to single precision, so that their product with a sum in double stays below that sum.
    """
    rows = [np.random.default_rng([seed, row]).random(steps, dtype=np.float32) for row in range(sentences)]
    return torch.from_numpy(np.array(rows, dtype=np.float64).reshape(sentences, steps))


def penalty(length: Tensor, alpha: float) -> Tensor:
    """Return the length penalty, which divides a log-probability: equation 14 of Wu et al. 2016."""
    return ((5 + length) / 6) ** alpha


class Beam:
    """Keep the `size` best continuations of each sentence's hypotheses; finished ones are set aside.

    A score is the log-probability over the length penalty. All hypotheses of a step have the same length, so the plain
    sum decides between them. At a temperature other than 1, that sum is of the tempered log-probabilities.
    """

    def __init__(self, eos_id: int, bounds: Tensor, size: int, alpha: float, temperature: float = 1.0):
        self.eos_id, self.bounds, self.size, self.alpha = eos_id, bounds, size, alpha
        self.temperature = temperature
        # [N] the sums that rank the next step's rows, where they are not the model's own log-probabilities
        self.sums: Tensor | None = None
        # [B, size] each sentence's best finished scores so far, best first
        self.finished = torch.full((len(bounds), size), -torch.inf, device=bounds.device)

    def __call__(self, live: Live, allowed: Tensor, free: Tensor) -> Candidates:
        if self.temperature == 1:
            return self.rank(live, allowed, allowed)
        # A forced token keeps the probability that it had among all tokens.
        normaliser = (free / self.temperature).logsumexp(-1, keepdim=True)
        return self.rank(live, allowed, allowed / self.temperature - normaliser)

    def rank(self, live: Live, allowed: Tensor, ranking: Tensor) -> Candidates:
        """Choose by the sums of `ranking` [N, V], which are never above 0; the candidates' totals sum `allowed`."""
        considered = 2 * self.size  # more than are kept, so that the page can show what was pruned
        each = ranking.topk(min(considered, ranking.size(1)))  # a sentence takes no more than that from one row
        active, group, counts = live.sentences.unique_consecutive(return_inverse=True, return_counts=True)
        first = counts.cumsum(0) - counts  # [A] the first row of each sentence
        column = torch.arange(len(group), device=group.device) - first[group]
        board = allowed.new_full((len(active), int(counts.max()), each.values.size(1)), -torch.inf)
        board[group, column] = (live.totals if self.sums is None else self.sums)[:, None] + each.values
        sums, cells = board.flatten(1).topk(min(considered, board[0].numel()))  # [A, considered]

        exists = sums > -torch.inf  # a sentence with fewer rows than another leaves cells empty
        parents = (first[:, None] + cells // board.size(2)).where(exists, 0)
        tokens = each.indices[parents, cells % board.size(2)]
        length = live.length + 1
        totals = sums if ranking is allowed else live.totals[parents] + allowed[parents, tokens]
        scores = sums / penalty(torch.tensor(length), self.alpha)
        fates = _fates(tokens, self.eos_id, (self.bounds[active] == length)[:, None])
        fates[:, self.size :] = Fate.PRUNED
        settled = self._settled(active, sums, scores, fates)
        fates = fates.masked_fill(settled[:, None] & (fates == Fate.LIVE), Fate.STOPPED)
        if ranking is not allowed:
            self.sums = sums[exists & (fates == Fate.LIVE)]
        return Candidates(*(x[exists] for x in (parents, tokens, totals, scores, fates)))

    def _settled(self, active: Tensor, sums: Tensor, scores: Tensor, fates: Tensor) -> Tensor:
        """Add the finished scores, and return which sentences no live hypothesis can improve: [A].

        A sum is never above 0, more tokens only lower it, and the penalty that divides it is largest at the sentence's
        length limit. So no continuation scores higher than the present sum over that penalty: once the `size`-th best
        finished score is as high, the best `size` are known. A sentence without live hypotheses is settled too, since
        its `hope` is -inf.
        """
        new = scores.masked_fill(fates != Fate.FINISHED, -torch.inf)
        best = torch.cat([self.finished[active], new], 1).topk(self.size).values
        self.finished[active] = best
        hope = sums.masked_fill(fates != Fate.LIVE, -torch.inf).amax(1)
        return hope / penalty(self.bounds[active], self.alpha) <= best[:, -1]

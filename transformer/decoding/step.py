"""One step of a decode as tensors, with methods that make it readable.

Shapes: B sentences, N live hypotheses, C candidates, V target vocabulary, H heads, K keys, S source tokens,
T target tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.taps import Site


class Fate(IntEnum):
    """What happens to a candidate."""

    LIVE = 0  # goes on as a row of the next step
    FINISHED = 1  # wrote [EOS]
    UNFINISHED = 2  # reached the length limit
    PRUNED = 3  # not among the best
    STOPPED = 4  # among the best at the end, but worse than the finished ones


@dataclass(frozen=True)
class Hypothesis:
    """The tokens written after [SOS]; a finished hypothesis ends in [EOS].

    `log_prob` is the sum over its tokens. `score` ranks hypotheses: that sum (with a temperature, of tempered
    log-probabilities; in diverse beam search, less the diversity penalties) divided by the length penalty.
    """

    ids: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool


@dataclass(frozen=True, eq=False)
class DecodeStep:
    """One step: N live hypotheses go in, one per row, and C candidates come out. Both are grouped by sentence.

    A sentence's candidates are ordered by score, best first. The rows of the next step are the candidates whose fate is
    LIVE, in the same order. If recorded, `patterns` holds the newest token's attention for each decoder site,
    [N, H, K], and in the first step also the whole pattern of each encoder site, [B, H, S, S].
    """

    index: int  # 0 where the token after [SOS] is chosen
    sentences: Tensor  # [N] the sentence of the batch that each row belongs to
    written: Tensor  # [N, index] what each row has written, without [SOS]
    log_probs: Tensor  # [N, V] float32, of each row's next token
    parents: Tensor  # [C] the row that each candidate continues
    tokens: Tensor  # [C] the token that it adds
    totals: Tensor  # [C] its log-probability from the start
    scores: Tensor  # [C] what ranks it: `totals`, tempered or with a diversity penalty, over the length penalty
    fates: Tensor  # [C] a `Fate` each
    patterns: dict[Site, Tensor] | None = None

    def candidates(self, row: int, k: int) -> list[tuple[int, float]]:
        """Return the k most probable next tokens of a row with their log-probabilities, most probable first."""
        best = self.log_probs[row].topk(min(k, self.log_probs.size(1)))
        return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))

    def having(self, *fates: Fate, sentence: int | None = None) -> list[int]:
        """Return the candidates that have one of these fates, of one sentence or of all."""
        candidates = [candidate for candidate, fate in enumerate(self.fates.tolist()) if fate in fates]
        if sentence is None:
            return candidates
        of = self.sentences[self.parents].tolist()
        return [candidate for candidate in candidates if of[candidate] == sentence]

    def hypothesis(self, candidate: int) -> Hypothesis:
        """Return a candidate of this step with all that was written before it."""
        ids = [*self.written[self.parents[candidate]].tolist(), int(self.tokens[candidate])]
        finished = int(self.fates[candidate]) == Fate.FINISHED
        return Hypothesis(tuple(ids), float(self.totals[candidate]), float(self.scores[candidate]), finished)


def finish(steps: Iterable[DecodeStep]) -> list[list[Hypothesis]]:
    """Run a decode to its end and return each sentence's hypotheses, best first.

    Those that ended without [EOS] come after all that finished. A beam can finish more than its size; the search for
    those beyond the first `size` was not exhaustive. A hypothesis that two groups of a diverse beam found is listed
    once, with the better score.
    """
    ended: list[dict[tuple[int, ...], Hypothesis]] = []
    for step in steps:
        if step.index == 0:  # every sentence has one row
            ended = [{} for _ in step.sentences]
        for candidate in step.having(Fate.FINISHED, Fate.UNFINISHED):
            sentence = int(step.sentences[step.parents[candidate]])
            hypothesis = step.hypothesis(candidate)
            ended[sentence].setdefault(hypothesis.ids, hypothesis)  # a step's candidates come best first
    return [sorted(hypotheses.values(), key=lambda h: (not h.finished, -h.score)) for hypotheses in ended]


def rows_of(steps: Sequence[DecodeStep], sentence: int, ids: Sequence[int]) -> list[int]:
    """Return the row of each step in which the hypothesis that wrote `ids` lived, one per token.

    Groups of a diverse beam may write the same; the first such row is returned, and the others equal it. Raises
    ValueError if the steps hold no such hypothesis.
    """
    rows = []
    for step in steps[: len(ids)]:
        so_far = step.written.new_tensor(list(ids[: step.index]))
        alike = (step.sentences == sentence) & (step.written == so_far).all(1)
        rows += alike.nonzero()[:1, 0].tolist()
    if not rows or len(rows) != len(ids):
        raise ValueError(f"Sentence {sentence} was never written {list(ids)}; pass ids that these steps wrote.")
    return rows


def recorded(steps: Sequence[DecodeStep], sentence: int, ids: Sequence[int]) -> dict[Site, Tensor]:
    """Return the patterns that wrote one hypothesis: encoder [H, S, S], decoder [H, T, T] and cross [H, T, S].

    T is `len(ids)`. Where a key is later than its query the pattern is 0, even in a model without a look-ahead mask: in
    the pass that computed the row, that key was not written yet. Raises ValueError if the steps were not recorded or
    hold no such hypothesis.
    """
    rows = rows_of(steps, sentence, ids)
    patterns = [step.patterns for step in steps[: len(ids)] if step.patterns is not None]
    if len(patterns) < len(rows):
        raise ValueError("These steps hold no patterns; decode with record=True.")
    whole = {}
    for site, last in patterns[-1].items():
        if site.stack == "decoder":
            visible = [pattern[site][row] for pattern, row in zip(patterns, rows, strict=True)]
            whole[site] = torch.stack([F.pad(row, (0, last.size(-1) - row.size(-1))) for row in visible], 1)
    return {site: p[sentence] for site, p in patterns[0].items() if site.stack == "encoder"} | whole

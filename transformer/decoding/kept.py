"""The model's answers, kept for sampling again: sampling from steps that were kept.

Shapes: S source tokens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from transformer.decoding import arguments, sample
from transformer.decoding.choosers import Live, Sample, draws
from transformer.decoding.search import allowed, forced
from transformer.decoding.step import DecodeStep, Fate
from transformer.inference.prepared import Prepared
from transformer.model import Transformer

MOST = 50_000_000  # bytes of log-probabilities and patterns, after which it starts over


class Kept:
    """The steps of one sentence by what was written before them, for sampling again with other settings.

    The temperature, the cuts and the seed change what is drawn and not what the model says, so as long as the
    same tokens are drawn, nothing is computed.
    """

    def __init__(self, model: Transformer | Prepared, src: Tensor):
        """`src` [1, S]: one sentence."""
        self.model, self.src = model, arguments.source(model, src)
        assert len(self.src) == 1, "one sentence at a time"
        self.steps: dict[tuple[int, ...], DecodeStep] = {}
        self.nbytes = 0  # of their log-probabilities and patterns

    def sample(
        self, *, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0, seed: int = 0
    ) -> list[DecodeStep]:
        """The steps of `decoding.sample(model, src, record=True, ...)`; the model is asked only from where it
        writes something that it has not written before."""
        options: dict[str, Any] = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
        known = self._known(**options)
        if known and known[-1].fates.tolist() != [Fate.LIVE]:
            return known
        begun = known[-1].hypothesis(0).ids if known else ()
        steps = list(sample(self.model, self.src, prefix=begun, record=True, **options))
        if self.nbytes > MOST:
            self.steps, self.nbytes = {}, 0
        for step in steps[len(known) :]:
            self.steps[tuple(step.written[0].tolist())] = step
            self.nbytes += sum(each.nbytes for each in (step.log_probs, *(step.patterns or {}).values()))
        return known + steps[len(known) :]

    def _known(self, temperature: float, top_k: int | None, top_p: float, seed: int) -> list[DecodeStep]:
        """The steps that need no pass of the model, sampled again."""
        bounds = arguments.longest(self.src, None, self.model.config)
        drawn = draws(seed, 1, int(bounds)).to(self.src.device)
        choose = Sample(self.model.config.eos_id, bounds, drawn, temperature, top_k, top_p)
        total, written = torch.zeros(1, device=self.src.device), tuple[int, ...]()
        steps: list[DecodeStep] = []
        start = self.model.config.target_start
        while (kept := self.steps.get(written)) is not None:
            seen = free = allowed(kept.log_probs, self.model.config)
            if len(written) < len(start):
                seen = forced(kept.log_probs, free, kept.sentences.new_tensor([[start[len(written)]]]))
            chosen = choose(Live(kept.sentences, kept.written, total), seen, free)
            steps.append(replace(kept, **chosen._asdict()))
            if chosen.fates.tolist() != [Fate.LIVE]:
                break
            total, written = chosen.totals, (*written, int(chosen.tokens))
        return steps

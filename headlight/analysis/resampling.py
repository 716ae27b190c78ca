"""Sample one sentence repeatedly with different settings, from stored steps where possible.

Shapes: S source tokens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from transformer.decoding import DecodeStep, Fate, allowed, sample
from transformer.decoding.choosers import Live, Sample, draws
from transformer.decoding.search import max_lengths, source_ids, with_forced
from transformer.inference.prepared import Prepared
from transformer.model import Transformer

MAX_STORED_BYTES = 50_000_000  # of log-probabilities and patterns; a `Resampler` with more drops them all


class Resampler:
    """A store of decoding steps of one sentence by their prefixes, for sampling again with other settings.

    Temperature, top-k, top-p and seed change which tokens are drawn but not the model's output, so the model does not
    run again as long as the same tokens are drawn.
    """

    def __init__(self, model: Transformer | Prepared, src: Tensor):
        """Prepare to sample translations of `src` [1, S], one sentence."""
        self.model, self.src = model, source_ids(model, src)
        assert len(self.src) == 1, "one sentence at a time"
        self.steps: dict[tuple[int, ...], DecodeStep] = {}
        self.nbytes = 0  # of their log-probabilities and patterns

    def sample(
        self, *, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0, seed: int = 0
    ) -> list[DecodeStep]:
        """Return the steps of `decoding.sample(model, src, record=True, ...)`.

        The model runs only from the first token on that was never drawn before.
        """
        options: dict[str, Any] = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
        computed = self._known(**options)
        if computed and computed[-1].fates.tolist() != [Fate.LIVE]:
            return computed
        begun = computed[-1].hypothesis(0).ids if computed else ()
        steps = list(sample(self.model, self.src, prefix=begun, record=True, **options))
        if self.nbytes > MAX_STORED_BYTES:
            self.steps, self.nbytes = {}, 0
        for step in steps[len(computed) :]:
            self.steps[tuple(step.written[0].tolist())] = step
            self.nbytes += sum(each.nbytes for each in (step.log_probs, *(step.patterns or {}).values()))
        return computed + steps[len(computed) :]

    def _known(self, temperature: float, top_k: int | None, top_p: float, seed: int) -> list[DecodeStep]:
        """Sample from stored log-probabilities alone, and return the steps up to the first that is not stored."""
        bounds = max_lengths(self.src, None, self.model.config)
        drawn = draws(seed, 1, int(bounds)).to(self.src.device)
        choose = Sample(self.model.config.eos_id, bounds, drawn, temperature, top_k, top_p)
        total, written = torch.zeros(1, device=self.src.device), tuple[int, ...]()
        steps: list[DecodeStep] = []
        start = self.model.config.target_start
        while (stored := self.steps.get(written)) is not None:
            probable = free = allowed(stored.log_probs, self.model.config)
            if len(written) < len(start):
                probable = with_forced(stored.log_probs, free, stored.sentences.new_tensor([[start[len(written)]]]))
            chosen = choose(Live(stored.sentences, stored.written, total), probable, free)
            steps.append(replace(stored, **chosen._asdict()))
            if chosen.fates.tolist() != [Fate.LIVE]:
                break
            total, written = chosen.totals, (*written, int(chosen.tokens))
        return steps

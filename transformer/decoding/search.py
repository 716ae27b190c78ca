"""The loop that every way of decoding shares: one call of the model a step, for all live hypotheses at once.

Shapes: B sentences, N live hypotheses, F forced tokens, S source tokens, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.decoding.choosers import Chooser, Chosen, Live
from transformer.decoding.step import DecodeStep, Fate
from transformer.inference.cache import Cache
from transformer.inference.prepared import Prepared
from transformer.model import Transformer
from transformer.taps import Recorder, Site, Tap, chain
from transformer.yielding import yield_turn

TapAt = Callable[[int], Tap | None]


def never(config: ModelConfig) -> list[int]:
    """The tokens that are never written, [PAD] and [SOS].

    Where a model starts its sentences with [EOS], [SOS] is that token, and may be written.
    """
    return [token for token in (config.pad_id, config.sos_id) if token != config.eos_id]


def allowed(log_probs: Tensor, config: ModelConfig) -> Tensor:
    """Log-probabilities [..., V] with -inf for the tokens that are never written."""
    return log_probs.index_fill(-1, torch.tensor(never(config), device=log_probs.device), -torch.inf)


def forced(log_probs: Tensor, free: Tensor, token: Tensor) -> Tensor:
    """`free` [N, V], but in the rows that must write a token [N, 1] (not below 0) with that one only."""
    must = token.clamp(min=0)
    only = torch.full_like(free, -torch.inf).scatter(1, must, log_probs.gather(1, must))
    return torch.where(token >= 0, only, free)


class NotANumberError(ValueError):
    """What a network says of the next token is not a number."""


class Search:
    """A decode under way: it owns its cache and the live hypotheses, and writes nothing to the model."""

    def __init__(
        self,
        model: Transformer | Prepared,
        src: Tensor,
        forced: Tensor,
        choose: Chooser,
        tap: Tap | None,
        tap_at: TapAt | None,
        record: bool,
    ):
        """`src` [B, S]; `forced` [B, F] says what must be written, with -1 where the choice is free."""
        self.network, self.config = model if isinstance(model, Prepared) else Prepared(model), model.config
        self.never = src.new_tensor(never(model.config))
        self.src, self.forced, self.choose = src, forced, choose
        self.tap, self.tap_at, self.record = tap, tap_at, record
        self.cache: Cache | None = None
        sentences = torch.arange(len(src), device=src.device)
        self.live = Live(sentences, src.new_empty(len(src), 0), torch.zeros(len(src), device=src.device))

    def steps(self) -> Iterator[DecodeStep]:
        while len(self.live.sentences):
            yield self._advance()

    # Around a step and not around the loop: between steps the thread and its gradient mode are the caller's.
    @torch.inference_mode()
    def _advance(self) -> DecodeStep:
        yield_turn()
        recorder = Recorder() if self.record else None
        if self.cache is None:
            self.cache = self.network.read(self.src, chain(self.tap, recorder))
        here = self.tap_at(self.live.length) if self.tap_at is not None else None
        log_probs = self._log_probs(self.cache, chain(self.tap, here, recorder))
        chosen = self._chosen(log_probs)
        step = DecodeStep(
            self.live.length, self.live.sentences, self.live.written, log_probs, *chosen, _patterns(recorder)
        )
        self._go_on(step)
        return step

    def _log_probs(self, cache: Cache, tap: Tap | None) -> Tensor:
        """What the model says of each live hypothesis' next token: [N, V]."""
        start = self.live.written.new_full((len(self.live.sentences), 1), self.config.sos_id)
        logits = self.network.write_next(torch.cat([start, self.live.written], 1), cache, tap)
        log_probs = torch.log_softmax(logits, -1, out=logits)  # in their place: new memory costs more than the sums
        if log_probs[:, 0].isnan().any():  # one that is not a number makes its whole row so
            raise NotANumberError(
                f"The model's output at step {self.live.length + 1} is not a number: its weights are damaged, "
                "or an intervention was too strong. Load it again, or undo the intervention."
            )
        return log_probs

    def _chosen(self, log_probs: Tensor) -> Chosen:
        if self.live.length < self.forced.size(1):
            token = self.forced[self.live.sentences, self.live.length, None]
            free = allowed(log_probs, self.config)
            return self.choose(self.live, forced(log_probs, free, token), free)
        kept = log_probs.index_select(1, self.never)  # put back after the choice: a copy of all would cost more
        log_probs.index_fill_(1, self.never, -torch.inf)
        chosen = self.choose(self.live, log_probs, log_probs)
        log_probs.index_copy_(1, self.never, kept)
        return chosen

    def _go_on(self, step: DecodeStep) -> None:
        """The candidates that live become the rows; a sentence without any takes no further part."""
        rows = torch.arange(len(step.sentences), device=step.parents.device)
        if torch.equal(step.parents, rows) and not step.fates.any():  # all are LIVE, each in its place
            written = torch.cat([step.written, step.tokens[:, None]], 1)
            self.live = Live(step.sentences, written, step.totals)
            return
        kept = (step.fates == Fate.LIVE).nonzero()[:, 0]
        parents = step.parents[kept]
        written = torch.cat([step.written[parents], step.tokens[kept, None]], 1)
        self.live = Live(step.sentences[parents], written, step.totals[kept])
        if not torch.equal(parents, rows):
            assert self.cache is not None
            self.cache.select(parents)


def _patterns(recorder: Recorder | None) -> dict[Site, Tensor] | None:
    if recorder is None:
        return None
    return {site: p[:, :, -1] if site.stack == "decoder" else p for site, (p,) in recorder.items()}

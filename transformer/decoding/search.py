"""The loop that every decoding strategy shares: one pass of the model per step, for all live hypotheses together.

Shapes: B sentences, N live hypotheses, F forced tokens, S source tokens, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypedDict

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.decoding.choosers import Candidates, Chooser, Live
from transformer.decoding.step import DecodeStep, Fate
from transformer.inference.cache import KeyValueCache
from transformer.inference.prepared import Prepared
from transformer.model import Transformer
from transformer.taps import Recorder, Site, Tap, chain
from transformer.yielding import yield_turn

Ids = Sequence[int] | Sequence[Sequence[int]] | Tensor
TapAt = Callable[[int], Tap | None]


class Options(TypedDict, total=False):
    """The keyword arguments that every strategy takes; `transformer.decoding` explains them."""

    max_length: int | None
    prefix: Ids | None
    tap: Tap | None
    tap_at: TapAt | None
    record: bool


def decode(
    model: Transformer | Prepared,
    src: Tensor,
    chooser: Callable[[int, Tensor], Chooser],
    options: Options,
    whole: bool = False,
) -> Iterator[DecodeStep]:
    """Check the arguments of a decode and return its steps.

    `chooser` makes the strategy's `Chooser` from the id of [EOS] and the length limit of each sentence [B]. If `whole`,
    the prefix is the whole target. Raises ValueError for wrong values and TypeError for unknown options.
    """
    if unknown := options.keys() - Options.__annotations__:
        raise TypeError(f"Decoding got an unexpected keyword argument {min(unknown)!r}.")
    config = model.config
    src = source_ids(model, src)
    lengths = max_lengths(src, config.max_length if whole else options.get("max_length"), config)
    prefix, start = options.get("prefix"), list(config.target_start)
    rows = _targets([] if prefix is None else prefix, len(src), config)
    forced = _as_tensor([row + start[len(row) :] for row in rows], lengths)
    if whole:
        lengths = (forced >= 0).sum(1)
        if not lengths.all():
            raise ValueError(f"A target is empty; give it at least [EOS] = {config.eos_id}.")
    return DecodeLoop(model, src, forced, chooser(config.eos_id, lengths), options).steps()


def never_written(config: ModelConfig) -> list[int]:
    """Return the ids that are never written, [PAD] and [SOS].

    In a model that starts its sentences with [EOS], that token is also [SOS], and may be written.
    """
    return [token for token in (config.pad_id, config.sos_id) if token != config.eos_id]


def allowed(log_probs: Tensor, config: ModelConfig) -> Tensor:
    """Return log-probabilities [..., V] with -inf for the tokens that are never written."""
    return log_probs.index_fill(-1, torch.tensor(never_written(config), device=log_probs.device), -torch.inf)


def with_forced(log_probs: Tensor, free: Tensor, token: Tensor) -> Tensor:
    """Return `free` [N, V] with -inf for all but the forced token in each row that has one.

    `token` [N, 1] is the forced token, or -1 where the choice is free.
    """
    must = token.clamp(min=0)
    only = torch.full_like(free, -torch.inf).scatter(1, must, log_probs.gather(1, must))
    return torch.where(token >= 0, only, free)


class NotANumberError(ValueError):
    """The model's output for the next token is NaN."""


class DecodeLoop:
    """A decode in progress. It owns its cache and the live hypotheses, and never writes to the model."""

    def __init__(self, model: Transformer | Prepared, src: Tensor, forced: Tensor, choose: Chooser, options: Options):
        """`src` [B, S]; `forced` [B, F] holds the tokens that must be written, and -1 where the choice is free."""
        self.network, self.config = model if isinstance(model, Prepared) else Prepared(model), model.config
        self.never = src.new_tensor(never_written(model.config))
        self.src, self.forced, self.choose = src, forced, choose
        self.tap, self.tap_at, self.record = options.get("tap"), options.get("tap_at"), options.get("record", False)
        self.cache: KeyValueCache | None = None
        sentences = torch.arange(len(src), device=src.device)
        self.live = Live(sentences, src.new_empty(len(src), 0), torch.zeros(len(src), device=src.device))

    def steps(self) -> Iterator[DecodeStep]:
        while len(self.live.sentences):
            yield self._advance()

    # On a step and not on the loop: between steps the gradient mode is the caller's.
    @torch.inference_mode()
    def _advance(self) -> DecodeStep:
        yield_turn()
        recorder = Recorder() if self.record else None
        if self.cache is None:
            self.cache = self.network.read(self.src, chain(self.tap, recorder))
        here = self.tap_at(self.live.length) if self.tap_at is not None else None
        log_probs = self._log_probs(self.cache, chain(self.tap, here, recorder))
        chosen = self._choose(log_probs)
        step = DecodeStep(
            self.live.length, self.live.sentences, self.live.written, log_probs, *chosen, _patterns(recorder)
        )
        self._go_on(step)
        return step

    def _log_probs(self, cache: KeyValueCache, tap: Tap | None) -> Tensor:
        """Return the next-token log-probabilities of each live hypothesis: [N, V]."""
        start = self.live.written.new_full((len(self.live.sentences), 1), self.config.sos_id)
        logits = self.network.write_next(torch.cat([start, self.live.written], 1), cache, tap)
        log_probs = torch.log_softmax(logits, -1, out=logits)  # in place: allocating costs more than computing
        if log_probs[:, 0].isnan().any():  # a single NaN makes its whole row NaN
            raise NotANumberError(
                f"The model's output at step {self.live.length + 1} is not a number: its weights are damaged, "
                "or an intervention was too strong. Load it again, or undo the intervention."
            )
        return log_probs

    def _choose(self, log_probs: Tensor) -> Candidates:
        if self.live.length < self.forced.size(1):
            token = self.forced[self.live.sentences, self.live.length, None]
            free = allowed(log_probs, self.config)
            return self.choose(self.live, with_forced(log_probs, free, token), free)
        original = log_probs.index_select(1, self.never)  # restored after the choice, which is cheaper than a copy
        log_probs.index_fill_(1, self.never, -torch.inf)
        chosen = self.choose(self.live, log_probs, log_probs)
        log_probs.index_copy_(1, self.never, original)
        return chosen

    def _go_on(self, step: DecodeStep) -> None:
        """Make the live candidates the rows of the next step; a sentence that has none leaves the batch."""
        rows = torch.arange(len(step.sentences), device=step.parents.device)
        if torch.equal(step.parents, rows) and not step.fates.any():  # all are LIVE, each in its own row
            written = torch.cat([step.written, step.tokens[:, None]], 1)
            self.live = Live(step.sentences, written, step.totals)
            return
        live = (step.fates == Fate.LIVE).nonzero()[:, 0]
        parents = step.parents[live]
        written = torch.cat([step.written[parents], step.tokens[live, None]], 1)
        self.live = Live(step.sentences[parents], written, step.totals[live])
        if not torch.equal(parents, rows):
            assert self.cache is not None
            self.cache.select(parents)


def _patterns(recorder: Recorder | None) -> dict[Site, Tensor] | None:
    if recorder is None:
        return None
    return {site: p[:, :, -1] if site.stack == "decoder" else p for site, (p,) in recorder.items()}


# ---- checking the arguments of a decode ------------------------------------------------------------------------------


def source_ids(model: Transformer | Prepared, src: Tensor) -> Tensor:
    """Return `src` [B, S] as int64 on the model's device. Raises ValueError."""
    config = model.config
    if isinstance(model, Transformer) and model.training:
        raise ValueError("The model is in training mode, where dropout is on; call model.eval() first.")
    if src.dim() != 2 or src.is_floating_point():
        raise ValueError(f"src is {src.dtype} of shape {list(src.shape)}; give ids, [sentences, tokens].")
    if len(src) and not src.size(1):
        raise ValueError("The source sentences have no tokens; each needs at least one, such as [EOS].")
    if src.size(1) > config.max_length:
        raise ValueError(
            f"The longest source sentence has {src.size(1)} tokens and this model reads at most "
            f"{config.max_length}; shorten it or split it into sentences."
        )
    if len(src):
        for token in (int(src.min()), int(src.max())):
            _require_in_vocabulary(token, config.source_vocab_size, "source")
    device = model.device if isinstance(model, Prepared) else model.output.weight.device
    return src.to(device).long()


def max_lengths(src: Tensor, max_length: int | None, config: ModelConfig) -> Tensor:
    """Return the length limit of each sentence in tokens, [EOS] included: [B]. Raises ValueError."""
    if max_length is None:
        limits = 2 * (src != config.pad_id).sum(1) + 10
    elif max_length >= 1:
        limits = src.new_full((len(src),), max_length)
    else:
        raise ValueError(f"max_length is {max_length}; allow at least 1 token.")
    return limits.clamp(max=config.max_length)


def _targets(ids: Ids, sentences: int, config: ModelConfig) -> list[list[int]]:
    """Return the ids that each sentence must begin with, without padding. Raises ValueError."""
    padded = isinstance(ids, Tensor)
    rows: list = ids.tolist() if isinstance(ids, Tensor) else list(ids)
    if not any(isinstance(row, Sequence) for row in rows):
        rows = [rows] * sentences
    if len(rows) != sentences:
        raise ValueError(f"There are {len(rows)} targets for {sentences} sources; give one each or one for all.")
    return [_target(list(row), config, padded) for row in rows]


def _target(ids: list[int], config: ModelConfig, padded: bool) -> list[int]:
    while padded and ids and ids[-1] == config.pad_id:
        ids.pop()
    for token in ids:
        _require_in_vocabulary(token, config.target_vocab_size, "target")
    free = ids[len(config.target_start) :] if tuple(ids[: len(config.target_start)]) == config.target_start else ids
    if any(token in free and token != config.eos_id for token in (config.pad_id, config.sos_id)):
        raise ValueError(f"The target {ids} holds [PAD] or [SOS], which are never written; leave them out.")
    if config.eos_id in ids[:-1]:
        raise ValueError(f"The target {ids} goes on after [EOS] = {config.eos_id}; end it there.")
    return ids


def _require_in_vocabulary(token: int, vocabulary: int, side: str) -> None:
    if not 0 <= token < vocabulary:
        raise ValueError(f"There is no {side} token {token}; its ids run from 0 to {vocabulary - 1}.")


def _as_tensor(rows: list[list[int]], bounds: Tensor) -> Tensor:
    """Return the rows as one tensor [B, F], padded with -1. Raises ValueError for a row that is too long."""
    for number, (row, bound) in enumerate(zip(rows, bounds.tolist(), strict=True), 1):
        if len(row) > bound:
            raise ValueError(
                f"Target {number} has {len(row)} tokens, but at most {bound} may be written; shorten it, or "
                "raise max_length as far as the model reads."
            )
    width = max(map(len, rows), default=0)
    table = [row + [-1] * (width - len(row)) for row in rows]
    return torch.tensor(table, dtype=torch.long, device=bounds.device).reshape(len(rows), width)

"""Decoding is a generator: `greedy`, `beam`, `sample` and `given` yield a `DecodeStep` for each token.

    for step in beam(model, src, size=5): ...          # watch it write
    best = finish(beam(model, src, size=5))[0][0].ids  # or take what it wrote

Their arguments, checked at the call, where a wrong one raises ValueError:

model       in evaluation mode; it is never written to, so any number of threads may decode with it. A plain one is
            prepared for this decode; whoever decodes more than once gives what it prepared, a `Prepared`.
src         [B, S] source ids, padded at the end.
max_length  the most tokens to write, [EOS] included, and never more than the model can read. Without it,
            2 * (source tokens) + 10, each sentence its own. What gets there without [EOS] ends unfinished.
prefix      what the target must begin with, after [SOS]: one list of ids for all sentences, one list each, or
            a tensor [B, P] padded at the end. "What if it had said ..." is a decode whose prefix ends so. Where the
            model's targets start in a given way (`target_start`), the prefix includes that start; as far as the
            prefix does not reach, the start is written.
tap         sees each pattern, the encoder's once and the decoder's at every step.
tap_at      gives the tap of a step, counted from 0, which sees the decoder's patterns there after `tap`.
            They have one query, [N, H, 1, K], so a `Replace` there has one row. Only in a model without a look-ahead
            mask they have all, [N, H, T, K]: there earlier tokens see later ones, so the whole prefix is computed anew
            at each step, as the code that trained it does.
record      keeps in each step the patterns that it saw, as the taps left them.

`yield_turn` (transformer/yielding.py) is called before each step: what it raises ends the decode.

A step keeps [N, V] log-probabilities, so whoever keeps all steps of a large batch keeps much.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from transformer.decoding import arguments
from transformer.decoding.arguments import Ids
from transformer.decoding.choosers import Beam, Greedy, Sample, draws, tempered
from transformer.decoding.search import Search, TapAt, allowed
from transformer.decoding.step import DecodeStep, Fate, Hypothesis, finish, recorded, rows_of
from transformer.inference.prepared import Prepared
from transformer.model import Transformer
from transformer.taps import Tap

__all__ = [
    "DecodeStep",
    "Fate",
    "Hypothesis",
    "allowed",
    "beam",
    "finish",
    "given",
    "greedy",
    "recorded",
    "rows_of",
    "sample",
    "tempered",
]


def greedy(
    model: Transformer | Prepared,
    src: Tensor,
    *,
    max_length: int | None = None,
    prefix: Ids | None = None,
    tap: Tap | None = None,
    tap_at: TapAt | None = None,
    record: bool = False,
) -> Iterator[DecodeStep]:
    """Writes the most probable token at each step."""
    src, forced, bounds = _checked(model, src, max_length, prefix)
    return Search(model, src, forced, Greedy(model.config.eos_id, bounds), tap, tap_at, record).steps()


def beam(
    model: Transformer | Prepared,
    src: Tensor,
    size: int = 5,
    *,
    length_penalty: float = 0.6,
    temperature: float = 1.0,
    max_length: int | None = None,
    prefix: Ids | None = None,
    tap: Tap | None = None,
    tap_at: TapAt | None = None,
    record: bool = False,
) -> Iterator[DecodeStep]:
    """Keeps the `size` best hypotheses of each sentence at each step; a beam of 1 is greedy.

    A score is log_prob / ((5 + length) / 6) ** length_penalty, the length counted with [EOS] (Wu et al. 2016,
    equation 14): 0 compares plain sums, and more of it favours longer sentences. At a `temperature` other than 1 the
    sum is over `tempered(allowed(log_probs, config), temperature)`: above 1 it counts less how sure each token was.
    `totals` are the model's own log-probabilities at every temperature.
    """
    if not 1 <= size <= 1000:
        raise ValueError(f"The size of the beam is {size}; it must be from 1 to 1000.")
    if not 0 <= length_penalty <= 10:
        raise ValueError(f"length_penalty is {length_penalty}; it must be from 0 to 10.")
    tempered(torch.zeros(1), temperature)  # so that a wrong one is refused now
    src, forced, bounds = _checked(model, src, max_length, prefix)
    choose = Beam(model.config.eos_id, bounds, size, length_penalty, temperature)
    return Search(model, src, forced, choose, tap, tap_at, record).steps()


def sample(
    model: Transformer | Prepared,
    src: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    seed: int = 0,
    max_length: int | None = None,
    prefix: Ids | None = None,
    tap: Tap | None = None,
    tap_at: TapAt | None = None,
    record: bool = False,
) -> Iterator[DecodeStep]:
    """Draws each token from `tempered(allowed(log_probs, config), ...)`; the scores stay the model's own.

    One seed gives the same tokens every time. Equal sentences of a batch are drawn independently.
    """
    if seed < 0:
        raise ValueError(f"The seed is {seed}; it must not be below 0.")
    tempered(torch.zeros(1), temperature, top_k, top_p)  # so that what is wrong with them is said now
    src, forced, bounds = _checked(model, src, max_length, prefix)
    drawn = draws(seed, len(src), max(bounds.tolist(), default=0)).to(src.device)
    choose = Sample(model.config.eos_id, bounds, drawn, temperature, top_k, top_p)
    return Search(model, src, forced, choose, tap, tap_at, record).steps()


def given(
    model: Transformer | Prepared,
    src: Tensor,
    target: Ids,
    *,
    tap: Tap | None = None,
    tap_at: TapAt | None = None,
    record: bool = False,
) -> Iterator[DecodeStep]:
    """The steps in which the model would write `target`, given as a prefix is and usually ending in [EOS]."""
    src, forced, _ = _checked(model, src, model.config.max_length, target)
    bounds = (forced >= 0).sum(1)
    if not bounds.all():
        raise ValueError(f"A target is empty; give it at least [EOS] = {model.config.eos_id}.")
    return Search(model, src, forced, Greedy(model.config.eos_id, bounds), tap, tap_at, record).steps()


def _checked(
    model: Transformer | Prepared, src: Tensor, max_length: int | None, target: Ids | None
) -> tuple[Tensor, Tensor, Tensor]:
    """`src` [B, S], what must be written [B, F], and the most tokens that may be [B]."""
    src = arguments.source(model, src)
    bounds = arguments.longest(src, max_length, model.config)
    start = list(model.config.target_start)
    rows = arguments.targets([] if target is None else target, len(src), model.config)
    rows = [row + start[len(row) :] for row in rows]
    return src, arguments.forced(rows, bounds), bounds

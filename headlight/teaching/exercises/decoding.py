"""Exercises: greedy decoding and beam search, on one sentence, with a model that is a function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Exercise, KnownMistake, Unfit

SOS, EOS, VOCABULARY = 1, 2, 9
Model = Callable[[list[int]], Tensor]


class Dice:
    """A "model" that says of every beginning something by chance, and always the same; [EOS] is likelier the later."""

    def __init__(self, seed: int, most: int, ends: float):
        self.seed, self.most, self.ends = seed, most, ends
        self.known: dict[tuple[int, ...], Tensor] = {}

    def __call__(self, ids: Any) -> Tensor:
        key = tuple(int(i) for i in (ids.flatten().tolist() if isinstance(ids, Tensor) else ids))
        if len(key) > self.most + 5:
            raise Unfit(f"The model was asked to go on from {len(key)} ids; stop at max_length = {self.most}.")
        if key not in self.known:
            seed = crc32(repr((self.seed, key)).encode())
            scores = torch.randn(VOCABULARY, generator=torch.Generator().manual_seed(seed)) * 1.5
            scores[SOS] = -math.inf
            scores[EOS] += self.ends * len(key) - 2
            self.known[key] = scores.log_softmax(-1)
        return self.known[key].clone()


def greedy(
    next_log_probs: Model,
    sos_id: int,
    eos_id: int,
    max_length: int,
    pick: str = "highest",
    reads: str = "all",
    stops: bool = True,
    keeps: str = "end",
    most: int = 0,
) -> list[int]:
    """The most probable token at each step, until [EOS] or `max_length` tokens."""
    ids = [eos_id if reads == "from the end" else sos_id]
    while len(ids) <= max_length + most and not (stops and ids[-1] == eos_id and len(ids) > 1):
        log_probs = next_log_probs(ids[-1:] if reads == "last" else ids)
        if pick == "lowest":
            log_probs = -log_probs.masked_fill(log_probs == -math.inf, 0)
        ids.append(int(log_probs.argmax()))
    if keeps in ("text", "start") and ids[-1] == eos_id:
        ids.pop()
    return ids if keeps in ("start", "both") else ids[1:]


_KEPT = (
    KnownMistake({"keeps": "both"}, "The answer begins with sos_id, which nobody wrote; leave it out."),
    KnownMistake({"keeps": "text"}, "The answer lacks its eos_id; it was written, so keep it."),
    KnownMistake(
        {"keeps": "start"}, "The answer begins with sos_id and lacks eos_id; it holds what was written: the last alone."
    ),
)


def _greedy_cases() -> list[Case]:
    same = {"sos_id": SOS, "eos_id": EOS}
    return [
        Case("where the model ends its sentence", {"next_log_probs": Dice(4, 12, 0.5), **same, "max_length": 12}),
        Case("where it is cut at max_length", {"next_log_probs": Dice(1, 6, -1.0), **same, "max_length": 6}),
    ]


_NOT_A_TOKEN = (
    "next_log_probs|more than one value|only one element tensors|can only convert|'Tensor' object is not callable",
    "Some of the ids are not numbers: `next_log_probs` takes the list of ids so far; `int(log_probs.argmax())` is the "
    "next.",
)

GREEDY = Exercise(
    "greedy",
    "greedy.py",
    greedy,
    _greedy_cases,
    (
        KnownMistake(
            {"reads": "last"},
            "The model is given the last token alone; it reads all that was written so far, sos_id first.",
        ),
        KnownMistake(
            {"reads": "from the end"}, "The sentence begins with eos_id; the first token that is read is sos_id."
        ),
        KnownMistake({"stops": False}, "You go on after eos_id: the sentence is over there."),
        KnownMistake({"pick": "lowest"}, "The least probable token is taken: a log-probability is better the higher."),
        KnownMistake({"most": 1}, "There is one token too many: max_length counts all that is written, eos_id too."),
        KnownMistake({"most": -1}, "There is one token too few: sos_id does not count for max_length."),
        *_KEPT,
    ),
    slips=(_NOT_A_TOKEN,),
)


class Hypothesis(NamedTuple):
    ids: list[int]  # sos_id first
    total: float
    compounded: float  # the sum if the penalty is applied at every step


def beam(
    next_log_probs: Model,
    sos_id: int,
    eos_id: int,
    size: int,
    max_length: int,
    alpha: float,
    score: str = "penalty",
    stops: str = "none live",
    places: str = "freed",
    keeps: str = "end",
    width: str = "size",
    at_the_end: str = "finished",
) -> list[int]:
    """Of all hypotheses that `size` live ones at a time lead to, the best by log-probability over length penalty."""
    size = 1 if width == "one" else size
    live = [Hypothesis([sos_id], 0.0, 0.0)]
    finished: list[Hypothesis] = []

    def penalty(length: int) -> float:
        return ((5 + length) / 6) ** alpha

    def final(hypothesis: Hypothesis) -> float:
        n, total = len(hypothesis.ids) - 1, hypothesis.total
        return {
            "penalty": total / penalty(n),
            "sum": total,
            "length": total / n**alpha,
            "mean": total / n,
            "multiplied": total * penalty(n),
            "compounded": hypothesis.compounded,
            "with the start": total / penalty(n + 1),
        }[score]

    def rank(hypothesis: Hypothesis) -> float:
        return hypothesis.compounded if score == "compounded" else hypothesis.total

    for step in range(1, max_length + 1):
        candidates = [
            Hypothesis([*ids, token], total + p, (compounded + p) / penalty(step))
            for ids, total, compounded in live
            for token, p in enumerate(next_log_probs(ids).tolist())
        ]
        candidates += finished if places == "taken" else []
        candidates.sort(key=rank, reverse=True)
        ended = [each for each in candidates[:size] if each.ids[-1] == eos_id]
        finished = ended if places == "taken" else finished + ended
        going_on = [each for each in candidates if each.ids[-1] != eos_id]
        live = going_on[:size] if places == "refilled" else [each for each in going_on if each in candidates[:size]]
        if not live or (stops == "first" and finished):
            break
    among = finished if at_the_end == "finished" and stops == "first" and finished else finished + live
    ids = max(among, key=final).ids
    if keeps in ("text", "start") and ids[-1] == eos_id:
        ids = ids[:-1]
    return ids if keeps in ("start", "both") else ids[1:]


def _beam_cases() -> list[Case]:
    """Inputs on which all ways that we count as right agree: whether a finished hypothesis keeps its place in the beam,
    leaves it empty, or another takes it."""
    return [
        Case(
            "",
            {
                "next_log_probs": Dice(seed, 10, 0.5),
                "sos_id": SOS,
                "eos_id": EOS,
                "size": 3,
                "max_length": 10,
                "alpha": alpha,
            },
        )
        for seed, alpha in BEAM_SEEDS
    ]


BEAM_SEEDS = ((141, 1.0), (130, 0.6), (42, 0.6), (54, 0.6))  # told apart by them: each mistake from each other

BEAM = Exercise(
    "beam",
    "beam.py",
    beam,
    _beam_cases,
    (
        KnownMistake(
            {"score": "sum"},
            "The hypotheses are not normalised by their length, so short ones win: divide each log-probability by "
            "((5 + length) / 6) ** alpha before you compare.",
        ),
        KnownMistake(
            {"stops": "first"},
            "You stop at the first finished hypothesis, so that it is compared with none of another length; a live "
            "one may still become better. Go on until none is live, then compare by sum / ((5 + length) / 6) ** "
            "alpha.",
        ),
        KnownMistake(
            {"score": "compounded"},
            "The length penalty is applied at every step, so it multiplies up: add log-probabilities, and divide "
            "once, when hypotheses of different lengths are compared.",
        ),
        KnownMistake(
            {"score": "multiplied"},
            "You multiply with the length penalty; log-probabilities are negative, so that makes long sentences "
            "worse: divide.",
        ),
        KnownMistake({"score": "length"}, "You divide by length ** alpha; the penalty is ((5 + length) / 6) ** alpha."),
        KnownMistake({"score": "mean"}, "You divide by the length; the penalty is ((5 + length) / 6) ** alpha."),
        KnownMistake({"score": "with the start"}, "sos_id is counted in the length; it was not written, eos_id was."),
        KnownMistake(
            {"width": "one"}, "This is greedy decoding: keep the `size` best hypotheses at each step, not one."
        ),
        *_KEPT,
    ),
    styles=({}, {"at_the_end": "all"}),  # of who stops early
    slips=(_NOT_A_TOKEN,),
)

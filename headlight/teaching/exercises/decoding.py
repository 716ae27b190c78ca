"""Exercises: greedy decoding and beam search, on one sentence, with a model that is a function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Draw, Exercise, KnownMistake, Unfit

Model = Callable[[list[int]], Tensor]


class RandomModel:
    """A "model" with random but reproducible probabilities after each prefix; [EOS] is likelier in longer ones."""

    def __init__(self, seed: int, vocabulary: int, sos_id: int, eos_id: int, most: int, ends: float):
        self.seed, self.vocabulary, self.sos_id, self.eos_id = seed, vocabulary, sos_id, eos_id
        self.most, self.ends = most, ends
        self.known: dict[tuple[int, ...], Tensor] = {}

    def __call__(self, ids: Any) -> Tensor:
        key = tuple(int(i) for i in (ids.flatten().tolist() if isinstance(ids, Tensor) else ids))
        if len(key) > self.most + 5:
            raise Unfit(f"The model was asked to go on from {len(key)} ids; stop at max_length = {self.most}.")
        if key not in self.known:
            seed = crc32(repr((self.seed, key)).encode())
            scores = torch.randn(self.vocabulary, generator=torch.Generator().manual_seed(seed)) * 1.5
            scores[self.sos_id] = -math.inf
            scores[self.eos_id] += self.ends * len(key) - 2
            self.known[key] = scores.log_softmax(-1)
        return self.known[key].clone()


def _draw_inputs(draw: Draw, low: int, high: int, ends: float) -> dict[str, Any]:
    vocabulary, max_length = draw.randint(6, 10), draw.randint(low, high)
    sos_id, eos_id = draw.sample(range(vocabulary), 2)
    dice = RandomModel(draw.getrandbits(32), vocabulary, sos_id, eos_id, max_length, ends)
    return {"next_log_probs": dice, "sos_id": sos_id, "eos_id": eos_id, "max_length": max_length}


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
    """Write the most probable token at each step, until [EOS] or `max_length` tokens."""
    ids = [eos_id if reads == "from the end" else sos_id]
    while len(ids) <= max_length + most and not (stops and ids[-1] == eos_id and len(ids) > 1):
        log_probs = next_log_probs(ids[-1:] if reads == "last" else ids)
        if pick == "lowest":
            log_probs = -log_probs.masked_fill(log_probs == -math.inf, 0)
        ids.append(int(log_probs.argmax()))
    if keeps in ("text", "start") and ids[-1] == eos_id:
        ids.pop()
    return ids if keeps in ("start", "both") else ids[1:]


_END_MISTAKES = (
    KnownMistake({"keeps": "both"}, "The answer begins with sos_id, which nobody wrote; leave it out."),
    KnownMistake({"keeps": "text"}, "The answer lacks its eos_id; it was written, so keep it."),
    KnownMistake(
        {"keeps": "start"}, "The answer begins with sos_id and lacks eos_id; it holds what was written: the last alone."
    ),
)


def _greedy_cases(draw: Draw) -> list[Case]:
    """Return some cases that end well before max_length, and some that are cut there."""
    cases: list[Case] = []
    while len(cases) < 4:
        ended = len(cases) < 2
        inputs = _draw_inputs(draw, 6, 12, 0.5 if ended else -1.0)
        ids = greedy(**inputs)
        if (ids[-1] == inputs["eos_id"]) == ended and (not ended or 2 < len(ids) < inputs["max_length"] - 1):
            about = "where the model ends its sentence" if ended else "where it is cut at max_length"
            cases.append(Case(about, inputs))
    return cases


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
        *_END_MISTAKES,
    ),
    implementation="Greedy in transformer/decoding/choosers.py",
    slips=(_NOT_A_TOKEN,),
    aliases=("greedy_decode", "greedy_search", "greedy_decoding"),
)


class BeamHypothesis(NamedTuple):
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
    sums: str = "logarithms",
    temperature: float = 1.0,
    counted: int = 0,
    cut: bool = True,
) -> list[int]:
    """Return the best hypothesis of a beam of `size`, by log-probability over length penalty.

    `counted` is added to the length where the penalty is applied at every step.
    """
    size = {"one": 1, "size": size}.get(width, 5)
    live = [BeamHypothesis([sos_id], 1.0 if sums == "product" else 0.0, 0.0)]
    finished: list[BeamHypothesis] = []

    def penalty(length: int) -> float:
        return ((5 + length) / 6) ** (1.0 if score == "to the power 1" else alpha)

    def final(hypothesis: BeamHypothesis) -> float:
        n, total = len(hypothesis.ids) - 1, hypothesis.total
        return {
            "sum": total,
            "length": total / n**alpha,
            "mean": total / n,
            "multiplied": total * penalty(n),
            "compounded": hypothesis.compounded,
            "with the start": total / penalty(n + 1),
            "without the end": total / penalty(n - (hypothesis.ids[-1] == eos_id)),
        }.get(score, total / penalty(n))

    def rank(hypothesis: BeamHypothesis) -> float:
        if score == "compounded":
            return hypothesis.compounded
        return final(hypothesis) if places == "ranked" and len(hypothesis.ids) > 1 else hypothesis.total

    def next_values(ids: list[int]) -> list[float]:
        log_probs = next_log_probs(ids)
        if temperature != 1.0:
            log_probs = (log_probs / temperature).log_softmax(-1)
        values: list[float] = (log_probs if sums == "logarithms" else log_probs.exp()).tolist()
        return values

    stays = places in ("taken", "ranked")
    for step in range(1, max_length + 1 + 4 * (not cut)):
        candidates = [
            BeamHypothesis(
                [*ids, token], total * p if sums == "product" else total + p, (compounded + p) / penalty(step + counted)
            )
            for ids, total, compounded in live
            for token, p in enumerate(next_values(ids))
        ]
        candidates += finished if stays else []
        candidates.sort(key=rank, reverse=True)
        ended = [each for each in candidates[:size] if each.ids[-1] == eos_id]
        finished = ended if stays else finished + ended
        going_on = [each for each in candidates if each.ids[-1] != eos_id]
        live = going_on[:size] if places == "refilled" else [each for each in going_on if each in candidates[:size]]
        if not live or (stops == "first" and finished) or (stops == "enough" and len(finished) >= size):
            break
    dropped = at_the_end == "only finished" or (at_the_end == "finished" and stops in ("first", "enough"))
    ids = max(finished if dropped and finished else finished + live, key=final).ids
    if keeps in ("text", "start") and ids[-1] == eos_id:
        ids = ids[:-1]
    return ids if keeps in ("start", "both") else ids[1:]


def beam_inputs(draw: Draw) -> dict[str, Any]:
    """Return inputs in which hypotheses end at various lengths, and some live until max_length."""
    inputs = _draw_inputs(draw, 5, 10, draw.choice((0.0, 0.3, 0.5)))
    inputs |= {"size": draw.randint(2, 6), "alpha": draw.choice((0.4, 0.7, 1.5, 2.5))}
    return {name: inputs[name] for name in ("next_log_probs", "sos_id", "eos_id", "size", "max_length", "alpha")}


# With these seeds any two mistakes give different results, and all variants that we accept give the same: a finished
# hypothesis may keep its slot in the beam, leave it empty, or have it filled by another.
BEAM_SEEDS = (288, 487, 657, 206, 1003, 1179, 1230, 1240)

_STOPPING_STYLES: tuple[dict[str, Any], ...] = ({}, {"at_the_end": "all"})
_PENALTY_STYLES: tuple[dict[str, Any], ...] = tuple(
    {"places": places, "counted": counted} for places in ("freed", "taken") for counted in (0, 1, -1)
)

BEAM = Exercise(
    "beam",
    "beam.py",
    beam,
    lambda draw: [Case("", beam_inputs(Draw(seed))) for seed in BEAM_SEEDS],
    (
        KnownMistake(
            {"score": "sum"},
            "The hypotheses are not normalised by their length, so short ones win: divide each log-probability by "
            "((5 + length) / 6) ** alpha before you compare.",
        ),
        KnownMistake(
            {"stops": "first"},
            "You stop at the first finished hypothesis, so that it is compared with none of another length; a live one "
            "may still become better. Go on until none is live, then compare by sum / ((5 + length) / 6) ** alpha.",
            _STOPPING_STYLES,
        ),
        KnownMistake(
            {"score": "compounded"},
            "The length penalty is applied at every step, so it multiplies up: add log-probabilities, and divide "
            "once, when hypotheses of different lengths are compared.",
            _PENALTY_STYLES,
        ),
        KnownMistake(
            {"score": "multiplied"},
            "You multiply with the length penalty; log-probabilities are negative, so that makes long sentences "
            "worse: divide.",
        ),
        KnownMistake({"score": "length"}, "You divide by length ** alpha; the penalty is ((5 + length) / 6) ** alpha."),
        KnownMistake({"score": "mean"}, "You divide by the length; the penalty is ((5 + length) / 6) ** alpha."),
        KnownMistake(
            {"score": "to the power 1"},
            "The length penalty lacks its exponent: ((5 + length) / 6) ** alpha, where alpha is not always 1.",
        ),
        KnownMistake(
            {"score": "without the end"}, "eos_id is not counted in the length; it was written, so it counts."
        ),
        KnownMistake({"score": "with the start"}, "sos_id is counted in the length; it was not written, eos_id was."),
        KnownMistake(
            {"width": "one"}, "This is greedy decoding: keep the `size` best hypotheses at each step, not one."
        ),
        KnownMistake({"width": "five"}, "The beam is 5 wide whatever is asked for; keep the `size` best."),
        KnownMistake(
            {"sums": "product"},
            "You multiply probabilities, which are below 1, so that a division by the length penalty makes long "
            "sentences worse: add log-probabilities, as the model gives them.",
        ),
        KnownMistake(
            {"sums": "probabilities"},
            "You add probabilities; the probability of a sentence is their product, so its logarithm is the sum of the "
            "log-probabilities that the model gives.",
        ),
        KnownMistake(
            {"at_the_end": "only finished"},
            "Those cut at max_length are left out where others are finished; step 4 compares all of them.",
        ),
        KnownMistake(
            {"cut": False}, "Hypotheses are not cut at max_length: those that live then are compared as they are."
        ),
        KnownMistake(
            {"stops": "enough"},
            "You stop as soon as `size` hypotheses are finished; a live one may still become better: go on until none "
            "is live.",
            _STOPPING_STYLES,
        ),
        KnownMistake(
            {"temperature": 1.2},
            "The log-probabilities are divided by a temperature of 1.2; here they are taken as the model gives them.",
        ),
        KnownMistake(
            {"score": "compounded", "temperature": 1.2},
            'This is the beam of "Building a transformer from the ground up": a temperature of 1.2, and a length '
            "penalty that is applied at every step, so that it multiplies up. Add the log-probabilities as they are, "
            "and divide once, at the end.",
            _PENALTY_STYLES,
        ),
        *_END_MISTAKES,
    ),
    implementation="Beam in transformer/decoding/choosers.py",
    slips=(_NOT_A_TOKEN,),
    aliases=("beam_search", "beam_decode", "beam_search_decode"),
)

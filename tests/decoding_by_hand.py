"""Decoding by its definition: full passes without a cache, and what several tests of decoding share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from transformer.config import ModelConfig, StackConfig
from transformer.decoding import DecodeStep, Hypothesis, beam, greedy, sample
from transformer.model import Transformer

PAD, UNK, SOS, EOS = 0, 1, 2, 3
ALPHAS = [0.0, 0.6, 1.0, 2.0]


def network(vocabulary: int = 11, seed: int = 5, eos_bias: float = 0.5, **changes) -> Transformer:
    """Random, but sharp enough to have clear choices and to end its sentences at different lengths."""
    torch.manual_seed(seed)
    fields = {
        "d_model": 16, "encoder": StackConfig(1, 2, 32), "decoder": StackConfig(2, 4, 32), "norm": "pre",
        "final_norm": True, "max_length": 40,
    }  # fmt: skip
    model = Transformer(ModelConfig(vocabulary, vocabulary, **{**fields, **changes})).eval()
    with torch.no_grad():
        model.output.weight.mul_(1.5)
        model.output.bias.normal_()
        model.output.bias[EOS] += eos_bias
    return model


def alone(src: Tensor, row: int) -> Tensor:
    return src[row : row + 1, : int((src[row] != PAD).sum())]


def read(model: Transformer, src: Tensor, ids: tuple[int, ...] | list[int], tap=None) -> Tensor:
    """Return the log-probabilities of each of `ids` given those before it, by one full pass: [T, V]."""
    with torch.no_grad():
        return model(src, torch.tensor([[model.config.sos_id, *ids[:-1]]]), tap)[0].log_softmax(-1)


def log_prob(model: Transformer, src: Tensor, ids: tuple[int, ...] | list[int]) -> float:
    return read(model, src, ids)[torch.arange(len(ids)), list(ids)].sum().item()


def penalty(length: int, alpha: float) -> float:
    return ((5 + length) / 6) ** alpha


def next_log_probs(model: Transformer, src: Tensor, ids: list[int], tap=None) -> list[float]:
    log_probs = read(model, src, [*ids, EOS], tap)[-1]
    log_probs[list({model.config.pad_id, model.config.sos_id} - {model.config.eos_id})] = -torch.inf
    return log_probs.tolist()


def greedy_by_hand(model: Transformer, src: Tensor, bound: int, prefix=(), tap=None) -> list[int]:
    ids = list(prefix)
    while len(ids) < bound and model.config.eos_id not in ids:
        log_probs = next_log_probs(model, src, ids, tap)
        ids.append(log_probs.index(max(log_probs)))
    return ids


def beam_by_hand(
    model: Transformer, src: Tensor, size: int, alpha: float, bound: int, prefix: list[int] | None = None
) -> list[tuple[list[int], float]]:
    """Textbook beam search that never stops early: finished hypotheses, best first."""
    start = list(prefix or [])
    live = [(start, log_prob(model, src, start) if start else 0.0)]
    finished = []
    while live and len(live[0][0]) < bound:
        grown = [
            ([*ids, token], total + log_probability)
            for ids, total in live
            for token, log_probability in enumerate(next_log_probs(model, src, ids))
            if log_probability > -torch.inf
        ]
        best = sorted(grown, key=lambda pair: -pair[1])[:size]
        finished += [(ids, total / penalty(len(ids), alpha)) for ids, total in best if ids[-1] == EOS]
        live = [pair for pair in best if pair[0][-1] != EOS]
    return sorted(finished, key=lambda pair: -pair[1])


Decode = Callable[..., Iterator[DecodeStep]]


def beam3(*args, **kwargs) -> Iterator[DecodeStep]:
    return beam(*args, size=3, **kwargs)


def sampled(*args, **kwargs) -> Iterator[DecodeStep]:
    return sample(*args, seed=5, **kwargs)


EVERY_WAY = pytest.mark.parametrize("decode", [greedy, beam3, sampled])


def same(one: list[Hypothesis], other: list[Hypothesis]) -> bool:
    return [h.ids for h in one] == [h.ids for h in other] and all(
        abs(a.log_prob - b.log_prob) < 1e-4 and abs(a.score - b.score) < 1e-4 and a.finished == b.finished
        for a, b in zip(one, other, strict=True)
    )

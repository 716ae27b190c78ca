"""Gradient attribution: how much each token's embedding adds to a logit, to first order and along a path.

Shapes: B points of a path, S source tokens, T target tokens that are read, N tokens of a stack, M = d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.passes import in_passes, rows_per_pass
from headlight.analysis.stream import Stream, stream
from headlight.analysis.why.logit_difference import require_step, require_token
from transformer.model import Decoder, Encoder, Transformer
from transformer.taps import Tap
from transformer.yielding import yield_turn

PATH_POINTS = 64  # the default number of points of integrated gradients


class InputGradients(NamedTuple):
    """The gradient with respect to each token's vector as it enters its stack, times that vector, summed over M."""

    source: np.ndarray  # [S]
    prefix: np.ndarray  # [step + 1]


class IntegratedGradients(NamedTuple):
    """Each token's share of a logit's change from the average token's embedding to the sentence's."""

    source: np.ndarray  # [S]
    prefix: np.ndarray  # [step + 1]
    difference: float  # the model's logit for the sentence minus that for average tokens

    @property
    def total(self) -> float:
        """The sum of all parts; how far it is from `difference` is the error of the finite number of points."""
        return float(self.source.sum() + self.prefix.sum())


def gradient_times_input(
    model: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    step: int,
    instead: int | None = None,
    tap: Tap | None = None,
) -> InputGradients:
    """Return gradient times input for the logit of the token written at `step`, or for its difference to that of
    `instead`.

    The first is the gradient times the input of Denil et al. 2014, the second the contrastive one of Yin and Neubig
    2022, "Interpreting Language Models with Contrastive Explanations". `target` runs from [SOS] to [EOS], steps count
    from 0 over what comes after [SOS]; `tap` intervenes. Raises ValueError for a step, a token or an intervened head
    that does not exist.
    """
    passed = _pass(model, source, target, step, instead, tap)
    yield_turn()
    inputs = [stack.states[0][None] for stack in (passed.encoder, passed.decoder)]
    gradients = _gradients(passed, inputs, target[step + 1], instead)
    return InputGradients(*(_summed(gradient, x) for gradient, x in zip(gradients, inputs, strict=True)))


def integrated_gradients(
    model: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    step: int,
    instead: int | None = None,
    points: int = PATH_POINTS,
    tap: Tap | None = None,
) -> IntegratedGradients:
    """Return integrated gradients for the logit of the token written at `step`, or for its difference to that of
    `instead`.

    Sundararajan, Taly and Yan 2017, "Axiomatic Attribution for Deep Networks": the gradient at `points` points between
    a baseline and the input (the midpoint rule), times input minus baseline. By completeness, the parts sum to the
    difference of the logits at input and baseline, up to an error that falls with more points; `total` and `difference`
    show it. The baseline has the mean of the vocabulary's embeddings for every token, at the same
    positions. From a baseline of zeros, as in the paper, the norms would put nearly all of the change into the first
    bit of the path.

    The other arguments and errors are those of `gradient_times_input`; also raises ValueError for no points.
    """
    if points < 1:
        raise ValueError(f"The number of points is {points}; the path needs at least 1, and 20 to 300 are usual.")
    passed = _pass(model, source, target, step, instead, tap)
    ends = [stack.states[0] for stack in (passed.encoder, passed.decoder)]
    begins = [_average(passed.module(stack), len(passed.ids(stack))) for stack in ("encoder", "decoder")]
    layers = len(model.encoder.layers) + len(model.decoder.layers)
    size = rows_per_pass(model, len(source), len(target)) // (2 * layers)  # backward keeps every layer's activations
    sums = [torch.zeros_like(x, dtype=torch.float64) for x in ends]
    for some in in_passes(range(points), max(1, size)):
        at = torch.tensor([(point + 0.5) / points for point in some], device=ends[0].device)[:, None, None]
        path = [begin + at * (end - begin) for begin, end in zip(begins, ends, strict=True)]
        for total, gradient in zip(sums, _gradients(passed, path, target[step + 1], instead), strict=True):
            total += gradient.sum(0).double()
    yield_turn()
    with torch.no_grad():
        both = [torch.stack(pair) for pair in zip(begins, ends, strict=True)]
        least, whole = _logit(passed, both, target[step + 1], instead).tolist()
    parts = [
        ((end - begin).double() * total / points).sum(-1).cpu().numpy()
        for begin, end, total in zip(begins, ends, sums, strict=True)
    ]
    return IntegratedGradients(parts[0], parts[1], whole - least)


def _pass(
    model: Transformer, source: Sequence[int], target: Sequence[int], step: int, instead: int | None, tap: Tap | None
) -> Stream:
    require_step(target, step)
    if instead is not None:
        require_token(model, instead)
    return stream(model, source, target[: step + 2], tap)


@torch.no_grad()
def _average(stack: Encoder | Decoder, length: int) -> Tensor:
    """Return a stack's input [N, M] where every token has the mean of the vocabulary's embeddings."""
    embedding = stack.embedding
    mean = (embedding.tokens.weight.mean(0) * embedding.scale).expand(1, length, -1)
    average: Tensor = embedding.norm(embedding.positions(mean, 0))[0]
    return average


def _gradients(passed: Stream, inputs: Sequence[Tensor], written: int, instead: int | None) -> tuple[Tensor, ...]:
    """Return the gradients of a logit with respect to the inputs of both stacks, [B, N, M] each."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    with torch.enable_grad():
        return torch.autograd.grad(_logit(passed, leaves, written, instead).sum(), leaves)


def _logit(passed: Stream, inputs: Sequence[Tensor], written: int, instead: int | None) -> Tensor:
    """Return the logit at the last token, less that of `instead`, for the inputs [B, N, M] of both stacks: [B]."""
    model, (x, y) = passed.model, inputs
    for layer in model.encoder.layers:
        x = layer(x, passed.source_mask, passed.tap)
    memory = model.encoder.norm(x)
    for layer in model.decoder.layers:
        y = layer(y, memory, passed.target_mask, passed.source_mask, passed.tap)
    logits: Tensor = model.output(model.decoder.norm(y)[:, -1])
    return logits[:, written] if instead is None else logits[:, written] - logits[:, instead]


def _summed(gradient: Tensor, x: Tensor) -> np.ndarray:
    product: np.ndarray = (gradient.double() * x.double()).sum(-1)[0].cpu().numpy()
    return product

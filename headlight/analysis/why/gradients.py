"""Gradient times input: how much each token's embedding adds to a logit, to first order.

Shapes: S source tokens, T target tokens that are read, M = d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.stream import stream
from headlight.analysis.why.logit_difference import require_step, require_token
from transformer.model import Transformer
from transformer.yielding import yield_turn


class InputGradients(NamedTuple):
    """The gradient with respect to each token's vector as it enters its stack, times that vector, summed over M."""

    source: np.ndarray  # [S]
    prefix: np.ndarray  # [step + 1]


def gradient_times_input(
    model: Transformer, source: Sequence[int], target: Sequence[int], step: int, instead: int | None = None
) -> InputGradients:
    """Return gradient times input for the logit of the token written at `step`, or for its difference to that of
    `instead`.

    The first is the gradient times the input of Denil et al. 2014, the second the contrastive one of Yin and Neubig
    2022, "Interpreting Language Models with Contrastive Explanations". `target` runs from [SOS] to [EOS], steps count
    from 0 over what comes after [SOS]. Raises ValueError for a step or a token that there is not.
    """
    require_step(target, step)
    if instead is not None:
        require_token(model, instead)
    passed = stream(model, source, target[: step + 2])
    inputs = [passed.encoder.states[0].clone().requires_grad_(), passed.decoder.states[0].clone().requires_grad_()]
    yield_turn()
    with torch.enable_grad():
        x = inputs[0][None]
        for layer in model.encoder.layers:
            x = layer(x, passed.source_mask)
        memory, y = model.encoder.norm(x), inputs[1][None]
        for layer in model.decoder.layers:
            y = layer(y, memory, passed.target_mask, passed.source_mask)
        logits = model.output(model.decoder.norm(y)[0, -1])
        logit = logits[target[step + 1]] - (0.0 if instead is None else logits[instead])
        gradients = torch.autograd.grad(logit, inputs)
    return InputGradients(*(_summed(gradient, x) for gradient, x in zip(gradients, inputs, strict=True)))


def _summed(gradient: Tensor, x: Tensor) -> np.ndarray:
    product: np.ndarray = (gradient.double() * x.detach().double()).sum(-1).cpu().numpy()
    return product

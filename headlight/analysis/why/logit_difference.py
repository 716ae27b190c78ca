"""Decompose the difference of two logits: why one word was written and not another.

The last state of the decoder is a sum of what the embedding and every head, feed-forward network and bias before it
wrote into the residual stream, and a logit is a product with it: the direct logit attribution of Elhage et al. 2021,
"A Mathematical Framework for Transformer Circuits". Indirect effects, by way of later parts, are counted as those of
the later parts. The scale of each norm is frozen at its value in the pass, and so is the factor by which the activation
of BERT's output transform multiplies each number.

Shapes: L decoder layers, H heads, T target tokens that are read, M = d_model, P parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from headlight.analysis.stream import CROSS, FEED_FORWARD, SELF, stream
from headlight.analysis.why.alti import heads_of
from headlight.analysis.why.residual_parts import BIAS, EMBEDDING, POSITION, residual_parts
from transformer.model import Transformer
from transformer.quoting import quoted
from transformer.taps import Tap

Named = tuple[str, int, int]  # the kind of a part, its layer and its head


class Contrast(NamedTuple):
    """The difference of the logits of `written` and `instead` at one step, and each part's contribution.

    `parts` has a number for "embedding" (with the position) and for "bias" (those of the projections, norms and logits
    together), heads of "self" and "cross" attention as [L, H], and the "feed-forward" networks as [L]. They sum to
    `difference`.
    """

    step: int
    written: int
    instead: int
    difference: float  # computed by the model
    parts: dict[str, np.ndarray]

    @property
    def total(self) -> float:
        """The sum of the parts; its distance from `difference` is the error of the decomposition."""
        return float(sum(part.sum() for part in self.parts.values()))


def require_step(target: Sequence[int], step: int) -> None:
    """Raise ValueError unless a token of `target` (from [SOS] on) was written at `step`, from 0."""
    if not 0 <= step < len(target) - 1:
        raise ValueError(f"The step is {step}; the {len(target) - 1} written tokens have steps 0 to {len(target) - 2}.")


def require_token(model: Transformer, token: int) -> None:
    """Raise ValueError for an id that the target's vocabulary lacks."""
    count = model.config.target_vocab_size
    if not 0 <= token < count:
        raise ValueError(f"The token to compare with is {quoted(token)}; the vocabulary has ids 0 to {count - 1}.")


@torch.no_grad()
def contrast(
    model: Transformer, source: Sequence[int], target: Sequence[int], step: int, instead: int, tap: Tap | None = None
) -> Contrast:
    """Decompose the logit of the token written at `step`, minus that of `instead`.

    `source` are ids up to [EOS], `target` from [SOS] to [EOS]; steps count from 0 over the tokens after [SOS]. `tap`
    intervenes in the pass, so that the parts are those of the model with the intervention. Raises ValueError for a step
    or a token that does not exist, and for an intervention on a head that the model lacks.
    """
    require_step(target, step)
    require_token(model, instead)
    written = target[step + 1]
    passed = stream(model, source, target[: step + 2], tap)  # cut off, as some models have no causal mask
    weight, own = model.output.weight, model.output.bias
    last = passed.decoder.last[-1]
    logits = model.output(last).double()
    direction = weight[written].double() - weight[instead].double()
    parts = residual_parts(passed, heads_of(passed), "decoder", slice(len(passed.target) - 1, None))
    effects: dict[Named, float] = {(BIAS, 0, 0): 0.0}
    if own is not None:
        effects[BIAS, 0, 0] = float(own[written].double() - own[instead].double())
    for writer, vectors in parts.items():
        name = (EMBEDDING if writer.part == POSITION else writer.part, writer.layer, writer.head)
        effects[name] = effects.get(name, 0.0) + float(vectors[0] @ direction)
    difference = float(logits[written] - logits[instead])
    return Contrast(step, written, instead, difference, _by_name(effects))


def _by_name(effects: dict[Named, float]) -> dict[str, np.ndarray]:
    """Return the effects as arrays: [L, H] for heads, [L] for feed-forward networks, a number for the rest."""
    arrays: dict[str, np.ndarray] = {}
    for kind in (EMBEDDING, SELF, CROSS, FEED_FORWARD, BIAS):
        by_head = {(layer, head): effect for (name, layer, head), effect in effects.items() if name == kind}
        layers, heads = (1 + max(key[axis] for key in by_head) for axis in (0, 1))
        array = np.array([[by_head[layer, head] for head in range(heads)] for layer in range(layers)])
        arrays[kind] = array if kind in (SELF, CROSS) else array[:, 0] if kind == FEED_FORWARD else array[0, 0]
    return arrays

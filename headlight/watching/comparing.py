"""Compare an imported network with the live Hugging Face model that it was imported from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.stream import StackStates, stream
from headlight.watching.shared_copy import SharedCopy
from transformer import Translator

# Tolerated differences of logits, relative to their norm, and of attention weights, by the live model's dtype. Small
# models whose weights deviate by 0.4 differed in attention by at most 0.002 in float16 and 0.02 in bfloat16.
ROUNDING_TOLERANCES = {torch.float32: 1e-3, torch.float16: 1e-2, torch.bfloat16: 5e-2}
_PATTERNS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}


class Comparison(NamedTuple):
    """The differences between our network and the live model over one source and target."""

    logits: float  # the largest absolute difference
    relative: float  # the norm of the differences of logits, divided by the norm of the live model's logits
    attention: float | None  # the largest difference of a weight; None where the live model returns no attention
    begins: str | None  # "layer 2 of the encoder", where differences begin; None where nothing differs


@torch.no_grad()
def compare(translator: Translator, copy: SharedCopy, source: Sequence[int], target: Sequence[int]) -> Comparison:
    """Return how far both models differ on the ids of a sentence and of its translation, which begins with [SOS].

    Padding is masked in both models.
    """
    src, tgt = copy.batch(source), copy.batch(target)
    attention_mask = (src != translator.model.config.pad_id).long()
    theirs = copy.run(input_ids=src, attention_mask=attention_mask, decoder_input_ids=tgt, output_hidden_states=True)
    ours = translator.prepared(src, tgt)
    differences = (ours - theirs.logits.float()).abs()
    relative = float(differences.norm() / theirs.logits.float().norm().clamp_min(1e-9))
    attention = _attention_difference(translator, copy, theirs, [list(source), list(target)])
    allowed = ROUNDING_TOLERANCES[copy.model.dtype]
    begins = None
    if not (relative <= allowed and (attention or 0.0) <= allowed):  # NaN counts as a difference
        begins = _first_difference(translator, theirs, source, target, allowed)
    return Comparison(float(differences.max()), relative, attention, begins)


def _attention_difference(translator: Translator, copy: SharedCopy, theirs: Any, ids: list[list[int]]) -> float | None:
    source, target = ids
    # A trace does not read the last token of its target; with that token repeated, it reads all of `target`.
    trace = translator.trace_ids(source, [*target, target[-1]])
    largest = 0.0
    for kind, name in _PATTERNS.items():
        ours = trace.pattern(kind)
        try:
            expected = copy.weights(theirs, name, *ours.shape[-2:])
        except ValueError:  # the live model returns no attention
            return None
        if expected.shape != ours.shape:
            return float("inf")
        largest = max(largest, float(np.abs(expected - ours).max()))
    return largest


def _first_difference(
    translator: Translator, theirs: Any, source: Sequence[int], target: Sequence[int], allowed: float
) -> str:
    """Return the first layer, in the order of the forward pass, whose hidden states differ."""
    ours = stream(translator.model, list(source), [*target, target[-1]])
    for stack in ("encoder", "decoder"):
        states: Sequence[Tensor] | None = getattr(theirs, f"{stack}_hidden_states", None)
        for layer, difference in _differences(ours.stack(stack), states or ()):
            if not difference <= allowed:
                return f"the {stack}'s embeddings" if layer == 0 else f"layer {layer} of the {stack}"
    return "the output projection"


def _differences(ours: StackStates, theirs: Sequence[Tensor]) -> Iterator[tuple[int, float]]:
    """Yield, for the embeddings (0) and each layer, how far our hidden states are from theirs.

    The last states of the live model may have passed the final norm, which in our network may hold a factor of the
    output projection.
    """
    if len(theirs) != len(ours.states):
        return
    for layer, (own, expected) in enumerate(zip(ours.states, theirs, strict=True)):
        expected = expected[0].float()
        difference = _relative(own, expected)
        if layer == len(theirs) - 1:
            last = ours.last * (expected.norm() / ours.last.norm().clamp_min(1e-9))
            difference = min(difference, _relative(last, expected))
        yield layer, difference


def _relative(own: Tensor, expected: Tensor) -> float:
    """Return the norm of the difference, divided by the norm of `expected`; infinity for different shapes."""
    if own.shape != expected.shape:
        return float("inf")
    return float((own.float() - expected).norm() / expected.norm().clamp_min(1e-9))

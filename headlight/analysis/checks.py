"""The checks beside a picture, each computed on the trace that is shown.

Shapes: L layers, H heads, T target tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.passes import written_log_probs
from headlight.analysis.sites import kind_of
from headlight.language import gettext, localized, ngettext, translatable, within
from transformer.model import Transformer
from transformer.taps import Ablate, Observer, Recorder, Replace, Scale, Site, Tap, Uniform, chain
from transformer.trace import KINDS, Trace

KIND_NAMES = {"encoder": translatable("Encoder"), "decoder": translatable("Decoder"), "cross": translatable("Cross")}
TOLERANCE = 1e-4  # single precision over hundreds of keys and a dozen layers stays below; a mistake doesn't


class Check(NamedTuple):
    """A condition that must hold for the picture to be true, with what was measured, in plain words."""

    name: str
    holds: bool
    detail: str


def check(trace: Trace, model: Transformer, interventions: Sequence[Tap] = ()) -> list[Check]:
    """Return every check of `trace`, which `model` gave while `interventions` (in their order) changed its heads.

    Runs the model twice over the sentence pair of the trace, and once more where there are interventions.
    """
    return [
        labels_match(trace, model),
        rows_sum_to_one(trace, interventions, model.config.pruned_heads),
        nothing_leaks(trace),
        dropout_is_off(trace, model, interventions),
        recorded_is_plain(trace, model, interventions),
    ]


def labels_match(trace: Trace, model: Transformer) -> Check:
    """Check that each pattern has the model's layers and heads, and a row and a column for each label."""
    sizes = {"encoder": model.config.encoder, "decoder": model.config.decoder, "cross": model.config.decoder}
    wrong, right = [], []
    for kind in KINDS:
        stack = sizes[kind]
        expected = (stack.n_layers, stack.n_heads, len(trace.rows(kind)), len(trace.columns(kind)))
        shape, name = trace.pattern(kind).shape, within(gettext(KIND_NAMES[kind]))
        if shape == expected:
            right.append(f"{name} {expected[2]} × {expected[3]}")
        else:
            values = {"size": " × ".join(map(str, shape)), "due": " × ".join(map(str, expected))}
            wrong.append(gettext("{kind} is {size} but should be {due}.", kind=name, **values))
    if len(trace.log_probs) != len(trace.writes):
        counts = {"number": len(trace.log_probs), "tokens": len(trace.writes)}
        wrong.append(gettext("There are {number} log-probabilities for {tokens} tokens.", **counts))
    detail = " ".join(wrong) or gettext("Rows and columns have one token each: {sizes}.", sizes=", ".join(right))
    return Check(gettext("Labels match the attention weights"), not wrong, detail)


def rows_sum_to_one(
    trace: Trace, interventions: Sequence[Tap] = (), pruned: Collection[tuple[str, int, str, int]] = ()
) -> Check:
    """Check that the rows of heads that were not changed sum to 1.

    `pruned` are the `pruned_heads` of the model's configuration, whose rows have to sum to 0.
    """
    kinds = (Ablate, Scale, Uniform, Replace)
    changed = {(tap.site, tap.head) for tap in interventions if isinstance(tap, kinds)}
    gone = {(kind_of(Site(stack, layer, kind)), layer, head) for stack, layer, kind, head in pruned}
    errors = [0.0]
    for kind in KINDS:
        layers, heads = trace.pattern(kind).shape[:2]
        expected = np.array([[(kind, layer, head) not in gone for head in range(heads)] for layer in range(layers)])
        sums = np.stack([layer.sum(-1, dtype=np.float64) for layer in trace.pattern(kind)])
        error = np.abs(sums - expected[..., None]).max(-1, initial=0)  # [L, H]
        for site, head in changed:
            if kind_of(site) == kind:
                error[site.layer, head] = 0
        errors.append(error.max(initial=0))
    worst = float(np.max(errors))  # not the built-in max, which loses a NaN
    detail = gettext("The largest difference of a row's sum from 1 is {number}.", number=_plainly(worst))
    if changed:
        detail += " " + ngettext(
            "Rows of the head you changed are left out.",
            "Rows of the {count} heads you changed are left out.",
            len(changed),
        )
    return Check(gettext("Every row sums to 1"), worst <= TOLERANCE, detail)


def nothing_leaks(trace: Trace) -> Check:
    """Check that the decoder gives no weight to later tokens; without a mask, any weight is allowed."""
    decoder = trace.pattern("decoder")
    later = np.triu(np.ones(decoder.shape[-2:], dtype=bool), 1)
    leak = max(float(np.abs(layer[..., later]).max(initial=0)) for layer in decoder)
    detail = gettext("The largest weight that the decoder gives to a later token is {number}.", number=_plainly(leak))
    if trace.look_ahead:
        note = gettext("This model applies no mask that would hide it.")
        return Check(gettext("Look-ahead"), True, f"{detail} {note}")
    return Check(gettext("No look-ahead"), leak == 0, detail)


def dropout_is_off(trace: Trace, model: Transformer, interventions: Sequence[Tap] = ()) -> Check:
    """Check that the model is in evaluation mode, and that a second recorded pass gives the same patterns."""
    patterns = _PatternDifference(trace)
    log_probs = _log_probs(trace, model, chain(*interventions, patterns))
    difference = max(*patterns.values(), _difference(trace.log_probs, log_probs))
    training = any(module.training for module in model.modules())
    text = translatable("The model is in evaluation mode, and the largest difference in a second pass is {number}.")
    if training:
        text = translatable("The model is in training mode, and the largest difference in a second pass is {number}.")
    detail = gettext(text, number=_plainly(difference))
    return Check(gettext("Dropout is off"), not training and difference <= TOLERANCE, detail)


def recorded_is_plain(trace: Trace, model: Transformer, interventions: Sequence[Tap] = ()) -> Check:
    """Compare the log-probabilities of the recorded pass with those of a plain pass through the fused kernel.

    A plain pass cannot change heads, so under interventions a recorded pass without them is compared.
    """
    recorded = _log_probs(trace, model, Recorder()) if interventions else trace.log_probs
    difference = _difference(recorded, _log_probs(trace, model, None))
    text = translatable("With and without recording, log-probabilities differ by {number} at most.")
    detail = gettext(text, number=_plainly(difference))
    if interventions:
        detail += " " + gettext("Compared with every head on, since a pass without recording cannot change heads.")
    largest = float(np.abs(recorded).max(initial=1))  # without norms there are log-probabilities of -1,000
    return Check(gettext("Recording changes nothing"), difference <= TOLERANCE * largest, detail)


def _plainly(number: float) -> str:
    """Return a number with two significant digits and without a power of ten: 0.00000012."""
    return localized(np.format_float_positional(number, precision=2, fractional=False, trim="-"))


def _difference(left: np.ndarray, right: np.ndarray) -> float:
    if left.shape != right.shape:
        return float("inf")
    difference = np.abs(left.astype(np.float64) - right)
    return float(np.where(np.isnan(difference), np.inf, difference).max(initial=0))


def _log_probs(trace: Trace, model: Transformer, tap: Tap | None) -> np.ndarray:
    """Return the log-probability of each token that the trace wrote: [T]."""
    device = model.output.weight.device
    src = torch.tensor([trace.source.ids], device=device)
    tgt = torch.tensor([trace.target.ids], device=device)
    chosen: np.ndarray = written_log_probs(model, src, tgt, tap)[0].float().cpu().numpy()
    return chosen


class _PatternDifference(Observer, dict[Site, float]):
    """The largest difference of each pattern of a pass from the trace's pattern; the patterns are not stored."""

    def __init__(self, trace: Trace):
        self.trace = trace

    def see(self, site: Site, pattern: Tensor) -> None:
        layers, recorded = self.trace.pattern(kind_of(site)), pattern[0].float().cpu().numpy()
        self[site] = _difference(layers[site.layer], recorded) if site.layer < len(layers) else float("inf")

"""The checks beside a picture, each computed on the trace that is shown.

Shapes: L layers, H heads, T target tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import torch

from headlight.analysis.passes import written_log_probs
from headlight.analysis.sites import by_kind, kind_of
from transformer.model import Transformer
from transformer.taps import Ablate, Recorder, Replace, Scale, Site, Tap, Uniform, chain
from transformer.trace import KINDS, Kind, Trace

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
        due = (stack.n_layers, stack.n_heads, len(trace.rows(kind)), len(trace.columns(kind)))
        shape = trace.pattern(kind).shape
        if shape == due:
            right.append(f"{kind} {due[2]} × {due[3]}")
        else:
            wrong.append(f"{kind} is {' × '.join(map(str, shape))} but should be {' × '.join(map(str, due))}")
    if len(trace.log_probs) != len(trace.writes):
        wrong.append(f"{len(trace.log_probs)} log-probabilities for {len(trace.writes)} tokens")
    detail = "; ".join(wrong) if wrong else f"Rows and columns have one token each: {', '.join(right)}"
    return Check("Labels match the attention weights", not wrong, f"{detail}.")


def rows_sum_to_one(
    trace: Trace, interventions: Sequence[Tap] = (), pruned: Collection[tuple[str, int, str, int]] = ()
) -> Check:
    """Return the largest difference from 1 of any row of a head that was not changed.

    `pruned` are the heads that the model lacks, as its configuration has them: their rows have to sum to 0.
    """
    kinds = (Ablate, Scale, Uniform, Replace)
    changed = {(tap.site, tap.head) for tap in interventions if isinstance(tap, kinds)}
    gone = {(kind_of(Site(stack, layer, kind)), layer, head) for stack, layer, kind, head in pruned}
    errors = [0.0]
    for kind in KINDS:
        layers, heads = trace.pattern(kind).shape[:2]
        due = np.array([[(kind, layer, head) not in gone for head in range(heads)] for layer in range(layers)])
        error = np.abs(trace.pattern(kind).sum(-1, dtype=np.float64) - due[..., None]).max(-1, initial=0)  # [L, H]
        for site, head in changed:
            if kind_of(site) == kind:
                error[site.layer, head] = 0
        errors.append(error.max(initial=0))
    worst = float(np.max(errors))  # not the built-in max, which loses a NaN
    detail = f"The largest difference of a row's sum from 1 is {_plainly(worst)}."
    if changed:
        detail += f" Rows of the {_heads(len(changed))} you changed are left out."
    return Check("Every row sums to 1", worst <= TOLERANCE, detail)


def nothing_leaks(trace: Trace) -> Check:
    """Return the largest weight that the decoder gives to a later token; what nothing hides may have any."""
    decoder = trace.pattern("decoder")
    later = np.triu(np.ones(decoder.shape[-2:], dtype=bool), 1)
    leak = float(np.abs(decoder[..., later]).max(initial=0))
    detail = f"The largest weight that the decoder gives to a later token is {_plainly(leak)}."
    if trace.look_ahead:
        return Check("Look-ahead", True, f"{detail} This model applies no mask that would hide it.")
    return Check("No look-ahead", leak == 0, detail)


def dropout_is_off(trace: Trace, model: Transformer, interventions: Sequence[Tap] = ()) -> Check:
    """Check that the model is in evaluation mode, and that a second recorded pass gives the same patterns."""
    patterns, log_probs = _recorded(trace, model, interventions)
    pairs = [(trace.pattern(kind), patterns[kind]) for kind in KINDS]
    difference = max(_difference(a, b) for a, b in [*pairs, (trace.log_probs, log_probs)])
    training = any(module.training for module in model.modules())
    state = "The model is in training mode" if training else "The model is in evaluation mode"
    detail = f"{state}, and the largest difference in a second pass is {_plainly(difference)}."
    return Check("Dropout is off", not training and difference <= TOLERANCE, detail)


def recorded_is_plain(trace: Trace, model: Transformer, interventions: Sequence[Tap] = ()) -> Check:
    """Compare the log-probabilities of the recorded pass with those of a plain pass through the fused kernel.

    A plain pass cannot change heads, so under interventions a recorded pass without them is compared.
    """
    recorded = _recorded(trace, model, ())[1] if interventions else trace.log_probs
    difference = _difference(recorded, _log_probs(trace, model, None))
    detail = f"With and without recording, log-probabilities differ by {_plainly(difference)} at most."
    if interventions:
        detail += " Compared with every head on, since a pass without recording cannot change heads."
    largest = float(np.abs(recorded).max(initial=1))  # without norms there are log-probabilities of -1,000
    return Check("Recording changes nothing", difference <= TOLERANCE * largest, detail)


def _heads(number: int) -> str:
    return "head" if number == 1 else f"{number} heads"


def _plainly(number: float) -> str:
    """Return two digits that count, without a power of ten: 0.00000012."""
    return np.format_float_positional(number, precision=2, fractional=False, trim="-")


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


def _recorded(
    trace: Trace, model: Transformer, interventions: Sequence[Tap]
) -> tuple[dict[Kind, np.ndarray], np.ndarray]:
    """Return a recorded pass over the trace's sentences: patterns by kind [L, H, Q, K], log-probabilities [T]."""
    recorder = Recorder()
    log_probs = _log_probs(trace, model, chain(*interventions, recorder))
    patterns = {site: pattern[0].float().cpu().numpy() for site, (pattern,) in recorder.items()}
    return by_kind(patterns), log_probs

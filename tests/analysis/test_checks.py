"""The checks hold on a true trace, and each fails where its trace is false."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from headlight.analysis import attention_at, check
from transformer.model import Transformer
from transformer.taps import Ablate, Replace, Scale, Site, Tap, Uniform
from transformer.trace import Trace

LABELS, ROWS, LEAK, DROPOUT, PLAIN = (
    "Labels match the attention weights", "Every row sums to 1", "No look-ahead", "Dropout is off",
    "Recording changes nothing",
)
CROSS, DECODER = Site("decoder", 1, "cross"), Site("decoder", 2, "self")


def failing(trace: Trace, model: Transformer, *interventions: Tap) -> set[str]:
    return {outcome.name for outcome in check(trace, model, interventions) if not outcome.holds}


def changed(trace: Trace, kind: str, place: tuple[int, ...], by: float) -> Trace:
    values = trace.pattern(kind).copy()
    values[place] += by
    arrays: dict[str, Any] = {kind: values}
    return replace(trace, **arrays)


def test_all_hold_on_a_true_trace(model: Transformer, trace: Trace) -> None:
    checks = check(trace, model)
    assert [outcome.name for outcome in checks] == [LABELS, ROWS, LEAK, DROPOUT, PLAIN]
    assert all(outcome.holds for outcome in checks), checks
    for outcome in checks:
        assert outcome.detail.endswith(".")
    assert "encoder 6 × 6, decoder 4 × 4, cross 4 × 6" in checks[0].detail
    assert "left out" not in checks[1].detail


@pytest.mark.parametrize(
    "interventions",
    [
        (Ablate(CROSS, 0),),
        (Uniform(CROSS, 1), Scale(DECODER, 0, 0.5)),
        (Ablate(Site("encoder", 0, "self"), 3), Ablate(CROSS, 0), Ablate(DECODER, 2)),
    ],
)
def test_all_hold_when_heads_are_changed_and_the_details_name_it(
    model: Transformer, trace_of: Callable[..., Trace], interventions: tuple[Tap, ...]
) -> None:
    checks = {outcome.name: outcome for outcome in check(trace_of(*interventions), model, interventions)}
    assert all(outcome.holds for outcome in checks.values()), checks
    number = "head" if len(interventions) == 1 else f"{len(interventions)} heads"
    assert f"Rows of the {number} you changed are left out." in checks[ROWS].detail
    assert "Compared with every head on" in checks[PLAIN].detail


def test_a_head_changed_twice_is_one_head(model: Transformer, trace_of: Callable[..., Trace]) -> None:
    taps = (Scale(CROSS, 0, 0.5), Scale(CROSS, 0, 0.5))
    rows = check(trace_of(*taps), model, taps)[1]
    assert rows.holds
    assert "Rows of the head you changed" in rows.detail


@pytest.mark.parametrize(("kind", "by"), [("encoder", 1e-3), ("decoder", -1e-3), ("cross", float("nan"))])
def test_a_row_that_does_not_sum_to_one(model: Transformer, trace: Trace, kind: str, by: float) -> None:
    assert ROWS in failing(changed(trace, kind, (1, 2, 3, 0), by), model)


def test_rows_are_left_out_for_the_changed_head_alone(model: Transformer, trace_of: Callable[..., Trace]) -> None:
    trace = trace_of(Ablate(CROSS, 0))
    assert ROWS in failing(trace, model)
    assert ROWS in failing(trace, model, Ablate(CROSS, 1))
    assert ROWS in failing(changed(trace, "cross", (1, 1, 0, 0), 0.1), model, Ablate(CROSS, 0))
    assert ROWS not in failing(trace, model, Ablate(CROSS, 0))


def test_a_leaking_pattern(model: Transformer, trace: Trace) -> None:
    leaking = changed(changed(trace, "decoder", (0, 0, 1, 2), 1e-6), "decoder", (0, 0, 1, 0), -1e-6)
    assert failing(leaking, model) == {LEAK}
    assert "is 0.000001." in check(leaking, model)[2].detail


def test_a_head_made_to_look_ahead_is_no_secret(model: Transformer, trace_of: Callable[..., Trace]) -> None:
    """Rows that a person wrote may look at later tokens; the picture then says so."""
    ahead = Replace(DECODER, 0, ((0.0, 0.0, 0.0, 1.0),))
    assert failing(trace_of(ahead), model, ahead) == {LEAK}


def test_a_model_that_trains(model: Transformer, trace: Trace) -> None:
    torch.manual_seed(0)
    assert failing(trace, model.train()) == {DROPOUT, PLAIN}


def test_a_model_that_trains_without_dropout_is_still_in_training(model: Transformer, trace: Trace) -> None:
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    assert failing(trace, model.train()) == {DROPOUT}


def test_one_dropout_left_on(model: Transformer, trace: Trace) -> None:
    """A part in training mode inside a model that says it isn't."""
    torch.manual_seed(0)
    model.encoder.layers[1].train()
    assert DROPOUT in failing(trace, model)


def test_a_trace_of_another_model(model: Transformer, trace: Trace) -> None:
    with torch.no_grad():
        attention_at(model, Site("decoder", 0, "cross")).query.weight.mul_(1.5)
    assert failing(trace, model) == {DROPOUT, PLAIN}


def test_patterns_of_another_pass(model: Transformer, trace: Trace, trace_of: Callable[..., Trace]) -> None:
    """The numbers beside the picture belong to the model, the picture doesn't."""
    other = trace_of(Uniform(CROSS, 0))
    assert failing(replace(trace, cross=other.cross), model) == {DROPOUT}


def test_log_probabilities_of_another_pass(model: Transformer, trace: Trace) -> None:
    assert failing(replace(trace, log_probs=trace.log_probs - 0.01), model) == {DROPOUT, PLAIN}


def test_interventions_that_were_not_made(model: Transformer, trace: Trace) -> None:
    assert DROPOUT in failing(trace, model, Ablate(CROSS, 0))


def test_labels_that_are_too_few(model: Transformer, trace: Trace) -> None:
    assert LABELS in failing(replace(trace, target=trace.target.slice(0, 4)), model)
    assert LABELS in failing(replace(trace, source=trace.source.slice(0, 3)), model)
    assert LABELS in failing(replace(trace, encoder=trace.encoder[:1]), model)
    assert LABELS in failing(replace(trace, cross=trace.cross[:, :2]), model)
    assert LABELS in failing(replace(trace, log_probs=trace.log_probs[:-1]), model)
    detail = check(replace(trace, encoder=trace.encoder[:1]), model)[0].detail
    assert detail == "encoder is 1 × 4 × 6 × 6 but should be 2 × 4 × 6 × 6."


def test_the_measured_number_is_in_the_detail(model: Transformer, trace: Trace) -> None:
    off = replace(trace, log_probs=trace.log_probs - np.float32(0.25))
    assert "log-probabilities differ by 0.25 at most." in check(off, model)[4].detail
    assert "from 1 is 0.25." in check(changed(trace, "cross", (0, 0, 0, 0), 0.25), model)[1].detail

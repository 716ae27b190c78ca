"""Gradient times input and integrated gradients: completeness, a slow second computation, and a linear model."""

from typing import Any

import numpy as np
import pytest
import torch

from headlight.analysis import gradient_times_input, integrated_gradients
from headlight.analysis.stream import stream
from tests.analysis.why.models import NAMES, SRC, TGT, build
from tests.small import id_rows, small_checkpoint
from transformer.model import Transformer
from transformer.taps import Ablate, Site

pytestmark = pytest.mark.device

STEP, INSTEAD = 3, 9
WRITTEN = TGT[STEP + 1]


def path_of(model: Transformer) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Where the path of each stack begins and ends, from the embedding's own call with other weights."""
    ends = []
    for stack, ids in ((model.encoder, SRC), (model.decoder, TGT[: STEP + 1])):
        row, weight = id_rows(ids), stack.embedding.tokens.weight
        with torch.no_grad():
            end, saved = stack.embedding(row)[0], weight.clone()
            weight.copy_(weight.mean(0).expand_as(weight))
            begin = stack.embedding(row)[0]
            weight.copy_(saved)
        ends.append((begin, end))
    return ends


def logit(model: Transformer, x: torch.Tensor, y: torch.Tensor) -> float:
    """The difference of two logits with other vectors in the embeddings' place, by hooks."""
    hooks = [
        stack.embedding.register_forward_hook(lambda *_, vectors=vectors: vectors[None])
        for stack, vectors in ((model.encoder, x), (model.decoder, y))
    ]
    with torch.no_grad():
        logits = model(id_rows(SRC), id_rows(TGT[: STEP + 1]))[0, -1].double()
    for hook in hooks:
        hook.remove()
    return float(logits[WRITTEN] - logits[INSTEAD])


@pytest.mark.parametrize("name", NAMES)
def test_integrated_gradients_are_complete_as_points_grow(name: str) -> None:
    model = build(name)
    (a, x), (b, y) = path_of(model)
    few, many = (integrated_gradients(model, SRC, TGT, STEP, INSTEAD, points) for points in (4, 200))
    due = logit(model, x, y) - logit(model, a, b)
    assert few.difference == many.difference == pytest.approx(due, abs=1e-4)
    errors = [abs(found.total - due) for found in (few, many)]
    assert errors[1] < 0.02 and errors[1] < max(errors[0], 1e-3)
    assert many.source.shape == (5,) and many.prefix.shape == (STEP + 1,)


@pytest.mark.parametrize("name", ["pre", "post", "t5"])
def test_one_tokens_part_is_the_path_integral_of_finite_differences(name: str) -> None:
    model = build(name).double()  # finite differences need the digits
    (a, x), (b, y) = path_of(model)
    found, step, points = integrated_gradients(model, SRC, TGT, STEP, INSTEAD, 8), 1e-5, 8
    for stack, token in ((0, 1), (1, 2)):
        part = 0.0
        for point in range(points):
            at = (point + 0.5) / points
            vectors = [a + at * (x - a), b + at * (y - b)]
            moved = [[v.clone() for v in vectors] for _ in range(2)]
            for sign, run in zip((1, -1), moved, strict=True):
                run[stack][token] += sign * step * ((x - a), (y - b))[stack][token]
            part += (logit(model, *moved[0]) - logit(model, *moved[1])) / (2 * step) / points
        assert found[stack][token] == pytest.approx(part, abs=1e-4)


def test_batches_of_the_path_change_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build("post")
    whole = integrated_gradients(model, SRC, TGT, STEP, points=9)
    monkeypatch.setattr("headlight.analysis.passes.PASS_TOKENS", 1)
    parts = integrated_gradients(model, SRC, TGT, STEP, points=9)
    np.testing.assert_allclose(parts.source, whole.source, atol=1e-5)
    np.testing.assert_allclose(parts.prefix, whole.prefix, atol=1e-5)


def test_a_token_that_only_one_head_reads_has_its_part_by_that_head() -> None:
    model = build("pre")
    with torch.no_grad():
        for layer in model.decoder.layers:
            layer.cross_attention.output.weight.zero_()
        model.decoder.layers[1].cross_attention.output.weight[:, :8] = torch.randn(16, 8)
    read = integrated_gradients(model, SRC, TGT, STEP)
    unread = integrated_gradients(model, SRC, TGT, STEP, tap=Ablate(Site("decoder", 1, "cross"), 0))
    assert np.abs(read.source).max() > 1e-3 and np.abs(unread.source).max() == 0
    without = gradient_times_input(model, SRC, TGT, STEP, tap=Ablate(Site("decoder", 1, "cross"), 0))
    assert np.abs(without.source).max() == 0


def test_where_the_model_is_linear_both_gradients_agree_up_to_the_baseline() -> None:
    """Without attention, feed-forward networks and a final norm, the logit is linear in the last token's vector."""
    model = small_checkpoint(final_norm=False).model
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "layers" in name and "norm" not in name:
                parameter.zero_()
    found: Any = integrated_gradients(model, SRC, TGT, STEP, points=1)
    vector = stream(model, SRC, TGT[: STEP + 2]).decoder.states[0][-1]
    begin = path_of(model)[1][0][-1]
    due = (vector - begin) @ model.output.weight[WRITTEN].detach()
    np.testing.assert_allclose(found.prefix, [0, 0, 0, float(due)], atol=1e-5)
    assert found.total == pytest.approx(found.difference, abs=1e-5)
    plain = gradient_times_input(model, SRC, TGT, STEP).prefix[-1]
    assert plain == pytest.approx(float(vector @ model.output.weight[WRITTEN].detach()), abs=1e-5)


def test_no_points_are_refused() -> None:
    with pytest.raises(ValueError, match="number of points is 0"):
        integrated_gradients(build("pre"), SRC, TGT, STEP, points=0)

"""Additive attention against PyTorch's layers, the softmax's slope against autograd, and what both do by width."""

import numpy as np
import pytest
import torch

from headlight.analysis.relatives import additive_scores, by_width, softmax_slope


def test_additive_scores_are_those_of_two_linear_layers() -> None:
    torch.manual_seed(0)
    w, u, v = (torch.nn.Linear(6, out, bias=False).double() for out in (6, 6, 1))
    q, k = torch.randn(3, 6).double(), torch.randn(5, 6).double()
    with torch.no_grad():
        expected = torch.stack([torch.stack([v(torch.tanh(w(a) + u(b)))[0] for b in k]) for a in q])
    arrays = (x.detach().numpy() for x in (q, k, w.weight, u.weight, v.weight[0]))
    np.testing.assert_allclose(additive_scores(*arrays), expected.numpy(), atol=1e-12)


def test_the_slope_is_the_trace_of_pytorchs_jacobian() -> None:
    scores = torch.randn(4, 7, generator=torch.Generator().manual_seed(0)).double() * 3
    traces = [
        float(torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row).diagonal().sum())  # type: ignore[union-attr]
        for row in scores
    ]
    assert softmax_slope(scores.numpy()) == pytest.approx(np.mean(traces))
    assert softmax_slope(np.zeros((2, 8))) == pytest.approx(7 / 8)
    assert softmax_slope(np.eye(8) * 1e4) == pytest.approx(0)


def test_dot_products_saturate_with_the_width_and_additive_scores_do_not() -> None:
    effects = by_width(10, (4, 64, 256))
    for width, effect in zip((4, 64, 256), effects["dot product"], strict=True):
        assert effect.variance == pytest.approx(width, rel=0.25)
    dot, divided, additive = ([one.slope for one in effects[name]] for name in effects)
    assert dot[0] > 3 * dot[2] and dot[2] < 0.1
    assert min(divided) > 0.6 and min(additive) > 0.6
    assert all(one.variance < 1.5 for name in ("divided by √d_k", "additive") for one in effects[name])

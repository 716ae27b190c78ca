"""Additive, sparse and linear attention against PyTorch and loops, and the softmax's slope against autograd."""

import numpy as np
import pytest
import torch

from headlight.analysis.relatives import (
    additive_scores,
    by_width,
    linear_weights,
    masked_softmax,
    softmax_slope,
    sparse_visible,
    stride,
)


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


def test_sparse_attention_sees_the_papers_two_sets() -> None:
    """Child et al. 2019, section 4.3: {t, ..., i} with t = max(0, i - l), and every j with (i - j) mod l = 0."""
    for n, step in ((1, 1), (7, 3), (30, 5)):
        assert stride(n) == step
        earlier = np.tri(n, dtype=bool) & sparse_visible(n, n, step)
        for i in range(n):
            expected = {*range(max(0, i - step), i + 1), *(j for j in range(i + 1) if (i - j) % step == 0)}
            assert set(np.flatnonzero(earlier[i])) == expected
    assert sparse_visible(400, 400, stride(400)).sum(-1).max() <= 4 * stride(400)


def test_the_softmax_over_visible_keys_is_pytorchs() -> None:
    q, k = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0)).double()
    visible = np.tri(5, dtype=bool) & sparse_visible(5, 5, 2)
    expected = torch.nn.functional.scaled_dot_product_attention(
        q, k, torch.eye(5).double(), attn_mask=torch.from_numpy(visible)
    )
    np.testing.assert_allclose(masked_softmax((q @ k.T / 2).numpy(), visible), expected.numpy(), atol=1e-12)
    assert not masked_softmax(np.ones((1, 3)), np.zeros((1, 3), bool)).any()


def test_linear_attention_is_a_recurrent_network() -> None:
    """With a look-ahead mask its outputs are those of a state that grows token by token (the paper's section 3.4)."""
    q, k, v = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(0)).double()
    state, norm, outputs = torch.zeros(4, 4).double(), torch.zeros(4).double(), []
    for query, key, value in zip(q, k, v, strict=True):
        asked, found = (torch.nn.functional.elu(x) + 1 for x in (query, key))
        state, norm = state + torch.outer(found, value), norm + found
        outputs.append(asked @ state / (asked @ norm))
    weights = linear_weights(q.numpy(), k.numpy(), np.tri(6, dtype=bool))
    np.testing.assert_allclose(weights @ v.numpy(), torch.stack(outputs).numpy(), atol=1e-12)
    np.testing.assert_allclose(weights.sum(-1), 1)

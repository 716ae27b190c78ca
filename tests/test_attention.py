"""The paper's equation, fused and explicit, and its heads.

Shapes: B sentences, H heads, Q queries, K keys, D = d_head.
"""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention, attend
from transformer.masks import look_ahead_mask, visible_keys
from transformer.taps import InputRecorder, Recorder, Site

SITE = Site("encoder", 0, "self")
MaskOf = Callable[[int, int, int], Tensor]

# B, H, Q, K, D: single tokens, uneven sides, odd widths
SHAPES = [(1, 1, 1, 1, 1), (1, 1, 1, 5, 4), (2, 3, 4, 4, 8), (3, 2, 7, 4, 5), (2, 8, 33, 65, 16)]


def any_mask(b: int, q: int, k: int) -> Tensor:
    """Return a random mask in which every query sees a key: [B, 1, Q, K]."""
    mask = torch.rand(b, 1, q, k) < 0.5
    mask[..., 0] = True
    return mask


def padding_mask(b: int, q: int, k: int) -> Tensor:
    ids = torch.ones(b, k, dtype=torch.long)
    for row in range(b):
        ids[row, max(1, k - row) :] = 0
    return visible_keys(ids, 0)


def causal_mask(b: int, q: int, k: int) -> Tensor:
    return look_ahead_mask(q, max(q, k), torch.device("cpu"))[:, -k:] if k >= q else any_mask(b, q, k)


def qkv(shape: tuple[int, ...], scale: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    b, h, q, k, d = shape
    return torch.randn(b, h, q, d) * scale, torch.randn(b, h, k, d) * scale, torch.randn(b, h, k, d)


@pytest.mark.parametrize("mask_of", [any_mask, padding_mask, causal_mask])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_tapped_is_fused(shape: tuple[int, ...], mask_of: MaskOf, scale: float) -> None:
    torch.manual_seed(sum(shape))
    b, _, q, k, _ = shape
    inputs, mask = qkv(shape, scale), mask_of(b, q, k)
    fused = attend(*inputs, mask, SITE)
    tapped = attend(*inputs, mask, SITE, Recorder())
    assert tapped.shape == fused.shape
    torch.testing.assert_close(tapped, fused, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("mask_of", [any_mask, padding_mask, causal_mask])
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_sum_to_one_and_masked_cells_are_nothing(shape: tuple[int, ...], mask_of: MaskOf) -> None:
    torch.manual_seed(0)
    b, h, q, k, _ = shape
    mask, recorder = mask_of(b, q, k), Recorder()
    attend(*qkv(shape, 30.0), mask, SITE, recorder)
    (pattern,) = recorder[SITE]
    assert pattern.shape == (b, h, q, k)
    assert (pattern >= 0).all()
    torch.testing.assert_close(pattern.sum(-1), torch.ones(b, h, q))
    assert (pattern[~mask.expand_as(pattern)] == 0).all()


def test_the_equation_written_out() -> None:
    """softmax(q kᵀ / √d) v with loops and plain numbers."""
    torch.manual_seed(0)
    q, k, v = qkv((1, 1, 3, 4, 5))
    mask = torch.tensor([[1, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]], dtype=torch.bool)
    for tap in (None, Recorder()):
        out = attend(q, k, v, mask, SITE, tap)
        for i in range(3):
            seen = [j for j in range(4) if mask[i, j]]
            dot = [sum(q[0, 0, i, d].item() * k[0, 0, j, d].item() for d in range(5)) for j in seen]
            score = [s / math.sqrt(5) for s in dot]
            weight = [math.exp(s) / sum(map(math.exp, score)) for s in score]
            for d in range(5):
                expected = sum(w * v[0, 0, j, d].item() for w, j in zip(weight, seen, strict=True))
                assert out[0, 0, i, d].item() == pytest.approx(expected, abs=1e-6)


def test_gradients_agree() -> None:
    torch.manual_seed(0)
    shape = (2, 2, 4, 5, 8)
    mask = any_mask(2, 4, 5)
    gradients = []
    q, k, v = (x.requires_grad_() for x in qkv(shape))
    for tap in (None, Recorder()):
        loss = attend(q, k, v, mask, SITE, tap).square().sum()
        gradients.append(torch.autograd.grad(loss, (q, k, v)))
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("cross", [True, False])
def test_heads_are_those_of_torch(bias: bool, cross: bool) -> None:
    """Output and every head's pattern, against torch.nn.MultiheadAttention with the same weights."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(24, 4, SITE, qkv_bias=bias, output_bias=bias).eval()
    theirs = nn.MultiheadAttention(24, 4, bias=bias, batch_first=True).eval()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([m.weight for m in (ours.query, ours.key, ours.value)]))
        theirs.out_proj.weight.copy_(ours.output.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([m.bias for m in (ours.query, ours.key, ours.value)]))
            theirs.out_proj.bias.copy_(ours.output.bias)
    x = torch.randn(3, 5, 24)
    y = torch.randn(3, 7, 24) if cross else x
    hidden = torch.zeros(3, y.size(1), dtype=torch.bool)
    hidden[1, -2:] = True
    recorder = Recorder()
    with torch.no_grad():
        out = ours(x, ours.keys_values(y), ~hidden[:, None, None], recorder)
        expected, patterns = theirs(x, y, y, key_padding_mask=hidden, average_attn_weights=False)
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(recorder[SITE][0], patterns, atol=1e-5, rtol=1e-5)


def test_a_tap_sees_what_its_pattern_was_computed_from() -> None:
    torch.manual_seed(0)
    q, k, v = qkv((2, 3, 4, 5, 6))
    mask = any_mask(2, 4, 5)
    inputs, patterns = InputRecorder(), Recorder()
    attend(q, k, v, mask, SITE, inputs)
    out = attend(q, k, v, mask, SITE, patterns)
    seen = inputs[SITE]
    again = (seen.q @ seen.k.mT / math.sqrt(6)).masked_fill(~seen.mask, -torch.inf).softmax(-1)
    torch.testing.assert_close(again, patterns[SITE][0])
    torch.testing.assert_close(again @ seen.v, out)


def test_without_a_tap_no_pattern_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training passes no tap, so it must not pay for one; only few queries of many rows are sooner done with one."""

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("an explicit softmax ran")

    monkeypatch.setattr(torch, "softmax", fail)
    monkeypatch.setattr(Tensor, "softmax", fail)
    q, k, v = qkv((1, 2, 20, 3, 4))
    attend(q, k, v, any_mask(1, 20, 3), SITE)
    few = q[:, :, :2]
    attend(few, k, v, any_mask(1, 2, 3), SITE)
    many = [x.expand(9, -1, -1, -1) for x in (few, k, v)]
    attend(many[0].clone().requires_grad_(), *many[1:], any_mask(9, 2, 3), SITE)
    for rows, tap in (([q, k, v], Recorder()), (many, None)):
        with pytest.raises(AssertionError, match="softmax ran"):
            attend(*rows, any_mask(len(rows[0]), rows[0].size(2), 3), SITE, tap)


def test_keys_that_are_visible() -> None:
    ids = torch.tensor([[5, 6, 0], [0, 0, 0], [7, 0, 8]])
    expected = [[True, True, False], [True, False, False], [True, False, True]]
    assert visible_keys(ids, 0)[:, 0, 0].tolist() == expected
    assert ids.tolist() == [[5, 6, 0], [0, 0, 0], [7, 0, 8]]


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (4, 4), (1, 6), (3, 6)])
def test_no_key_is_later_than_its_query(queries: int, keys: int) -> None:
    mask = look_ahead_mask(queries, keys, torch.device("cpu"))
    for i in range(queries):
        for j in range(keys):
            assert mask[i, j].item() is (j <= keys - queries + i)

"""The gradients of a step against autograd over plain logits, and their rounding against the bits of 16-bit types."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from headlight.analysis.precision import LOSS_SCALE, gradients, rounding, spread
from transformer.batches import Batch
from transformer.model import Transformer


def test_the_gradients_are_those_of_the_mean_loss(model: Transformer) -> None:
    src, tgt = torch.tensor([[5, 6, 7, 2], [8, 9, 2, 0]]), torch.tensor([[1, 5, 6, 2], [1, 9, 2, 0]])
    values = gradients(model, Batch(src, tgt, model.config.pad_id))
    model.zero_grad()
    logits = model(src, tgt[:, :-1])
    cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=model.config.pad_id).backward()
    expected = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    model.zero_grad()
    assert values.norm().item() == pytest.approx(expected.norm().item(), rel=1e-4)
    assert values.abs().max().item() == pytest.approx(expected.abs().max().item(), rel=1e-4)
    assert 0 < len(values) <= len(expected) and bool((values != 0).all())


@pytest.mark.parametrize(
    ("scale", "dtype", "exponent_bits", "fraction_bits"),
    [(1.0, torch.float16, 5, 10), (LOSS_SCALE, torch.float16, 5, 10), (2.0**50, torch.bfloat16, 8, 7)],
)
def test_shares_follow_from_the_bits_of_the_type(
    scale: float, dtype: torch.dtype, exponent_bits: int, fraction_bits: int
) -> None:
    drawn = torch.randn(20_000, generator=torch.Generator().manual_seed(0)) * 20 - 20
    values = 2.0**drawn * scale
    exact = values.double().numpy()
    bias = 2 ** (exponent_bits - 1) - 1
    normal, step = 2.0 ** (1 - bias), 2.0 ** (1 - bias - fraction_bits)
    nothing = exact <= step / 2  # half of the smallest number rounds to the even one, which is 0
    infinite = exact >= 2.0**bias * (2 - 2.0 ** -(fraction_bits + 1))
    subnormal = ~nothing & (exact < normal - step / 2)
    shares = rounding(values, dtype)
    assert tuple(shares) == pytest.approx((nothing.mean(), subnormal.mean(), infinite.mean()), abs=1e-12)


def test_shares_between_powers_of_two() -> None:
    exponents, shares = spread(torch.tensor([1.0, 1.5, -1.99, 0.25]))
    assert exponents.tolist() == [-2, -1, 0]
    assert shares.tolist() == [0.25, 0.0, 0.75]
    logs = np.floor(np.log2(np.abs([1.0, 1.5, -1.99, 0.25])))
    assert [float((logs == e).mean()) for e in exponents] == shares.tolist()

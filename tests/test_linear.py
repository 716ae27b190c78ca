"""Joined linear maps compute what plain ones do, with the processor's private operators and without, copied or not."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.inference import linear
from transformer.inference.linear import PackedLinear, WeightSharingLinear, operators

TOLERANCE = {torch.float32: 1e-6, torch.bfloat16: 2e-2}


@pytest.fixture(params=["private", "plain"])
def without(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether this torch has no operators."""
    if request.param == "plain":
        monkeypatch.setattr(linear, "operators", lambda: None)
    elif operators() is None:
        pytest.skip("this torch has no oneDNN")
    return request.param == "plain"


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(6,), (1, 6), (4, 6), (3, 1, 6)])
@torch.no_grad()
def test_joined_maps_are_the_maps_side_by_side(
    without: bool, dtype: torch.dtype, bias: bool, shape: tuple[int, ...]
) -> None:
    torch.manual_seed(0)
    maps = [torch.nn.Linear(6, n, bias=bias).to(dtype) for n in (3, 5)]
    x, other = torch.randn(shape), torch.randn(*shape[:-1], 8)
    expected = torch.cat([m(x.to(dtype)) for m in maps], -1)
    joined = PackedLinear(*maps)
    assert without == (joined.operators is None) or dtype != torch.float32

    def same(one: Tensor, due: Tensor) -> None:
        assert one.shape == due.shape
        torch.testing.assert_close(one, due, atol=TOLERANCE[dtype], rtol=0.01)

    same(joined(x), expected)
    same(joined.relu(x), F.relu(expected))
    same(joined.plus(x, other), other + expected)
    assert joined.plus(x, other).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("outputs", [(3, 5), (7,)])
@torch.no_grad()
def test_weights_in_place_give_the_maps_side_by_side(
    without: bool, dtype: torch.dtype, outputs: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several parts, of which the last is shorter; in half precision as if the weights were float32."""
    monkeypatch.setattr(linear, "_NUMBERS_PER_PART", 13)
    torch.manual_seed(0)
    maps = [torch.nn.Linear(6, n) for n in outputs]
    for each in maps:
        each.weight.data = each.weight.data.to(dtype)
    x, other = torch.randn(3, 2, 6), torch.randn(3, 2, sum(outputs))
    expected = torch.cat([F.linear(x, each.weight.float(), each.bias) for each in maps], -1)
    shared = WeightSharingLinear(*maps)
    assert all(w.untyped_storage().data_ptr() in {m.weight.untyped_storage().data_ptr() for m in maps}
               for w, _ in shared.parts)  # fmt: skip
    near = 2e-2 if dtype != torch.float32 and not shared.converts else 1e-6
    for result, due in (
        (shared(x), expected),
        (shared.relu(x), F.relu(expected)),
        (shared.plus(x, other), other + expected),
    ):
        torch.testing.assert_close(result.float(), due, atol=near, rtol=near)


def test_a_torch_that_lacks_an_operator_computes_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    class Without:
        """Has one of them, and not the others."""

        def _reorder_linear_weight(self, weight: Tensor) -> Tensor:
            raise AssertionError("half of the private way was taken")

    monkeypatch.setattr(torch.ops, "mkldnn", Without())
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    operators.cache_clear()
    try:
        assert operators() is None
        one = torch.nn.Linear(6, 3)
        x = torch.randn(2, 6)
        torch.testing.assert_close(PackedLinear(one)(x), one(x))
    finally:
        monkeypatch.undo()
        operators.cache_clear()
    assert (operators() is not None) == torch.backends.mkldnn.is_available()  # this torch has them all

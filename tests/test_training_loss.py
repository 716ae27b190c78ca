"""The loss in slices beside PyTorch's own, which has all the logits at once."""

import pytest
import torch
from torch.nn import functional as F

from transformer.training import loss as sliced


def test_smoothing_of_the_wrong_tokens_alone_is_ours_with_a_larger_epsilon() -> None:
    """Some spread ε/(V - 1) over all tokens but the true one; the settings' help says what that is here."""
    torch.manual_seed(0)
    size, epsilon = 7, 0.1
    states, weight = torch.randn(5, 4), torch.randn(size, 4)
    targets = torch.randint(0, size, (5,))
    wanted = torch.full((5, size), epsilon / (size - 1)).scatter(1, targets[:, None], 1 - epsilon)
    theirs = -(wanted * (states @ weight.T).log_softmax(1)).sum()
    ours = sliced.cross_entropy(states, weight, None, targets, epsilon * size / (size - 1))
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("with_bias", [True, False])
def test_loss_and_gradients_are_those_of_all_logits_at_once(
    monkeypatch: pytest.MonkeyPatch, smoothing: float, with_bias: bool
) -> None:
    monkeypatch.setattr(sliced, "SLICE_LOGITS", 11 * 50)  # slices of 11 rows, the last one shorter
    torch.manual_seed(0)
    targets = torch.randint(50, (40,))
    bias = torch.randn(50) if with_bias else None
    inputs = [tensor for tensor in (torch.randn(40, 16), torch.randn(50, 16), bias) if tensor is not None]

    def gradients(loss) -> list[torch.Tensor]:
        leaves = [tensor.clone().requires_grad_() for tensor in inputs]
        value = loss(*leaves, *([] if with_bias else [None]))
        (3.0 * value).backward()
        return [value.detach(), *(leaf.grad for leaf in leaves)]

    ours = gradients(lambda x, w, b: sliced.cross_entropy(x, w, b, targets, smoothing))
    theirs = gradients(
        lambda x, w, b: F.cross_entropy(F.linear(x, w, b), targets, reduction="sum", label_smoothing=smoothing)
    )
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_in_bfloat16_it_is_as_near_as_the_whole_projection_is() -> None:
    torch.manual_seed(0)
    states, weight = torch.randn(64, 32), torch.randn(300, 32) * 0.2
    targets = torch.randint(300, (64,))
    exact = F.cross_entropy(states @ weight.T, targets, reduction="sum")
    with torch.autocast("cpu", torch.bfloat16):
        value = sliced.cross_entropy(states.requires_grad_(), weight, None, targets)
        value.backward()
    assert value.dtype == states.grad.dtype == torch.float32
    assert value.item() == pytest.approx(exact.item(), rel=2e-3)

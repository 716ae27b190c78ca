"""Output projection and cross-entropy in slices, so that the logits of a whole batch are never in memory at once.

The logits of 3,072 tokens over a vocabulary of 8,000 take a hundred megabytes, and each step of their gradient as much
again. A slice fits into a processor's cache; its logits, loss and gradient are computed before the next slice.

Shapes: N tokens, D = d_model, V words of the vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

SLICE_LOGITS = 2**22  # logits per slice, 16 MB in float32


def cross_entropy(
    states: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """Return the summed cross-entropy, in nats, of `states` [N, D] @ `weight` [V, D]ᵀ + `bias` [V] and `targets` [N].

    Matrix products use autocast's precision where it is enabled; everything else is float32. `label_smoothing` is the
    share ε of the target probability that is spread evenly over all V tokens (Szegedy et al. 2016, section 7). An
    implementation that gives ε / (V - 1) to each token but the true one is the same with ε * V / (V - 1) here.
    """
    loss: Tensor = _CrossEntropy.apply(states, weight, bias, targets, label_smoothing)
    return loss


class _CrossEntropy(torch.autograd.Function):
    """Computes the gradients during the forward pass, since no logits are stored for a backward pass."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, label_smoothing: float
    ) -> Tensor:
        device, V = states.device.type, len(weight)
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else states.dtype
        rows, columns = states.to(dtype), weight.to(dtype)
        needs_gradient = any(ctx.needs_input_grad)
        d_states, d_weight = torch.zeros_like(states), torch.zeros_like(weight)
        d_bias = None if bias is None else torch.zeros_like(bias)
        size = max(1, SLICE_LOGITS // V)
        loss = states.new_zeros((), dtype=torch.float32)
        with torch.autocast(device, enabled=False):
            for start in range(0, len(rows), size):
                part = slice(start, start + size)
                logits = (rows[part] @ columns.T).float()
                if bias is not None:
                    logits += bias
                log_probs, true = logits.log_softmax(1), targets[part, None]
                loss -= (1.0 - label_smoothing) * log_probs.gather(1, true).sum()
                if label_smoothing:
                    loss -= label_smoothing / V * log_probs.sum()
                if not needs_gradient:
                    continue
                gradient = log_probs.exp_()  # the model's probabilities minus the targets
                if label_smoothing:
                    gradient -= label_smoothing / V
                gradient.scatter_add_(1, true, gradient.new_full(true.shape, label_smoothing - 1.0))
                if d_bias is not None:
                    d_bias += gradient.sum(0)
                gradient = gradient.to(dtype)
                d_states[part] = gradient @ columns
                d_weight += gradient.T @ rows[part]
        ctx.save_for_backward(d_states, d_weight, d_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        grads = (None if grad is None else grad * outer[0] for grad in ctx.saved_tensors)
        return (*grads, None, None)

"""Exercise 17: the training loop, section 5 of "Attention Is All You Need".

Check it with `python -m headlight check training_loop.py`. With this one all parts are there: train your own
Transformer with `reverse.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
  https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
  https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html
"""

from collections.abc import Callable, Iterable

from torch import Tensor, nn
from torch.optim import Optimizer


def train(
    model: nn.Module,
    batches: Iterable[tuple[Tensor, Tensor]],
    optimizer: Optimizer,
    rate: Callable[[int], float],
    pad_id: int,
    clip: float,
) -> list[float]:
    """Take one step for each batch.

    model    model(source, target) gives logits, [B, T, V], for the next token after each token of the target
    batches  source [B, S] and target [B, T], which is [SOS], a sentence, [EOS], and padding
    rate     the learning rate of a step, which counts from 1; it goes to every group of `optimizer.param_groups`
    clip     the greatest norm of all gradients together

    1. Set the step's learning rate.
    2. The model reads all of the target but its last token; it should write all but its first.
    3. The loss is the mean cross-entropy over what should be written; what is pad_id does not count.
    4. From gradients of 0, go backward; clip the norm of the gradients; take the step.

    Returns the loss of each step.
    """
    raise NotImplementedError

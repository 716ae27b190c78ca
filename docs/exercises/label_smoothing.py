"""Exercise 14: cross-entropy with label smoothing (Szegedy et al. 2016), section 5.4 of "Attention Is All You Need".

Check it with `python -m headlight check label_smoothing.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html
  https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html
"""

from torch import Tensor


def label_smoothing(logits: Tensor, targets: Tensor, pad_id: int, smoothing: float) -> Tensor:
    """The right token gets the probability 1 - ε; the V - 1 others share ε equally.

    logits     [N, V]   for N tokens, before the softmax
    targets    [N]      the ids of the right tokens; where one is pad_id, there is nothing to learn
    smoothing  ε, such as 0.1

    Returns one number: the cross-entropy with these targets, in nats, averaged over the tokens that are not padding.
    """
    raise NotImplementedError

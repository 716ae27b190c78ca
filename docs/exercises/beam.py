"""Exercise 19: beam search with a length penalty (Wu et al. 2016, equation 14).

Check it with `python -m headlight check beam.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.topk.html
  The page Decoding, the tree: each step of a beam.
"""

from collections.abc import Callable

from torch import Tensor


def beam(
    next_log_probs: Callable[[list[int]], Tensor],
    sos_id: int,
    eos_id: int,
    size: int,
    max_length: int,
    alpha: float,
) -> list[int]:
    """Keep the `size` best hypotheses at each step.

    next_log_probs  the model: takes all ids so far, sos_id first, and gives the log-probabilities of the next, [V]
    max_length      the most ids of a hypothesis, eos_id included

    1. Continue each live hypothesis with each token; its log-probability is the sum over its tokens.
    2. Keep the `size` with the highest sums. One that ends in eos_id is finished: set it aside.
    3. Go on until none is live, or the live ones have max_length ids.
    4. Compare all that are finished, and those cut at max_length, by sum / ((5 + length) / 6) ** alpha,
       where length counts the written ids, eos_id included.

    Returns the ids of the best: without sos_id, and with eos_id where it was written.
    """
    raise NotImplementedError

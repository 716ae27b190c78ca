"""Exercise 18: greedy decoding.

Check it with `python -m headlight check greedy.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.argmax.html
"""

from collections.abc import Callable

from torch import Tensor


def greedy(next_log_probs: Callable[[list[int]], Tensor], sos_id: int, eos_id: int, max_length: int) -> list[int]:
    """Write the most probable token, read what there is by now, and go on.

    next_log_probs  the model: takes all ids so far, sos_id first, and gives the log-probabilities of the next, [V]
    max_length      the most ids to write, eos_id included

    Returns the ids that were written: without sos_id, and with eos_id where the model wrote it.
    """
    raise NotImplementedError

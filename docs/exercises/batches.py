"""Exercise 16: batches of sentences of different lengths, with padding.

Check it with `python -m headlight check batches.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html
"""

from torch import Tensor


def batches(
    pairs: list[tuple[list[int], list[int]]], size: int, sos_id: int, eos_id: int, pad_id: int
) -> list[tuple[Tensor, Tensor]]:
    """Put pairs of similar length together, so that little is padding.

    pairs  (source ids, target ids), without special tokens

    1. Sort the pairs by the length of their source, from short to long; pairs of equal length keep their order.
    2. A source is its ids and eos_id; a target is sos_id, its ids and eos_id.
    3. Take `size` pairs at a time; the last batch may be smaller.
    4. Pad the sources of a batch at their end with pad_id to the longest of them, and its targets likewise.

    Returns the batches in this order: (source [B, S], target [B, T]) each.
    """
    raise NotImplementedError

"""Exercise 13: what the decoder reads while it learns, and what it should write.

Check it with `python -m headlight check teacher_forcing.py`.

What helps:
  Slices: https://docs.python.org/3/tutorial/introduction.html#lists
"""

from torch import Tensor


def teacher_forcing(target: Tensor) -> tuple[Tensor, Tensor]:
    """After each token that the decoder reads, it should write the next one.

    target  [B, T]: [SOS], the sentence, [EOS], and padding

    Returns (reads, writes), each [B, T - 1].
    """
    raise NotImplementedError

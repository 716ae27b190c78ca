"""Exercise 3: the sinusoidal positional encoding, section 3.5 of "Attention Is All You Need".

Check it with `python -m headlight check positions.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.arange.html
  https://docs.pytorch.org/docs/stable/generated/torch.exp.html
"""

from torch import Tensor


def positions(length: int, d_model: int) -> Tensor:
    """PE(p, 2i) = sin(p / 10000^(2i / d_model)), PE(p, 2i + 1) = cos(the same)

    p counts from 0 up to length - 1, i from 0 up to d_model / 2 - 1; d_model is even.

    Returns [length, d_model]: a row for each position, sines and cosines in turn.
    """
    raise NotImplementedError

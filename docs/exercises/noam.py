"""Exercise 15: the learning rate of section 5.3 of "Attention Is All You Need", named after Noam Shazeer.

Check it with `python -m headlight check noam.py`.

What helps:
  Powers: https://docs.python.org/3/library/functions.html#pow
"""


def noam(step: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)

    step  counts from 1. The rate rises until step = warmup, and falls from there.
    """
    raise NotImplementedError

"""Exercise 4: what attention may look at. True is "may".

Check it with `python -m headlight check masks.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.tril.html
  https://docs.pytorch.org/docs/stable/generated/torch.Tensor.unsqueeze.html
"""

from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Nobody looks at padding.

    ids  [B, K], padded at the end with pad_id

    Returns bool [B, 1, 1, K], the same for every head and query: True at the tokens.
    """
    raise NotImplementedError


def look_ahead_mask(length: int) -> Tensor:
    """Nobody looks at what comes later.

    Returns bool [length, length], queries by keys: True where the key is the query's own or an earlier one.
    """
    raise NotImplementedError


def target_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Both at once, for the decoder's self-attention.

    ids  [B, T]

    Returns bool [B, 1, T, T].
    """
    raise NotImplementedError

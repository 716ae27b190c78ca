"""Exercise 1: scaled dot-product attention, equation 1 of "Attention Is All You Need".

Check it with `python -m headlight check attend.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.matmul.html
  https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html
  https://docs.pytorch.org/docs/stable/generated/torch.softmax.html
  The page Anatomy, an attention: each step with real numbers.
"""

from torch import Tensor


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(q kᵀ / √D) v

    q     [B, H, Q, D]   B sentences, H heads, Q queries of D numbers
    k     [B, H, K, D]   K keys; there may be more of them than queries
    v     [B, H, K, E]   a value for each key
    mask  broadcasts to [B, H, Q, K]: True where a query may look. None hides nothing.

    Returns [B, H, Q, E]: for each query the values, weighted. Its weights sum to 1 over the keys.
    """
    raise NotImplementedError

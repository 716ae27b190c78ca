"""Exercise 2: several heads at once, section 3.2.2 of "Attention Is All You Need".

Check it with `python -m headlight check multi_head.py`. Your `attend` of exercise 1 fits in:
write `from attend import attend` where both files lie in one folder, or copy it into this one.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html
  https://docs.pytorch.org/docs/stable/generated/torch.Tensor.transpose.html
  https://docs.pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html
"""

from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """Project; cut each vector into heads; attend; join the heads; project once more.

        queries  [B, Q, d_model]
        keys     [B, K, d_model]   of the same sentence, or of another: K may differ from Q
        values   [B, K, d_model]
        mask     broadcasts to [B, H, Q, K]: True where a query may look. None hides nothing.

        Returns [B, Q, d_model].

        To cut:  [B, Q, d_model] -> [B, Q, H, D] -> [B, H, Q, D], where D = d_model / H.
        To join: the same way back.
        """
        raise NotImplementedError

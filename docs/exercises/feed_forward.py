"""Exercise 6: the feed-forward network, section 3.3 of "Attention Is All You Need", without dropout.

Check it with `python -m headlight check feed_forward.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
  https://docs.pytorch.org/docs/stable/generated/torch.relu.html
"""

from torch import Tensor, nn


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """max(0, x W₁ + b₁) W₂ + b₂, for each token by itself

        x  [B, T, d_model]

        Returns [B, T, d_model].
        """
        raise NotImplementedError

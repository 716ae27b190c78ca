"""Exercise 8: an encoder layer, the left half of figure 1 of "Attention Is All You Need", without dropout.

Check it with `python -m headlight check encoder_layer.py`. The parts are given: only the way of the vectors through
them is yours.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html
  The page Anatomy, the map: what flows where.
"""

from torch import Tensor, nn


class EncoderLayer(nn.Module):
    def __init__(self, attention: nn.Module, feed_forward: nn.Module, norm_1: nn.Module, norm_2: nn.Module):
        super().__init__()
        self.attention = attention  # attention(queries, keys, values, mask)
        self.feed_forward = feed_forward  # feed_forward(x)
        self.norm_1 = norm_1  # norm_1(x)
        self.norm_2 = norm_2

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Self-attention, then the feed-forward network; around each: norm(x + sublayer(x)).

        x     [B, S, d_model]
        mask  [B, 1, 1, S]

        Returns [B, S, d_model].
        """
        raise NotImplementedError

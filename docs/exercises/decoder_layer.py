"""Exercise 9: a decoder layer, the right half of figure 1 of "Attention Is All You Need", without dropout.

Check it with `python -m headlight check decoder_layer.py`. The parts are given: only the way of the vectors through
them is yours.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html
  The page Anatomy, the map: what flows where.
"""

from torch import Tensor, nn


class DecoderLayer(nn.Module):
    def __init__(
        self,
        self_attention: nn.Module,
        cross_attention: nn.Module,
        feed_forward: nn.Module,
        norm_1: nn.Module,
        norm_2: nn.Module,
        norm_3: nn.Module,
    ):
        super().__init__()
        self.self_attention = self_attention  # each attention(queries, keys, values, mask)
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward  # feed_forward(x)
        self.norm_1 = norm_1  # norm_1(x)
        self.norm_2 = norm_2
        self.norm_3 = norm_3

    def forward(self, x: Tensor, memory: Tensor, target_mask: Tensor, source_mask: Tensor) -> Tensor:
        """Self-attention, cross-attention, then the feed-forward network; around each: norm(x + sublayer(x)).

        x            [B, T, d_model]   the target, as far as it is written
        memory       [B, S, d_model]   what the encoder gave
        target_mask  [B, 1, T, T]      hides later tokens and padding of the target
        source_mask  [B, 1, 1, S]      hides padding of the source

        Returns [B, T, d_model].
        """
        raise NotImplementedError

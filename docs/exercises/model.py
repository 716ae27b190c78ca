"""Exercise 12: the whole Transformer, figure 1 of "Attention Is All You Need".

Check it with `python -m headlight check model.py`. Encoder, decoder and output are given. Your masks of exercise 4 fit
in: write `from masks import padding_mask, target_mask` where both files lie in one folder, or copy them into this one.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
  The page Anatomy, the map: what flows where.
"""

from torch import Tensor, nn


class Transformer(nn.Module):
    def __init__(self, encoder: nn.Module, decoder: nn.Module, output: nn.Module, pad_id: int):
        super().__init__()
        self.encoder = encoder  # encoder(ids, mask)
        self.decoder = decoder  # decoder(ids, memory, target_mask, source_mask)
        self.output = output  # output(vectors), a linear layer: [B, T, d_model] -> [B, T, V]
        self.pad_id = pad_id

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Read the source, and what of the target is written; say of each token of it what comes next.

        source  [B, S], padded at the end with pad_id
        target  [B, T], which begins with [SOS], padded at the end with pad_id

        Returns logits, [B, T, V]: before the softmax, which is the loss's.
        """
        raise NotImplementedError

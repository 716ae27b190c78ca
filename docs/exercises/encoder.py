"""Exercise 10: the encoder, a stack of layers.

Check it with `python -m headlight check encoder.py`. The embedding and the layers are given: only the way through them
is yours.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
"""

from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, embedding: nn.Module, layers: list[nn.Module]):
        super().__init__()
        self.embedding = embedding  # embedding(ids)
        self.layers = nn.ModuleList(layers)  # each layer(x, mask)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Embed the ids; then each layer reads what the one before it gave.

        ids   [B, S]
        mask  [B, 1, 1, S]   hides padding

        Returns the memory, [B, S, d_model]: what the decoder looks at.
        """
        raise NotImplementedError

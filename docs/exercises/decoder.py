"""Exercise 11: the decoder, a stack of layers that read the encoder's memory.

Check it with `python -m headlight check decoder.py`. The embedding and the layers are given: only the way through them
is yours.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
"""

from torch import Tensor, nn


class Decoder(nn.Module):
    def __init__(self, embedding: nn.Module, layers: list[nn.Module]):
        super().__init__()
        self.embedding = embedding  # embedding(ids)
        self.layers = nn.ModuleList(layers)  # each layer(x, memory, target_mask, source_mask)

    def forward(self, ids: Tensor, memory: Tensor, target_mask: Tensor, source_mask: Tensor) -> Tensor:
        """Embed the ids; then each layer reads what the one before it gave, and all of them the memory.

        ids          [B, T]            the target, as far as it is written
        memory       [B, S, d_model]   what the encoder gave
        target_mask  [B, 1, T, T]      hides later tokens and padding of the target
        source_mask  [B, 1, 1, S]      hides padding of the source

        Returns [B, T, d_model].
        """
        raise NotImplementedError

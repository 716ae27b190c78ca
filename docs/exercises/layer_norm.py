"""Exercise 5: layer norm (Ba et al. 2016).

Check it with `python -m headlight check layer_norm.py`.

What helps:
  https://docs.pytorch.org/docs/stable/generated/torch.mean.html
  https://docs.pytorch.org/docs/stable/generated/torch.var.html
"""

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    def __init__(self, d_model: int):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = 1e-5

    def forward(self, x: Tensor) -> Tensor:
        """gain · (x - mean) / √(variance + ε) + bias

        x  [B, T, d_model]; mean and variance are of each token's own d_model numbers, and the variance is the mean
           squared deviation: divided by d_model, not by d_model - 1

        Returns [B, T, d_model].
        """
        raise NotImplementedError

"""Cross-attention for decoding one sentence, with its keys and values absorbed into the projections around them.

A head's scores (x Wq + bq) kᵀ equal x (Wq kᵀ) + bq kᵀ, and its output p v Wo equals p (v Wo). The products in brackets
are the same for every written token, so that each token needs two matrix products instead of four (DeepSeek-V2, 2024,
section 2.1.2, calls this weight absorption).

Shapes: N rows, which are all hypotheses of the sentence, H heads, S source tokens, D = d_head.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def is_foldable(k: Tensor) -> bool:
    """Return whether absorbing the keys [B, H, S, D] pays: for one sentence with S <= D, so that no matrix grows."""
    return len(k) == 1 and k.size(2) <= k.size(3)


class Folded:
    def __init__(self, query: nn.Linear, output: nn.Linear, k: Tensor, v: Tensor, scale: float | None):
        """Absorb `k` and `v` [1, H, S, D] into the projections `query` and `output`; `scale` defaults to 1 / √D."""
        self.shape = n_heads, _ = k.shape[1:3]
        k = k[0] * (1 / math.sqrt(k.size(-1)) if scale is None else scale)
        into = query.weight.float().unflatten(0, (n_heads, -1))  # [H, D, d_model]
        out_of = output.weight.float().unflatten(1, (n_heads, -1)).permute(1, 2, 0)  # [H, D, d_model]
        self.keys = (k @ into).flatten(0, 1).mT  # [d_model, H * S]
        self.values = (v[0] @ out_of).flatten(0, 1)  # [H * S, d_model]
        self.bias = k.new_zeros(())
        if query.bias is not None:
            self.bias = (k @ query.bias.float().view(n_heads, -1, 1)).flatten()  # [H * S]
        if output.bias is not None:
            self.values += output.bias / n_heads  # a head's weights sum to 1

    def __call__(self, x: Tensor, onto: Tensor) -> tuple[Tensor, Tensor]:
        """Return the pattern [N, H, 1, S] of `x` [N, 1, d_model], and the attention's output added to `onto`."""
        scores = torch.addmm(self.bias, x[:, 0], self.keys)
        pattern = scores.view(len(x), self.shape[0], 1, self.shape[1])
        torch.softmax(pattern, -1, out=pattern)
        return pattern, torch.addmm(onto[:, 0], scores, self.values)[:, None]

"""Scaled dot-product attention and its heads.

Shapes: B sentences, H heads, Q queries, K keys, D = d_head; H * D is d_model, except in T5.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.taps import Inputs, Site, Tap, among_all, only, with_pruned

# For few queries of many rows the explicit pattern is faster: over 16 keys and more it took 0.4 to 0.9 of the fused
# kernel's time in batches of 16 to 320 rows, and for 1 to 8 rows 0.9 to 2.1 times as long.
FEW, MANY = 16, 8


def _fused(q: Tensor) -> bool:
    """Whether the fused kernel is the faster way to the same result."""
    if not q.requires_grad:
        return q.size(2) > FEW or len(q) <= MANY
    # Its gradient in bfloat16 on a processor: 0.1 of the explicit one's speed over 10 keys, 0.3 over 128.
    return q.dtype != torch.bfloat16 or q.device.type != "cpu"


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    site: Site,
    tap: Tap | None = None,
    scale: float | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """softmax(q kᵀ / √d_head) v, equation 1 of "Attention Is All You Need": [B, H, Q, D].

    `mask` is True where a query may look, and leaves every query at least one key: over none, the softmax is
    not a number. None hides nothing. Without a tap the fused kernel runs, except where it is slower; with one the
    pattern is explicit, and the one that the tap returns is used.

    `scale` stands in the place of 1 / √d_head. `bias`, which broadcasts to [B, H, Q, K], is added to the scores
    before the softmax: that is where T5 has its positions (Raffel et al. 2020, section 2.1).
    """
    if tap is None and _fused(q):
        seen = bias if mask is None else mask if bias is None else torch.where(mask, bias, -torch.inf)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=scale)
    scores = (q @ k.mT).mul_(1 / math.sqrt(q.size(-1)) if scale is None else scale)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill_(~mask, -torch.inf)
    if scores.dtype == torch.float32 and not scores.requires_grad:
        pattern = torch.softmax(scores, -1, out=scores)  # in its place: long patterns cost what their memory costs
    else:
        pattern = scores.softmax(-1, dtype=torch.float32)  # as the fused kernels do, so half precision sums to 1 too
    if tap is not None:
        if mask is None:
            mask = torch.ones(1, 1, 1, k.size(2), dtype=torch.bool, device=k.device)
        pattern = tap(site, pattern, Inputs(q, k, v, mask))
    return pattern.to(v.dtype) @ v


class MultiHeadAttention(nn.Module):
    """Attention in `n_heads` subspaces at once, joined again by the output projection (section 3.2.2).

    `d_head` is d_model / n_heads if not given. `scale` stands in the place of 1 / √d_head, and
    `position_bias(queries, keys)` gives what is added to the scores, [1, H, Q, K]. Where heads were pruned, `kept` are
    the numbers of the others: the maps have those only, and everyone outside sees all H, of which the pruned give 0.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        site: Site,
        qkv_bias: bool = True,
        output_bias: bool = True,
        d_head: int | None = None,
        scale: float | None = None,
        position_bias: nn.Module | None = None,
        kept: tuple[int, ...] | None = None,
    ):
        super().__init__()
        self.n_heads = n_heads
        self.kept = tuple(range(n_heads)) if kept is None else kept
        self.d_head = d_model // n_heads if d_head is None else d_head
        width = len(self.kept) * self.d_head
        self.site = site
        self.scale = scale
        self.query = _linear(d_model, width, qkv_bias)
        self.key = _linear(d_model, width, qkv_bias)
        self.value = _linear(d_model, width, qkv_bias)
        self.output = _linear(width, d_model, output_bias)
        self.position_bias = position_bias

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (len(self.kept), self.d_head)).transpose(1, 2)  # [B, Q, H * D] -> [B, H, Q, D]

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What is looked at, [B, K, d_model], as keys and values, each [B, H, K, D], of the heads that are left."""
        return self._split(self.key(x)), self._split(self.value(x))

    def heads(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor, tap: Tap | None = None) -> Tensor:
        """What each head gives, [B, H, Q, D]. `x` [B, Q, d_model] looks; `mask` broadcasts to [B, H, Q, K]."""
        return among_all(self.kept, self.n_heads, self._look(x, keys_values, mask, tap))

    def _look(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor, tap: Tap | None) -> Tensor:
        k, v = keys_values
        bias = None if self.position_bias is None else only(self.kept, self.position_bias(x.size(1), k.size(2)))
        tap = with_pruned(tap, self.kept, self.n_heads)
        return attend(self._split(self.query(x)), k, v, mask, self.site, tap, self.scale, bias)

    def join(self, heads: Tensor) -> Tensor:
        """The heads side by side, through the output projection: [B, H, Q, D] -> [B, Q, d_model]."""
        return self._join(only(self.kept, heads))

    def _join(self, heads: Tensor) -> Tensor:
        return self.output(heads.transpose(1, 2).flatten(-2))

    def outputs_by_head(self) -> Tensor:
        """The output projection's own part for each head, [H, D, d_model]: 0 for one that is pruned."""
        left = self.output.weight.unflatten(1, (len(self.kept), self.d_head)).permute(1, 2, 0)
        return among_all(self.kept, self.n_heads, left[None])[0]

    def forward(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor, tap: Tap | None = None) -> Tensor:
        """`x` [B, Q, d_model] looks at `keys_values`; `mask` broadcasts to [B, H, Q, K]."""
        return self._join(self._look(x, keys_values, mask, tap))


def _linear(inputs: int, outputs: int, bias: bool) -> nn.Linear:
    """An ordinary map. One of no numbers, where all heads are pruned, is made from another: torch would warn of it."""
    made = nn.Linear(max(1, inputs), max(1, outputs), bias=bias)
    if not inputs or not outputs:
        made.in_features, made.out_features = inputs, outputs
        made.weight = nn.Parameter(made.weight.new_empty(outputs, inputs))
        if bias:
            made.bias = nn.Parameter(made.bias.new_zeros(outputs))
    return made

"""Scaled dot-product attention and its heads.

Shapes: B sentences, H heads, Q queries, K keys, D = d_head; H * D is d_model, except in T5.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.taps import Inputs, Site, Tap, expand_heads, select_heads, with_pruned

# The fused kernel is slower than explicit softmax(q kᵀ) v for at most MAX_EXPLICIT_QUERIES queries in more than
# MAX_FUSED_BATCH_SENTENCES sentences: over 16 or more keys the explicit way took 0.4 to 0.9 of its time in batches of
# 16 to 320, and 0.9 to 2.1 of it in batches of 1 to 8.
MAX_EXPLICIT_QUERIES, MAX_FUSED_BATCH_SENTENCES = 16, 8


def _prefers_fused_kernel(q: Tensor) -> bool:
    """Return whether the fused kernel is the faster way to the same result."""
    if not q.requires_grad:
        return q.size(2) > MAX_EXPLICIT_QUERIES or len(q) <= MAX_FUSED_BATCH_SENTENCES
    # On a CPU the fused kernel's bfloat16 gradient has 0.1 of the explicit one's speed over 10 keys, 0.3 over 128.
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
    dropout: float = 0.0,
) -> Tensor:
    """Return softmax(q kᵀ / √d_head) v, equation 1 of "Attention Is All You Need": [B, H, Q, D].

    `mask` is True where a query may attend; None masks nothing. It must leave every query at least one key, since the
    softmax over no key is NaN. Without a tap the fused kernel runs unless it is slower. With a tap the pattern is
    computed explicitly, and the pattern that the tap returns is multiplied with `v`.

    `scale` replaces 1 / √d_head. `bias`, which broadcasts to [B, H, Q, K], is added to the scores before the softmax;
    T5 encodes positions this way (Raffel et al. 2020, section 2.1). `dropout` is the share of the weights that are
    dropped, after the tap has seen them.
    """
    if tap is None and _prefers_fused_kernel(q):
        attn_mask = bias if mask is None else mask if bias is None else torch.where(mask, bias, -torch.inf)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, scale=scale, dropout_p=dropout)
    pattern = attention_weights(q, k, mask, scale, bias)
    if tap is not None:
        if mask is None:
            mask = torch.ones(1, 1, 1, k.size(2), dtype=torch.bool, device=k.device)
        pattern = tap(site, pattern, Inputs(q, k, v, mask, scale, bias))
    return F.dropout(pattern, dropout).to(v.dtype) @ v


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None, scale: float | None, bias: Tensor | None) -> Tensor:
    """Return softmax(q kᵀ / √d_head), the pattern of `attend`: [B, H, Q, K] in float32."""
    scores = (q @ k.mT).mul_(1 / math.sqrt(q.size(-1)) if scale is None else scale)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill_(~mask, -torch.inf)
    if scores.dtype == torch.float32 and not scores.requires_grad:
        return torch.softmax(scores, -1, out=scores)  # in place: allocating takes longer than computing
    return scores.softmax(-1, dtype=torch.float32)  # as fused kernels do: rows in half precision sum to 1


class Linear(nn.Linear):
    """A linear layer that computes in the type of its input, whatever type its weights are stored in."""

    def forward(self, x: Tensor) -> Tensor:
        if self.weight.dtype in (torch.float32, x.dtype):
            return F.linear(x, self.weight, self.bias)
        parts = self.weight.split(max(1, 2**20 // max(1, self.in_features)))  # 4 MB at a time stay in the cache
        y = torch.cat([F.linear(x, w.to(x.dtype)) for w in parts], -1)
        return y if self.bias is None else y + self.bias


class MultiHeadAttention(nn.Module):
    """Multi-head attention (section 3.2.2): attention in `n_heads` subspaces, concatenated and projected.

    `d_head` defaults to d_model / n_heads. `scale` replaces 1 / √d_head, and `position_bias(queries, keys)` returns a
    bias [1, H, Q, K] for the scores. In a pruned model `remaining` lists the heads that are left by their original
    numbers: the projections hold only those, while callers see all H heads, with zeros for the pruned ones.
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
        remaining: tuple[int, ...] | None = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.n_heads = n_heads
        self.remaining = tuple(range(n_heads)) if remaining is None else remaining
        self.d_head = d_model // n_heads if d_head is None else d_head
        width = len(self.remaining) * self.d_head
        self.site = site
        self.scale = scale
        self.query = _linear(d_model, width, qkv_bias)
        self.key = _linear(d_model, width, qkv_bias)
        self.value = _linear(d_model, width, qkv_bias)
        self.output = _linear(width, d_model, output_bias)
        self.position_bias = position_bias
        self.dropout = dropout

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (len(self.remaining), self.d_head)).transpose(1, 2)  # [B, Q, H * D] -> [B, H, Q, D]

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Project `x` [B, K, d_model] to the keys and the values of the remaining heads, each [B, H, K, D]."""
        return self._split(self.key(x)), self._split(self.value(x))

    def heads(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor, tap: Tap | None = None) -> Tensor:
        """Return each head's output [B, H, Q, D] for the queries of `x` [B, Q, d_model], before the output projection.

        `mask` broadcasts to [B, H, Q, K]. Pruned heads give 0.
        """
        return expand_heads(self.remaining, self.n_heads, self._attend(x, keys_values, mask, tap))

    def _attend(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor, tap: Tap | None) -> Tensor:
        (k, v), bias = keys_values, None
        if self.position_bias is not None:
            bias = select_heads(self.remaining, self.position_bias(x.size(1), k.size(2)).to(k.dtype))
        tap = with_pruned(tap, self.remaining, self.n_heads)
        dropout = self.dropout if self.training else 0.0
        return attend(self._split(self.query(x)), k, v, mask, self.site, tap, self.scale, bias, dropout)

    def join(self, heads: Tensor) -> Tensor:
        """Concatenate the heads and apply the output projection: [B, H, Q, D] -> [B, Q, d_model]."""
        return self._join(select_heads(self.remaining, heads))

    def _join(self, heads: Tensor) -> Tensor:
        return self.output(heads.transpose(1, 2).flatten(-2))

    def outputs_by_head(self) -> Tensor:
        """Return the slice of the output projection that each head uses, [H, D, d_model]; 0 for a pruned head."""
        by_head = self.output.weight.unflatten(1, (len(self.remaining), self.d_head)).permute(1, 2, 0)
        return expand_heads(self.remaining, self.n_heads, by_head[None])[0]

    def forward(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor, tap: Tap | None = None) -> Tensor:
        """Attend from `x` [B, Q, d_model] to `keys_values`: [B, Q, d_model]. `mask` broadcasts to [B, H, Q, K]."""
        return self._join(self._attend(x, keys_values, mask, tap))


def _linear(inputs: int, outputs: int, bias: bool) -> Linear:
    """Return Linear(inputs, outputs), either of which may be 0.

    nn.Linear warns about zero-sized weights, which occur when every head is pruned: such a layer is built with a
    size of 1, and its weights are replaced.
    """
    linear = Linear(max(1, inputs), max(1, outputs), bias=bias)
    if not inputs or not outputs:
        linear.in_features, linear.out_features = inputs, outputs
        linear.weight = nn.Parameter(linear.weight.new_empty(outputs, inputs))
        if bias:
            linear.bias = nn.Parameter(linear.bias.new_zeros(outputs))
    return linear

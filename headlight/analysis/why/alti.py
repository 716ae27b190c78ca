"""Where each written token came from: the share of every source token and of every token written before.

ALTI+ of Ferrando et al. 2022, "Towards Opening the Black Box of Neural Machine Translation: Source and Target
Interpretations of the Transformer". What leaves an attention block is a sum of one vector for each token that it looks
at, its own way around the block included, and a constant; a token's share is how much nearer its vector brings the
sum (Ferrando, Gállego and Costa-jussà 2022, "Measuring the Mixing of Contextual Information in the Transformer"). The
shares are multiplied from layer to layer. Feed-forward networks and norms treat each token by itself and move none.

Shapes: S source tokens, T target tokens that are read, N of them in one stack, K tokens that are looked at, H heads,
D = d_head, M = d_model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from headlight.analysis.passes import slices
from headlight.analysis.sites import attention_at
from headlight.analysis.stream import CROSS, SELF, Stream, layer_blocks, stream
from transformer.model import Transformer
from transformer.taps import InputRecorder, Recorder, Site, chain
from transformer.yielding import yield_turn


class Contributions(NamedTuple):
    """The shares behind each step, that is behind the token written after `target[step]`.

    A row of `source` and the row of `prefix` beside it sum to 1, and no share is negative.
    """

    source: np.ndarray  # [T, S]
    prefix: np.ndarray  # [T, T], causal where the model is


class TakenApart(NamedTuple):
    """The output of an attention block at some of its queries, in float64: `parts` summed over K, plus `around`, plus
    `bias`, is `whole`.
    """

    queries: slice  # N of them
    parts: Tensor  # [N, K, M], what each token that is looked at gives
    around: Tensor  # [N, M], the residual path
    bias: Tensor  # [M] or [N, M], what belongs to no token
    whole: Tensor  # [N, M], as the model computed it


class AttentionPass(NamedTuple):
    """The attentions of one pass: what they looked at, and how much."""

    patterns: dict[Site, Tensor]  # [H, N, K]
    values: dict[Site, Tensor]  # [H, K, D]


@torch.no_grad()
def heads_of(passed: Stream) -> AttentionPass:
    """Return the patterns and values of a pass, by another pass that records them."""
    patterns, inputs = Recorder(), InputRecorder()
    yield_turn()
    passed.model(passed.source[None], passed.target[None], chain(patterns, inputs))
    return AttentionPass(
        {site: recorded[0][0] for site, recorded in patterns.items()}, {site: at.v[0] for site, at in inputs.items()}
    )


def projected(model: Transformer, site: Site, values: Tensor) -> Tensor:
    """Return each head's values [H, K, D] through its own part of the output projection: [H, K, M], float64."""
    return values.double() @ attention_at(model, site).outputs_by_head().double()


def taken_apart(passed: Stream, heads: AttentionPass, site: Site) -> Iterator[TakenApart]:
    """Yield an attention block with its residual path and its norm as the sum of what each token gives, a few queries
    at a time, since all [N, K, M] at once would take gigabytes.

    Where the norm stands after the block, its scale is held at the value that it had.
    """
    attention, model = attention_at(passed.model, site), passed.model
    block = layer_blocks(passed, site.stack, site.layer)[site.kind]
    residual = passed.residuals(site.stack, site.layer)[site.kind][0]
    moved = projected(model, site, heads.values[site])
    own = attention.output.bias
    row_bytes = 8 * moved[0].numel() * 6  # the parts of a query, and what is computed from them
    for queries in slices(len(block.before), row_bytes):
        parts = torch.einsum("hnk,hkm->nkm", heads.patterns[site][:, queries].double(), moved)
        around, after = residual.around(block.before[queries]).double(), block.after[queries].double()
        bias = around.new_zeros(around.size(-1)) if own is None else own.double()
        if not residual.norm_first:
            norm = frozen(residual.norm, around + block.given[queries].double())
            parts, around = norm.linear(parts), norm.linear(around)
            bias = norm.linear(bias.expand_as(around)) + norm.bias
        yield TakenApart(queries, parts, around, bias, after)


def shares(parts: Tensor, total: Tensor) -> Tensor:
    """Return how much nearer each of the parts [N, K, M] brings the rest to the whole [N, M]: [N, K], rows that sum to
    1.

    max(0, |y| - |y - part|) over its sum, in the 1-norm (equations 6 and 7 of Ferrando, Gállego and Costa-jussà). A
    row of which no part brings anything nearer is 0.
    """
    away = (total[:, None] - parts).abs().sum(-1)
    nearer = (total.abs().sum(-1, keepdim=True) - away).clamp(min=0)
    return nearer / nearer.sum(-1, keepdim=True).clamp(min=torch.finfo(nearer.dtype).tiny)


def contributions(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Contributions:
    """Return the shares of the source and of what was written before behind each token of `target`, by ALTI+.

    `source` are ids up to [EOS], `target` from [SOS] to [EOS]; its last token is written and never read, so T is one
    less than its length.
    """
    passed = stream(model, source, target)
    return contributions_of(passed, heads_of(passed))


@torch.no_grad()
def contributions_of(passed: Stream, heads: AttentionPass) -> Contributions:
    """Return `contributions` for a recorded pass."""
    config, memory = passed.model.config, torch.eye(len(passed.source), dtype=torch.float64)
    for layer in range(config.encoder.n_layers):
        memory = _own_shares(passed, heads, Site("encoder", layer, SELF)) @ memory
    prefix = torch.eye(len(passed.target), dtype=torch.float64)
    from_source = torch.zeros(len(passed.target), len(passed.source), dtype=torch.float64)
    for layer in range(config.decoder.n_layers):
        own = _own_shares(passed, heads, Site("decoder", layer, SELF))
        looked_at = torch.cat(
            [
                shares(torch.cat([apart.parts, apart.around[:, None]], 1), apart.whole).cpu()
                for apart in taken_apart(passed, heads, Site("decoder", layer, CROSS))
            ]
        )
        around = 1.0 - looked_at[:, :-1].sum(-1, keepdim=True)
        prefix, from_source = around * (own @ prefix), around * (own @ from_source) + looked_at[:, :-1] @ memory
    return Contributions(from_source.numpy(), prefix.numpy())


def _own_shares(passed: Stream, heads: AttentionPass, site: Site) -> Tensor:
    """Return the shares of a self-attention block, where the residual path belongs to the token itself: [N, N]."""
    rows = []
    for apart in taken_apart(passed, heads, site):
        query = torch.arange(len(apart.whole))
        token = query + apart.queries.start
        apart.parts[query, token] += apart.around
        mixed = shares(apart.parts, apart.whole).cpu()
        mixed[query, token] += 1.0 - mixed.sum(-1)  # where nothing brings it nearer, the token stays itself
        rows.append(mixed)
    return torch.cat(rows)


class FrozenNorm(NamedTuple):
    """A norm as a linear map: norm(x) = `linear`(x) + `bias` for the vectors `x` [N, M] that it was frozen at.

    Layer norm subtracts the mean, which is linear, and divides by the standard deviation, which is not: here it is
    a constant. So the images of the parts of a sum add up to the image of the sum.
    """

    scale: Tensor  # [N, M], the gain over the deviation (the root mean square, in T5's norm)
    centres: bool
    bias: Tensor  # [M]

    def linear(self, parts: Tensor) -> Tensor:
        """Apply the frozen norm to parts [N, ..., M] of the N vectors."""
        if self.centres:
            parts = parts - parts.mean(-1, keepdim=True)
        return parts * self.scale.view(len(self.scale), *[1] * (parts.ndim - 2), -1)


def frozen(norm: nn.Module, x: Tensor) -> FrozenNorm:
    """Return `norm` frozen at each row of `x` [N, M]; nn.Identity, for a model without a norm, changes nothing."""
    if isinstance(norm, nn.Identity):
        return FrozenNorm(torch.ones_like(x), False, x.new_zeros(x.size(-1)))
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    centres = isinstance(norm, nn.LayerNorm)
    centred = x - x.mean(-1, keepdim=True) if centres else x
    deviation = (centred.square().mean(-1, keepdim=True) + (norm.eps or 0.0)).sqrt()
    bias = norm.bias.to(x.dtype) if isinstance(norm, nn.LayerNorm) else x.new_zeros(x.size(-1))
    return FrozenNorm(norm.weight.to(x.dtype) / deviation, centres, bias)

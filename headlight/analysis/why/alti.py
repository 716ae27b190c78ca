"""Where each written token came from: the share of every source token and of every token written before.

ALTI+ of Ferrando et al. 2022, "Towards Opening the Black Box of Neural Machine Translation: Source and Target
Interpretations of the Transformer". The output of an attention block with its residual connection is the sum of a
vector for each token that it looks at and a constant; a token's share is how much nearer its vector brings the rest to
the sum (Ferrando, Gállego and Costa-jussà 2022, "Measuring the Mixing of Contextual Information in the Transformer").
The shares are multiplied from layer to layer. Feed-forward networks and norms act on each token separately, so they
move nothing between tokens.

Shapes: S source tokens, T target tokens that are read, N of them in one stack, K tokens that are looked at, H heads,
D = d_head, M = d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from headlight.analysis.passes import bounded_slices
from headlight.analysis.sites import attention_at
from headlight.analysis.stream import CROSS, SELF, Stream, layer_blocks, stream
from transformer.model import Transformer
from transformer.taps import InputRecorder, Inputs, Recorder, Site, Tap, chain
from transformer.yielding import yield_turn


class Contributions(NamedTuple):
    """The shares of earlier tokens in each step, that is in the token written after `target[step]`.

    A row of `source` and the row of `prefix` beside it sum to 1, and no share is negative.
    """

    source: np.ndarray  # [T, S]
    prefix: np.ndarray  # [T, T], causal where the model is


class LayerContributions(NamedTuple):
    """The shares in an attention block's output at each token: of every head and key, and of the residual path.

    All shares of a token sum to 1, and none is negative.
    """

    heads: np.ndarray  # [H, N, K]
    around: np.ndarray  # [N]


class AttentionSum(NamedTuple):
    """The output of an attention block at some of its queries, in float64: `parts` summed over K, plus `around`, plus
    `bias`, is `whole`.
    """

    queries: slice  # N of them
    by_head: Callable[[int], Tensor]  # a head's [N, K, M]; all heads sum to `parts`
    parts: Tensor  # [N, K, M], the contribution of each token that is looked at
    around: Tensor  # [N, M], the residual path
    bias: Tensor  # [M] or [N, M], which belongs to no token
    whole: Tensor  # [N, M], as the model computed it


class AttentionPass(NamedTuple):
    """The patterns of all attentions in one pass."""

    patterns: dict[Site, Tensor]  # [H, N, K]
    inputs: dict[Site, Inputs]  # from which the patterns were computed, before any intervention


@torch.no_grad()
def heads_of(passed: Stream) -> AttentionPass:
    """Return the attention patterns of a pass and their inputs; the pass is run once more to record them."""
    patterns, inputs = Recorder(), InputRecorder()
    yield_turn()
    passed.model(passed.source[None], passed.target[None], chain(passed.tap, patterns, inputs))
    return AttentionPass({site: recorded[0][0] for site, recorded in patterns.items()}, inputs)


def attention_sums(passed: Stream, heads: AttentionPass, site: Site) -> Iterator[AttentionSum]:
    """Yield an attention block, with its residual path and its norm, as a sum over tokens, a few queries at a time:
    all [N, K, M] at once would take gigabytes.

    In post-norm, the scale of the norm is frozen at its value in this pass.
    """
    attention = attention_at(passed.model, site)
    block = layer_blocks(passed, site.stack, site.layer)[site.kind]
    residual = passed.residuals(site.stack, site.layer)[site.kind][0]
    moved = heads.inputs[site].v[0].double() @ attention.outputs_by_head().double()  # [H, K, M]
    own = attention.output.bias
    row_bytes = 8 * moved[0].numel() * 7  # the parts of a query, and what is computed from them
    for queries in bounded_slices(len(block.before), row_bytes):
        weights = heads.patterns[site][:, queries].double()
        parts = torch.einsum("hnk,hkm->nkm", weights, moved)
        around, after = residual.shortcut(block.before[queries]).double(), block.after[queries].double()
        bias = around.new_zeros(around.size(-1)) if own is None else own.double()
        norm = None
        if not residual.norm_first:
            norm = frozen(residual.norm, around + block.output[queries].double())
            parts, around = norm.linear(parts), norm.linear(around)
            bias = norm.linear(bias.expand_as(around)) + norm.bias

        def by_head(head: int, weights: Tensor = weights, norm: FrozenNorm | None = norm) -> Tensor:
            output = weights[head][..., None] * moved[head]
            return output if norm is None else norm.linear(output)

        yield AttentionSum(queries, by_head, parts, around, bias, after)


def shares(parts: Tensor, total: Tensor) -> Tensor:
    """Return the share of each of the parts [N, K, M] in the whole [N, M]: [N, K], with rows that sum to 1.

    A share is max(0, |y| - |y - part|) in the 1-norm, where y is the whole, divided by the sum of its row (equations 6
    and 7 of Ferrando, Gállego and Costa-jussà). A row without a positive share is 0.
    """
    nearer = _nearer(parts, total[:, None])
    return nearer / nearer.sum(-1, keepdim=True).clamp(min=torch.finfo(nearer.dtype).tiny)


def contributions(
    model: Transformer, source: Sequence[int], target: Sequence[int], tap: Tap | None = None
) -> Contributions:
    """Return the shares of the source tokens and of the tokens written before in each token of `target`, by ALTI+.

    `source` are ids up to [EOS], `target` from [SOS] to [EOS]; its last token is written and never read, so T is one
    less than its length. `tap` intervenes in the pass that is taken apart, so that the shares are those of the model
    with the intervention; raises ValueError for a head that the model lacks.
    """
    passed = stream(model, source, target, tap)
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
        looked_at = _block_shares(passed, heads, Site("decoder", layer, CROSS))
        around = 1.0 - looked_at.sum(-1, keepdim=True)
        prefix, from_source = around * (own @ prefix), around * (own @ from_source) + looked_at @ memory
    return Contributions(from_source.numpy(), prefix.numpy())


@torch.no_grad()
def layer_contributions(
    model: Transformer, source: Sequence[int], target: Sequence[int], site: Site, tap: Tap | None = None
) -> LayerContributions:
    """Return the shares of each head of one attention block, by ALTI+.

    Summed over the heads, and with `around` on the diagonal of self-attention, they are the shares of the tokens that
    `contributions` multiplies. A token's share is divided among the heads as the block's output is among the tokens: by
    how much nearer each head's vector brings the rest to the token's sum. Ferrando et al. 2022 define the shares of
    tokens; dividing them among heads is our extension. The other arguments and errors are those of `contributions`;
    raises ValueError for a site that does not exist.
    """
    attention_at(model, site)
    passed = stream(model, source, target, tap)
    by_head, around = _head_shares(passed, heads_of(passed), site)
    return LayerContributions(by_head.numpy(), around.numpy())


@torch.no_grad()
def head_contributions(
    model: Transformer, source: Sequence[int], target: Sequence[int], tap: Tap | None = None
) -> np.ndarray:
    """Return the share of each step that comes from the source through each head of cross-attention: [T, L, H].

    A head's shares in its layer (`layer_contributions`) are multiplied through the layers after it. Summed over all
    heads, they equal the share of the whole source in `contributions`. The arguments and errors are those of
    `contributions`.
    """
    passed = stream(model, source, target, tap)
    heads, config = heads_of(passed), model.config.decoder
    through = torch.zeros(len(passed.target), config.n_layers, config.n_heads, dtype=torch.float64)
    for layer in range(config.n_layers):
        own = _own_shares(passed, heads, Site("decoder", layer, SELF))
        by_head, around = _head_shares(passed, heads, Site("decoder", layer, CROSS))
        through = around[:, None, None] * torch.einsum("nt,tlh->nlh", own, through)
        through[:, layer] += by_head.sum(-1).T
    return through.numpy()


def _own_shares(passed: Stream, heads: AttentionPass, site: Site) -> Tensor:
    """Return the shares of a self-attention block, where the residual path belongs to the token itself: [N, N]."""
    mixed = _block_shares(passed, heads, site)
    return mixed + torch.diag(1.0 - mixed.sum(-1))  # a row without a positive share belongs to its own token


def _block_shares(passed: Stream, heads: AttentionPass, site: Site) -> Tensor:
    """Return the shares of the tokens that a block looks at, [N, K]; in self-attention with the residual path of the
    token itself, in cross-attention without.
    """
    return torch.cat([_token_shares(block, site)[0].cpu() for block in attention_sums(passed, heads, site)])


def _token_shares(block: AttentionSum, site: Site) -> tuple[Tensor, Tensor]:
    """Return the shares of the tokens [N, K], and the part of each [N, K, M]; see `_block_shares`."""
    if site.kind == CROSS:
        return shares(torch.cat([block.parts, block.around[:, None]], 1), block.whole)[:, :-1], block.parts
    query = torch.arange(len(block.whole))
    block.parts[query, query + block.queries.start] += block.around
    return shares(block.parts, block.whole), block.parts


def _head_shares(passed: Stream, heads: AttentionPass, site: Site) -> tuple[Tensor, Tensor]:
    """Return the shares of each head [H, N, K], and those of the residual path [N]."""
    count, by_query = attention_at(passed.model, site).n_heads, []
    for block in attention_sums(passed, heads, site):
        mixed, parts = _token_shares(block, site)
        nearer, lengths = [], []
        for head in range(count):
            output = block.by_head(head)
            nearer.append(_nearer(output, parts))
            lengths.append(output.abs().sum(-1))
        if site.kind == SELF:  # the residual path is one more part of the token's own vector
            query = torch.arange(len(mixed))
            token, own = query + block.queries.start, parts.new_zeros(2, *mixed.shape)
            own[0, query, token] = _nearer(block.around, parts[query, token])
            own[1, query, token] = block.around.abs().sum(-1)
            nearer.append(own[0])
            lengths.append(own[1])
        towards, size = torch.stack(nearer), torch.stack(lengths)
        towards = torch.where(towards.sum(0) > 0, towards, size)  # divide by length where no part brings the sum nearer
        by_query.append((mixed * towards / towards.sum(0).clamp(min=torch.finfo(mixed.dtype).tiny))[:count].cpu())
    by_head = torch.cat(by_query, 1)
    return by_head, 1.0 - by_head.sum((0, -1))


def _nearer(part: Tensor, whole: Tensor) -> Tensor:
    """Return how much nearer a part brings the rest to the whole [..., M], in the 1-norm: [...], at least 0."""
    return (whole.abs().sum(-1) - (whole - part).abs().sum(-1)).clamp(min=0)


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

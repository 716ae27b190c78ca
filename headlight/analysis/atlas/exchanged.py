"""Position against content: measure how much of a head's pattern remains when the tokens of a sentence are shuffled.

The patterns before and after are compared twice: position by position, where only the tokens differ, and token by
token, where only the positions differ. Special tokens stay where they are.

Shapes: B sentences, H heads, Q queries, K keys, N tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.atlas.batch import MeasuredBatch
from headlight.analysis.measures import Context
from headlight.analysis.sites import kind_of
from transformer.model import Transformer
from transformer.taps import Recorder, Site
from transformer.yielding import yield_turn


@torch.no_grad()
def exchanged(model: Transformer, batch: MeasuredBatch) -> Iterator[tuple[Site, str, Tensor]]:
    """Yield for every attention how much of its rows remains when the tokens change ("positional") and when the
    positions change ("content"): [B, H] each.

    The overlap of two rows is Σ_j min(p_j, p'_j): 1 where they are equal, 0 where they have no key in common. Only keys
    that both rows may see count, and rows with fewer than two such keys are left out. The result is NaN where all rows
    are left out, and in a sentence in which only one token may move. The source is shuffled for the encoder and for
    cross-attention, whose decoder reads the true target; the target is shuffled for the decoder.
    """
    plain = _patterns(model, batch.src, batch.tgt[:, :-1])
    contexts = batch.contexts
    source, target = (_shuffles(contexts[kind], batch.indices).to(batch.src.device) for kind in ("encoder", "decoder"))
    of_source = _patterns(model, batch.src.gather(1, source), batch.tgt[:, :-1])
    of_target = _patterns(model, batch.src, batch.tgt[:, :-1].gather(1, target))
    unmoved = torch.arange(target.size(1), device=target.device).expand_as(target)
    for site, pattern in plain.items():
        kind = kind_of(site)
        shuffled = (of_target if kind == "decoder" else of_source)[site]
        keys = target if kind == "decoder" else source
        queries = unmoved if kind == "cross" else keys
        visible, moved = contexts[kind].visible, (keys != torch.arange(keys.size(1), device=keys.device)).any(1)
        followed = _followed(shuffled, queries, keys), _followed(visible[:, None], queries, keys)[:, 0]
        for name, other in (("positional", (shuffled, visible)), ("content", followed)):
            yield site, name, torch.where(moved[:, None], _overlap(pattern, visible, *other), torch.nan)


def _patterns(model: Transformer, src: Tensor, tgt: Tensor) -> dict[Site, Tensor]:
    """Return the patterns of a pass, [B, H, Q, K] each."""
    recorder = Recorder()
    yield_turn()
    model(src, tgt, recorder)
    return {site: patterns[0] for site, patterns in recorder.items()}


def _shuffles(context: Context, indices: np.ndarray) -> Tensor:
    """Return a permutation of each sentence's positions [B, N], drawn with the sentence's index as the seed.

    Entry n is the old position of the token now at n. Every token that may move does, unless there is only one;
    special tokens and padding stay.
    """
    n_keys = context.special.size(1)
    is_token = context.visible.any(1).cpu()  # [B, K], no padding
    shuffles = torch.arange(n_keys).repeat(len(is_token), 1)
    for row, movable, index in zip(shuffles, is_token & ~context.special.bool().cpu(), indices, strict=True):
        places, draw = movable.nonzero()[:, 0].numpy(), np.random.default_rng(int(index))
        moved = places
        while len(places) > 1 and (moved == places).any():
            moved = draw.permutation(places)
        row[places] = torch.from_numpy(moved)
    return shuffles


def _followed(shuffled: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Return the pattern [B, H, Q, K] of a shuffled sentence with its rows and columns in the tokens' old order.

    `queries` [B, Q] and `keys` [B, K] are what `_shuffles` returns.
    """
    rows, columns = queries.argsort(1), keys.argsort(1)  # the new position of each token
    by_row = shuffled.gather(2, rows[:, None, :, None].expand(-1, shuffled.size(1), -1, shuffled.size(3)))
    return by_row.gather(3, columns[:, None, None, :].expand_as(by_row))


def _overlap(own: Tensor, own_visible: Tensor, other: Tensor, other_visible: Tensor) -> Tensor:
    """Return the mean overlap of the rows of two patterns [B, H, Q, K], over keys visible [B, Q, K] in both: [B, H]."""
    both = (own_visible & other_visible)[:, None]
    own, other = own * both, other * both
    totals = own.sum(-1), other.sum(-1)
    counted = (both.sum(-1) > 1) & (totals[0] > 0) & (totals[1] > 0)
    shares = torch.minimum(own / totals[0][..., None], other / totals[1][..., None]).sum(-1)
    return torch.where(counted, shares, 0.0).sum(-1) / counted.sum(-1)

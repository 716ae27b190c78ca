"""Compute the loss of each target of a batch, with all heads and with each head switched off.

Shapes: B sentences, T target tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from headlight.analysis.passes import log_probs_of
from headlight.analysis.sites import all_heads
from transformer.model import Transformer
from transformer.taps import Ablate, Site, Tap
from transformer.yielding import yield_turn


def losses(model: Transformer, src: Tensor, tgt: Tensor, tap: Tap | None = None) -> Tensor:
    """Return the mean cross-entropy of each target's tokens, in nats: [B] float64."""
    yield_turn()
    return _of(model, model.decode(tgt[:, :-1], model.encode(src, tap), src, tap=tap), tgt)


def _of(model: Transformer, states: Tensor, tgt: Tensor) -> Tensor:
    """Return the losses from the decoder's last states [B, T, d_model]."""
    written, pad_id = tgt[:, 1:], model.config.pad_id
    nats = -log_probs_of(model, states, written)
    # The id of padding may also be that of a token, so padding is found by its place after the end.
    counts = _tokens(tgt, pad_id)
    steps = torch.arange(written.size(1), device=tgt.device)
    return (nats * (steps < counts[:, None])).sum(-1) / counts


def _tokens(tgt: Tensor, pad_id: int) -> Tensor:
    """Return the number of target tokens in each row, without the padding at its end: [B]."""
    written = (tgt[:, 1:] != pad_id).flip(-1)
    return written.size(1) - written.int().argmax(-1)


def without_each(model: Transformer, src: Tensor, tgt: Tensor) -> Iterator[tuple[Site, int, Tensor]]:
    """Yield the losses with each head switched off alone; the source is encoded again only for heads of the encoder."""
    yield_turn()
    memory = model.encode(src)
    for site, head in all_heads(model):
        yield_turn()
        off = Ablate(site, head)
        read = model.encode(src, off) if site.stack == "encoder" else memory
        states = model.decode(tgt[:, :-1], read, src, tap=off if site.stack == "decoder" else None)
        yield site, head, _of(model, states, tgt)

"""Measure how much less probable one translation is without each head, with all others unchanged.

Shapes: B rows, one for each head that is switched off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from headlight.analysis.passes import in_passes, rows_per_pass, written_log_probs
from headlight.analysis.sites import all_heads
from transformer.model import Transformer
from transformer.taps import Inputs, Site, Tap, chain, is_ablation


class HeadEffect(NamedTuple):
    """The effect of switching off one head: `delta` is the change of the target's log-probability, in nats."""

    site: Site
    head: int
    delta: float


@dataclass(frozen=True)
class AblateByRow:
    """A tap that switches off a different head in each row of the batch; None leaves the row unchanged."""

    heads: tuple[tuple[Site, int] | None, ...]

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        here = [(row, off[1]) for row, off in enumerate(self.heads) if off is not None and off[0] == site]
        if not here:
            return pattern
        rows, heads = zip(*here, strict=True)
        changed = pattern.clone()
        changed[list(rows), list(heads)] = 0
        return changed


def head_importance(
    model: Transformer,
    src_ids: Sequence[int],
    tgt_ids: Sequence[int],
    interventions: Sequence[Tap] = (),
) -> list[HeadEffect]:
    """Switch off each head alone and return the effects on the target, the most harmful first.

    The baseline is the model with `interventions`, since a head's effect depends on which other heads can do its work.
    Heads that the interventions switch off are left out. `tgt_ids` runs from [SOS] to [EOS]. Each head is a row of a
    batch, and a further row has the interventions alone.
    """
    assert not model.training, "dropout would drown the differences"
    gone = {(intervention.site, intervention.head) for intervention in interventions if is_ablation(intervention)}
    heads = [head for head in all_heads(model) if head not in gone]
    before = chain(*interventions)
    size = rows_per_pass(model, len(src_ids), len(tgt_ids))
    parts = []
    for off in in_passes((None, *heads), size):
        tap = chain(before, AblateByRow(tuple(off)))
        parts.append(target_log_probs(model, src_ids, tgt_ids, len(off), tap))
    complete, *without = torch.cat(parts).tolist()
    effects = [HeadEffect(site, head, lp - complete) for (site, head), lp in zip(heads, without, strict=True)]
    return sorted(effects, key=lambda effect: effect.delta)


def target_log_probs(
    model: Transformer, src_ids: Sequence[int], tgt_ids: Sequence[int], rows: int, tap: Tap | None
) -> Tensor:
    """Return the log-probability of the target in each of `rows` identical rows, which `tap` may change: [B] float64.
    """
    device = model.output.weight.device
    src = torch.tensor(src_ids, device=device).expand(rows, -1)
    tgt = torch.tensor(tgt_ids, device=device).expand(rows, -1)
    return written_log_probs(model, src, tgt, tap).sum(-1).cpu()

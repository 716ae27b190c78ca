"""Ablate heads: replace each head's output by zeros, its mean or its output for another sentence.

Shapes: B rows, H heads, N tokens of a stack, T written tokens, D = d_head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.passes import in_passes, log_probs_of, rows_per_pass
from headlight.analysis.sites import all_heads, require_intervened_heads
from headlight.analysis.why.patched import HEADS, Point, patched
from transformer.model import Transformer
from transformer.quoting import quoted
from transformer.taps import Site, Tap, chain, is_ablation

Ablation = Literal["zero", "mean", "resample"]
ABLATIONS = ("zero", "mean", "resample")
DRAWS = 10  # references from which a head's output is resampled
Pair = tuple[Sequence[int], Sequence[int]]  # a source up to [EOS], and a target from [SOS] to [EOS]


class HeadEffect(NamedTuple):
    """The effect of switching off one head: `delta` is the change of the target's log-probability, in nats."""

    site: Site
    head: int
    delta: float


def head_importance(
    model: Transformer,
    src_ids: Sequence[int],
    tgt_ids: Sequence[int],
    interventions: Sequence[Tap] = (),
) -> list[HeadEffect]:
    """Switch off each head alone and return the effects on the target, the most harmful first.

    The baseline is the model with `interventions`, since a head's effect depends on which other heads can do its work.
    Heads that the interventions switch off are left out. `tgt_ids` runs from [SOS] to [EOS]. Raises ValueError for an
    intervention on a head that the model lacks.
    """
    gone = {(intervention.site, intervention.head) for intervention in interventions if is_ablation(intervention)}
    effects = head_ablation(model, src_ids, tgt_ids, (), by="zero", tap=chain(*interventions))
    return [effect for effect in effects if (effect.site, effect.head) not in gone]


def head_ablation(
    model: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    references: Sequence[Pair],
    by: Ablation = "mean",
    draws: int = DRAWS,
    seed: int = 0,
    tap: Tap | None = None,
) -> list[HeadEffect]:
    """Replace each head's output alone and return the change of the target's log-probability, the most harmful first.

    "zero" puts zeros in its place, as `head_importance` does; this also takes away what the head adds to every sentence
    alike, and gives the later layers inputs that they never see in training. "mean" puts the mean of its outputs at all
    tokens of the references (Wang et al. 2023, "Interpretability in the Wild"), so that only what is specific to this
    sentence is lost. "resample" puts its output at the same position of another reference, drawn anew in each of
    `draws` runs, or at a random position of that reference where it is shorter (Chan et al. 2022, "Causal Scrubbing").
    The change is then the mean over the runs, and the replacements are vectors that the head really outputs.

    `source` and references' sources are ids up to [EOS], targets run from [SOS] to [EOS]. `tap` intervenes in every
    pass, those of the references too. Raises ValueError for another ablation, without references or draws where these
    are needed, and for an intervention on a head that the model lacks.
    """
    changes = ablated_steps(model, (source, target), references, by, draws, seed, tap)
    effects = [HeadEffect(site, head, float(changes[site][head].sum())) for site, head in all_heads(model)]
    return sorted(effects, key=lambda effect: effect.delta)


def ablated_steps(
    model: Transformer,
    pair: Pair,
    references: Sequence[Pair],
    by: Ablation = "mean",
    draws: int = DRAWS,
    seed: int = 0,
    tap: Tap | None = None,
) -> dict[Site, np.ndarray]:
    """Return the change of the log-probability of each written token when a head is replaced: [H, T] by site, in nats.

    The changes of a pruned head are NaN. `head_ablation` sums these changes over T; arguments and errors are the same,
    except that `pair` holds both the source and the target.
    """
    if by not in ABLATIONS:
        raise ValueError(f"There is no ablation {quoted(by)}; choose among {', '.join(ABLATIONS)}.")
    if by != "zero" and not references:
        raise ValueError(f"A {by} ablation needs sentences to take a head's output from; give some as references.")
    if draws < 1:
        raise ValueError(f"The number of draws is {draws}; at least 1 is needed.")
    require_intervened_heads(model, tap)
    heads, rows = all_heads(model), rows_per_pass(model, len(pair[0]), len(pair[1]))
    complete = _log_probs(model, pair, 1, tap=tap)
    lengths = _lengths(pair)
    changes = torch.zeros(len(heads), lengths["decoder"], dtype=torch.float64)
    replacements = _replacements(model, lengths, references, by, draws, seed, tap) if heads else []
    for replacement in replacements:
        parts = [_log_probs(model, pair, len(some), some, replacement, tap) for some in in_passes(heads, rows)]
        changes += (torch.cat(parts) - complete) / len(replacements)
    config = model.config
    n_heads = {"encoder": config.encoder.n_heads, "decoder": config.decoder.n_heads}
    by_site = {site: np.full((n_heads[site.stack], lengths["decoder"]), np.nan) for site in model.sites()}
    for (site, head), change in zip(heads, changes.numpy(), strict=True):
        by_site[site][head] = change
    return by_site


def _replacements(
    model: Transformer,
    lengths: Mapping[str, int],
    references: Sequence[Pair],
    by: str,
    draws: int,
    seed: int,
    tap: Tap | None,
) -> list[dict[Site, Tensor]]:
    """Return the outputs that replace the heads' own in each run: [H, N, D] by site, or [H, 1, D] for every token."""
    if by == "zero":
        return [{}]
    if by == "mean":
        totals: dict[Site, Tensor] = {}
        counts = {"encoder": 0, "decoder": 0}
        for pair in references:
            for site, output in _outputs(model, pair, tap).items():
                totals[site] = totals.get(site, 0.0) + output.double().sum(1, keepdim=True)
            for stack, length in _lengths(pair).items():
                counts[stack] += length
        return [{site: (total / counts[site.stack]).float() for site, total in totals.items()}]
    rng = np.random.default_rng(seed)
    drawn = []
    for number in rng.integers(0, len(references), draws):
        reference, tokens = references[number], dict[str, np.ndarray]()
        for stack, n_drawn in _lengths(reference).items():
            own = np.arange(lengths[stack])
            tokens[stack] = np.where(own < n_drawn, own, rng.integers(0, n_drawn, lengths[stack]))
        outputs = _outputs(model, reference, tap)
        drawn.append({site: of_site[:, tokens[site.stack]] for site, of_site in outputs.items()})
    return drawn


def _lengths(pair: Pair) -> dict[str, int]:
    """Return how many tokens each stack reads."""
    return {"encoder": len(pair[0]), "decoder": len(pair[1]) - 1}


def _outputs(model: Transformer, pair: Pair, tap: Tap | None) -> dict[Site, Tensor]:
    """Return the heads' outputs for a source and its target, [H, N, D] by site."""
    outputs: dict[Site, Tensor] = {}

    def record(point: Point, x: Tensor) -> Tensor:
        if point.part == HEADS:
            outputs[Site(*point[1:])] = x[0]
        return x

    patched(model, *_rows(model, pair, 1), record, tap)
    return outputs


def _log_probs(
    model: Transformer,
    pair: Pair,
    count: int,
    heads: Sequence[tuple[Site, int]] = (),
    outputs: Mapping[Site, Tensor] | None = None,
    tap: Tap | None = None,
) -> Tensor:
    """Return the log-probability of each written token in `count` rows: [B, T].

    In row b the output of `heads[b]` is replaced by that in `outputs`, or by zeros where there are none.
    """

    def exchange(point: Point, x: Tensor) -> Tensor:
        if point.part != HEADS:
            return x
        site = Site(*point[1:])
        exchanged = [(row, head) for row, (of_head, head) in enumerate(heads) if of_head == site]
        x = x.clone() if exchanged else x
        for row, head in exchanged:
            x[row, head] = outputs[site][head] if outputs else 0.0
        return x

    src, tgt = _rows(model, pair, count)
    written = torch.tensor(pair[1][1:], device=src.device).expand(count, -1)
    return log_probs_of(model, patched(model, src, tgt, exchange, tap), written).cpu()


def _rows(model: Transformer, pair: Pair, count: int) -> tuple[Tensor, Tensor]:
    """Return the source and the decoder's input, each repeated in `count` rows."""
    device = model.output.weight.device
    src, tgt = (torch.tensor([list(ids)], device=device).expand(count, -1) for ids in (pair[0], pair[1][:-1]))
    return src, tgt

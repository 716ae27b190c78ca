"""Prune a checkpoint on a corpus: the curve, the smaller checkpoint, and the parameters and time saved."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch

from headlight.analysis.atlas.reading import Reader, SkippedPairs, batches
from headlight.analysis.pruning.curve import DRAWS, Pruning, Saved, Score, prune_in_order
from headlight.analysis.pruning.order import Head, PruningBatch
from headlight.analysis.sites import all_heads
from headlight.corpora.pairs import Pair
from headlight.corpora.truth import KnownPair
from headlight.evaluation import Evaluator
from transformer.batches import collate
from transformer.checkpoint import Checkpoint
from transformer.inference.prepared import Prepared
from transformer.model import Transformer, count_parameters
from transformer.pruned import prune_heads
from transformer.yielding import yield_turn

BATCH_TOKENS = 2048  # tokens of a batch; other requests have their turn between the batches
TIMING_ROUNDS = 3  # a time is their median
# The fields of a card that are true of the unpruned model alone.
UNPRUNED_CARD_FIELDS = ("scores", "more_scores", "validation_chrF", "typical", "everyday", "step")


def study(
    checkpoint: Checkpoint,
    pairs: Iterable[KnownPair],
    draws: int = DRAWS,
    every: int | None = None,
    progress: Callable[[float, str], None] = lambda share, doing: None,
) -> Pruning:
    """Return the curve of `prune_in_order`: the order from the first half of `pairs`, the scores from the second.

    Translations are greedy. Raises ValueError where either half has no pair that the model can read.
    """
    every_pair = list(pairs)
    half = (len(every_pair) + 1) // 2
    measured = batches_of(checkpoint, every_pair[:half])
    rows = [Pair(number, pair.source, pair.target) for number, pair in enumerate(every_pair[half:], 1)]
    if not measured or not rows:
        raise ValueError(
            f"Of the {len(every_pair)} pairs one half gives the order and the other the scores, and the model can read "
            "none of one half; choose a corpus with more pairs, or a model that reads longer sentences."
        )
    evaluator = Evaluator.of(checkpoint, "The second half of the pairs", rows)

    def score(model: Transformer) -> Score:
        evaluation = evaluator(replace(checkpoint, model=model))
        return Score(-evaluation.loss, evaluation.bleu, evaluation.exact)

    def pruning(share: float, doing: str) -> None:
        progress(0.9 * share, doing)

    count = len(rows) - evaluator.left_out
    curve = prune_in_order(checkpoint.model, measured, score, count, draws, every, pruning)
    batches, less = batches_of(checkpoint, every_pair[half:]), []
    for point, gone in enumerate(curve.gone):
        progress(0.9 + 0.1 * point / len(curve.gone), "measuring the time that is saved")
        less.append(saved(checkpoint.model, prune_heads(checkpoint.model, curve.first(gone)), batches))
    return replace(curve, saved=tuple(less))


def batches_of(checkpoint: Checkpoint, pairs: Sequence[KnownPair]) -> list[PruningBatch]:
    """Return batches of the `pairs` that the model can read."""
    model = checkpoint.model
    reader = Reader(model.config, checkpoint.source_tokenizer, checkpoint.target_tokenizer)
    readings = [reading for chunk in reader.chunks(pairs, SkippedPairs()) for reading in chunk]
    collated = []
    for group in batches(readings, BATCH_TOKENS, model.config.padding_mask == "applied"):
        batch = collate([(reading.source, reading.target) for reading in group], model.config.pad_id)
        device = model.output.weight.device
        written = torch.tensor([len(reading.target) - 1 for reading in group], dtype=torch.float64, device=device)
        collated.append(PruningBatch(batch.src.to(device), batch.tgt.to(device), written))
    return collated


def saved(before: Transformer, after: Transformer, batches: Sequence[PruningBatch]) -> Saved:
    """Compare two models on the same sentences, in turns, so that a busy machine slows both."""
    both: list[Prepared] = [Prepared(model) for model in (after, before)]
    times: list[list[float]] = [[], []]
    for _ in range(TIMING_ROUNDS):
        for model, seconds in zip(both, times, strict=True):
            start = time.process_time()
            for batch in batches:
                model(batch.src, batch.tgt[:, :-1])
            seconds.append(time.process_time() - start)
            yield_turn()
    return Saved(count_parameters(after), count_parameters(before), *map(statistics.median, times))


def pruned_checkpoint(
    checkpoint: Checkpoint, heads: Sequence[Head], facts: dict[str, Any], command: str | None = None
) -> Checkpoint:
    """Return the checkpoint without `heads`.

    Its card names the pruning with the `facts`, and loses the measurements of the unpruned model.
    """
    model = prune_heads(checkpoint.model, heads)
    gone = len(model.config.pruned_heads)
    card = {name: value for name, value in checkpoint.card.items() if name not in UNPRUNED_CARD_FIELDS}
    before = card.get("pruned")
    original = before.get("of") if isinstance(before, dict) else card.get("title")
    facts = {"of": original, **facts}
    title = f"{original or 'A model'}, {gone} of {gone + len(all_heads(model))} heads pruned"
    card |= {"title": title, "pruned": facts} | ({"command": command} if command else {})
    return replace(checkpoint, model=model, card=card)


def bits_of(model: Transformer) -> Literal[16, 32]:
    """Return 16 if half precision holds every weight exactly, as in a model that was stored so; else 32."""
    return 16 if all(torch.equal(p, p.half().to(p.dtype)) for p in model.parameters()) else 32

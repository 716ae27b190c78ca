"""Measure every head of a model over a corpus: each measure's spread, and the sentences with its extremes.

Memory does not grow with the corpus. Of n processes each measures every n-th batch; the result does not depend on n.

Shapes: L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.atlas.batch import Marks, MeasuredBatch, prepare
from headlight.analysis.atlas.exchanged import exchanged
from headlight.analysis.atlas.faithfulness import faithfulness, parts_of
from headlight.analysis.atlas.measuring import chances, measured_pattern, over_corpora
from headlight.analysis.atlas.reading import RULES, PairReading, Reader, SkippedPairs, batches
from headlight.analysis.atlas.scoring import losses, without_each
from headlight.analysis.atlas.spread import MeasureSpread, Sums
from headlight.analysis.measures import is_punctuation
from headlight.analysis.sites import all_heads, attention_at, kind_of
from headlight.corpora.truth import KnownPair
from transformer.checkpoint import Checkpoint
from transformer.taps import Inputs, Site, Tap, chain
from transformer.tokenizers import Tokenizer
from transformer.trace import KINDS, Kind

BATCH_TOKENS = 4096  # tokens of a batch
SAMPLE_BATCH_TOKENS = 1024  # where each head takes a pass; other requests have their turn between the passes
# The version of the measures and of the generated corpora; raise it when either changes, so that caches are recomputed.
EDITION = 2


@dataclass(frozen=True)
class Share:
    """The batches that this process measures, and how it gathers the sums of other processes."""

    rank: int = 0
    count: int = 1
    gather: Callable[[np.ndarray], list[np.ndarray]] = field(default=lambda array: [array])


@dataclass(frozen=True)
class Atlas:
    """The measurements. A measure that the corpus or the kind of attention doesn't have is not in the dictionaries."""

    pairs: int  # measured pairs
    sampled: int  # pairs for the measures that take many passes
    loss: MeasureSpread  # [1, 1], nats a token
    agreement: MeasureSpread  # [1, 1], the rank correlation of the mean of all cross heads
    heads: dict[Kind, dict[str, MeasureSpread]]
    chance: dict[Kind, dict[str, float]]  # the measures of uniform attention, and how often each of RULES is right
    left: SkippedPairs
    examples: dict[int, KnownPair] = field(default_factory=dict)  # the sentences that the spreads name
    units: str = "words"  # what is aligned, or "letters"

    def to_dict(self) -> dict[str, Any]:
        """Return the atlas as JSON has it."""
        return {
            "pairs": self.pairs,
            "sampled": self.sampled,
            "loss": self.loss.to_dict(),
            "agreement": self.agreement.to_dict(),
            "heads": {k: {name: s.to_dict() for name, s in spreads.items()} for k, spreads in self.heads.items()},
            "chance": self.chance,
            "left": vars(self.left),
            "examples": {index: [pair.source, pair.target] for index, pair in self.examples.items()},
            "units": self.units,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Atlas:
        return cls(
            values["pairs"],
            values["sampled"],
            MeasureSpread.from_dict(values["loss"]),
            MeasureSpread.from_dict(values["agreement"]),
            {
                k: {name: MeasureSpread.from_dict(s) for name, s in spreads.items()}
                for k, spreads in values["heads"].items()
            },
            values["chance"],
            SkippedPairs(**values["left"]),
            {int(index): KnownPair(*pair) for index, pair in values["examples"].items()},
            values["units"],
        )


Progress = Callable[[int], None]  # called between all passes with the number of pairs read so far


def atlas(
    checkpoint: Checkpoint,
    pairs: Callable[[], Iterable[KnownPair]],
    most: int | None = None,
    sample: int = 100,
    share: Share | None = None,
    progress: Progress = lambda read: None,
    tap: Tap | None = None,
) -> Atlas:
    """Measure every head over the first `most` pairs; `pairs()` restarts the corpus.

    `sample` pairs are used for the measures that need a pass for each head or word. `tap` changes heads before they are
    measured. Raises ValueError if the model can read no pair.
    """
    assert not checkpoint.model.training, "dropout would change what the heads look at"
    work = _Work(checkpoint, sample, share or Share(), tap, progress)
    with torch.inference_mode():
        work.run(islice(pairs(), most))
    measured = work.result()
    indices = set(_sentences(measured))
    chosen = enumerate(islice(pairs(), max(indices, default=-1) + 1))
    return replace(measured, examples={index: pair for index, pair in chosen if index in indices})


def _sentences(measured: Atlas) -> Iterator[int]:
    """Yield the indices of the sentences in which some measure is at its largest or smallest."""
    for of in measured.heads.values():
        for spread in of.values():
            yield from set(spread.most.ravel().tolist()) | set(spread.least.ravel().tolist()) - {-1}


class _Work:
    """A measurement under way: the sums of every measure of every kind of attention."""

    def __init__(self, checkpoint: Checkpoint, sample: int, share: Share, tap: Tap | None, progress: Progress) -> None:
        self.model, self.sample, self.share, self.tap = checkpoint.model, sample, share, tap
        self.source, target = checkpoint.source_tokenizer, checkpoint.target_tokenizer
        self.reader = Reader(self.model.config, self.source, target)
        self.marks = _marks(self.source), _marks(target)
        config = self.model.config
        stacks: dict[Kind, Any] = {"encoder": config.encoder, "decoder": config.decoder, "cross": config.decoder}
        self.sums = {
            kind: {
                measure.name: Sums((stack.n_layers, stack.n_heads), 10**measure.digits) for measure in over_corpora()
            }
            for kind, stack in stacks.items()
        }
        self.chance = {kind: {name: Sums((1, 1)) for name in (*self.sums[kind], *RULES)} for kind in KINDS}
        self.loss, self.agreement = Sums((1, 1)), Sums((1, 1))
        self.left, self.read, self.progress = SkippedPairs(), 0, progress

    def run(self, pairs: Iterable[KnownPair]) -> None:
        number, padded = 0, self.model.config.padding_mask == "applied"
        for chunk in self.reader.chunks(pairs, self.left):
            sampled = [reading for reading in chunk if reading.index < self.sample]
            for readings in batches(sampled, SAMPLE_BATCH_TOKENS, padded):
                if self.is_mine(number):
                    self.passes(self.prepared(readings))
                number += 1
            for readings in batches(chunk, BATCH_TOKENS, padded):
                if self.is_mine(number):
                    self.add(self.prepared(readings))
                number += 1
                self.read += len(readings)
                self.progress(self.read)

    def is_mine(self, number: int) -> bool:
        """Return whether this process measures the batch with this number."""
        return number % self.share.count == self.share.rank

    def prepared(self, readings: list[PairReading]) -> MeasuredBatch:
        return prepare(readings, self.model.config, *self.marks, self.model.output.weight.device)

    def add(self, batch: MeasuredBatch) -> None:
        gone = {
            site: [head for head in range(attention_at(self.model, site).n_heads) if (site, head) not in remaining]
            for remaining in [set(all_heads(self.model))]
            for site in self.model.sites()
        }

        def add_measures(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
            """Measure a pattern where it is computed, so that none is stored."""
            kind = kind_of(site)
            for name, (values, units) in measured_pattern(pattern, batch.contexts[kind]).items():
                values[:, gone[site]] = np.nan
                self.sums[kind][name].add(site.layer, values, units, batch.indices, batch.lengths)
            return pattern

        loss = losses(self.model, batch.src, batch.tgt, chain(self.tap, add_measures))
        self.loss.add(0, loss[:, None].cpu().numpy(), batch.written, batch.indices, batch.lengths)
        for kind, context in batch.contexts.items():
            for name, (value, units) in chances(context).items():
                self.chance[kind][name].add(0, value, units, batch.indices, batch.lengths)

    def passes(self, batch: MeasuredBatch) -> None:
        """Measure each head's importance, position against content, and the faithfulness of cross-attention."""
        plain = losses(self.model, batch.src, batch.tgt)
        for site, head, loss in without_each(self.model, batch.src, batch.tgt):
            self.progress(self.read)
            sums = self.sums[kind_of(site)]["importance"]
            values = np.full((len(loss), sums.shape[1]), np.nan)
            values[:, head] = (loss - plain).cpu().numpy()
            sums.add(site.layer, values, batch.written, batch.indices, batch.lengths)
        for site, name, remains in exchanged(self.model, batch):
            ones = np.ones(len(remains), np.int64)
            sums = self.sums[kind_of(site)][name]
            sums.add(site.layer, remains.double().cpu().numpy(), ones, batch.indices, batch.lengths)
        self.progress(self.read)
        unit = np.ones(1, np.int64)
        for at, reading in enumerate(batch.readings):
            self.progress(self.read)
            where = batch.indices[[at]], batch.lengths[[at]]
            agreement = faithfulness(self.model, reading.source, reading.target, parts_of(self.source, reading.source))
            if agreement is not None:
                self.agreement.add(0, np.array([[agreement.mean]]), unit, *where)
                for layer, values in enumerate(agreement.by_head):
                    self.sums["cross"]["agreement"].add(layer, values[None], unit, *where)

    def result(self) -> Atlas:
        """Return the atlas without examples, with the sums of all processes."""
        every = [self.loss, self.agreement]
        every += [sums for of in (*self.sums.values(), *self.chance.values()) for sums in of.values()]
        if self.share.count > 1:
            for sums in every:
                parts, most = self.share.gather(sums.parts), self.share.gather(sums.most)
                for rank in range(self.share.count):
                    if rank != self.share.rank:
                        sums.join(parts[rank], most[rank])
        pairs = int(self.loss.parts[0, 0, 0])
        if not pairs:
            raise ValueError(
                "The corpus has no pair that this model can read; choose another corpus, or a model "
                "that reads longer sentences."
            )
        return Atlas(
            pairs=pairs,
            sampled=int(self.sums["cross"]["importance"].parts[0].max(initial=0)),
            loss=self.loss.spread(),
            agreement=self.agreement.spread(),
            heads={
                kind: {name: sums.spread() for name, sums in of.items() if sums.parts[0].any()}
                for kind, of in self.sums.items()
            },
            chance={
                kind: {name: float(sums.spread().mean[0, 0]) for name, sums in of.items() if sums.parts[0].any()}
                for kind, of in self.chance.items()
            },
            left=self.left,
            units=self.reader.units,
        )


def _marks(tokenizer: Tokenizer) -> Marks:
    """Return the masks of special tokens and of punctuation."""
    ids = range(tokenizer.vocab_size)
    special = np.array([id in tokenizer.special_ids for id in ids])
    punctuation = np.array([is_punctuation(tokenizer.piece(id)) for id in ids])
    return Marks(special, punctuation & ~special)

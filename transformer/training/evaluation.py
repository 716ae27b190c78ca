"""How good a model is on pairs it was not trained on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sacrebleu
import torch

from transformer.checkpoints import Checkpoint
from transformer.data.batches import Example, bucket, collate
from transformer.data.encoded import Encoded
from transformer.data.gold import GoldCorpus, GoldPair, rightly_shown
from transformer.data.pairs import Pair, Pairs
from transformer.training.loop import batch_loss
from transformer.translator import LENGTH_PENALTY, Translator


@dataclass(frozen=True)
class Evaluation:
    """`loss` is in nats a token, without smoothing; `bleu` and `chrf` run from 0 to 100, `exact` is a share.

    `pronouns` is how many of a grammar's pronouns were understood (`rightly_shown`), and of how many that the target
    shows; else None.
    """

    loss: float
    bleu: float
    chrf: float
    exact: float
    signature: str  # what sacrebleu says of how BLEU was computed
    translations: list[str] = field(default_factory=list, repr=False)
    pronouns: tuple[int, int] | None = None

    @property
    def perplexity(self) -> float:
        return math.exp(min(self.loss, 700.0))

    def to_dict(self) -> dict[str, Any]:
        """As a card has it; what is known of grammars alone is left out elsewhere."""
        found = {
            "BLEU": round(self.bleu, 2),
            "chrF": round(self.chrf, 2),
            "exact": round(self.exact, 4),
            "loss": round(self.loss, 4),
            "sentences": len(self.translations),
            "signature": self.signature,
        }
        if self.pronouns is not None:
            right, every = self.pronouns
            found |= {"pronouns": round(right / every, 4), "pronouns_counted": every}
        return found


class Evaluator:
    """A set of pairs, held ready: sources and references as text, and both as ids."""

    def __init__(self, sources: Sequence[str], references: Sequence[str], examples: Iterable[Example]):
        if not sources or len(sources) != len(references):
            raise ValueError(f"There are {len(sources)} sources and {len(references)} references to evaluate on.")
        self.sources = list(sources)
        self.references = list(references)
        self.batches = bucket(examples, budget=4_096)
        self.left_out = 0
        self.gold: dict[str, GoldPair] = {}  # by source, of a grammar's corpus

    @classmethod
    def of(cls, checkpoint: Checkpoint, name: str, pairs: Iterable[Pair]) -> Evaluator:
        """Of the `pairs` that the model can read and write; `left_out` says how many are longer than that."""
        source, target = checkpoint.source_tokenizer, checkpoint.target_tokenizer
        every, longest = list(pairs), checkpoint.model.config.max_length
        sources = source.encode_batch([pair.source for pair in every])
        targets = target.encode_batch([pair.target for pair in every])
        both = zip(every, sources, targets, strict=True)
        fitting = [pair for pair, s, t in both if s and t and max(len(s), len(t)) < longest]  # and a special token
        if not fitting:
            raise ValueError(f"{name} has no pair of at most {longest - 1} tokens a side to evaluate on.")
        examples = Encoded(Pairs(name, fitting), source, target, longest)
        evaluator = cls([pair.source for pair in fitting], [pair.target for pair in fitting], examples)
        evaluator.left_out = len(every) - len(fitting)
        if isinstance(pairs, GoldCorpus):
            evaluator.gold = {gold.source: gold for gold in pairs.gold()}
        return evaluator

    def __call__(
        self, checkpoint: Checkpoint, beam_size: int = 1, length_penalty: float = LENGTH_PENALTY
    ) -> Evaluation:
        """Scores the model: cased, detokenised sacreBLEU and chrF of its own translations."""
        checkpoint.model.eval()
        found = Translator(checkpoint).translate_batch(self.sources, beam_size, length_penalty)
        texts = [translation.text for translation in found]
        bleu = sacrebleu.metrics.BLEU()
        return Evaluation(
            self._loss(checkpoint),
            bleu.corpus_score(texts, [self.references]).score,
            sacrebleu.metrics.CHRF().corpus_score(texts, [self.references]).score,
            sum(text == reference for text, reference in zip(texts, self.references, strict=True)) / len(texts),
            str(bleu.get_signature()),
            texts,
            self._pronouns(texts),
        )

    def _pronouns(self, texts: Sequence[str]) -> tuple[int, int] | None:
        """How many were understood, and how many there are; None where there are none, or nobody knows."""
        read = [
            (self.gold[source], text) for source, text in zip(self.sources, texts, strict=True) if source in self.gold
        ]
        every = sum(len(pair.shown) for pair, _ in read)
        return (sum(rightly_shown(pair, text) for pair, text in read), every) if every else None

    @torch.inference_mode()
    def _loss(self, checkpoint: Checkpoint) -> float:
        model, total, tokens = checkpoint.model, 0.0, 0
        device = next(model.parameters()).device
        for examples in self.batches:
            batch = collate(examples, model.config.pad_id)
            batch = batch._replace(src=batch.src.to(device), tgt=batch.tgt.to(device))
            total += batch_loss(model, batch).item()
            tokens += batch.n_tokens
        return total / tokens

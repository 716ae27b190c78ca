"""How good a model is on pairs it was not trained on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import sacrebleu
import torch

from transformer.checkpoints import Checkpoint
from transformer.data.batches import Example, bucket, collate
from transformer.data.encoded import Encoded
from transformer.data.pairs import Pair, Pairs
from transformer.training.loop import batch_loss
from transformer.translator import LENGTH_PENALTY, Translator


@dataclass(frozen=True)
class Evaluation:
    """`loss` is in nats a token, without smoothing; `bleu` and `chrf` run from 0 to 100, `exact` is a share."""

    loss: float
    bleu: float
    chrf: float
    exact: float
    signature: str  # what sacrebleu says of how BLEU was computed
    translations: list[str] = field(default_factory=list, repr=False)

    @property
    def perplexity(self) -> float:
        return math.exp(min(self.loss, 700.0))


class Evaluator:
    """A set of pairs, held ready: sources and references as text, and both as ids."""

    def __init__(self, sources: Sequence[str], references: Sequence[str], examples: Iterable[Example]):
        if not sources or len(sources) != len(references):
            raise ValueError(f"There are {len(sources)} sources and {len(references)} references to evaluate on.")
        self.sources = list(sources)
        self.references = list(references)
        self.batches = bucket(examples, budget=4_096)
        self.left_out = 0

    @classmethod
    def of(cls, checkpoint: Checkpoint, name: str, pairs: Iterable[Pair]) -> Evaluator:
        """Of the `pairs` that the model can read and write; `left_out` says how many are longer than that."""
        source, target = checkpoint.source_tokenizer, checkpoint.target_tokenizer
        pairs, longest = list(pairs), checkpoint.model.config.max_length
        sources = source.encode_batch([pair.source for pair in pairs])
        targets = target.encode_batch([pair.target for pair in pairs])
        both = zip(pairs, sources, targets, strict=True)
        fitting = [pair for pair, s, t in both if s and t and max(len(s), len(t)) < longest]  # and a special token
        if not fitting:
            raise ValueError(f"{name} has no pair of at most {longest - 1} tokens a side to evaluate on.")
        examples = Encoded(Pairs(name, fitting), source, target, longest)
        evaluator = cls([pair.source for pair in fitting], [pair.target for pair in fitting], examples)
        evaluator.left_out = len(pairs) - len(fitting)
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
        )

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

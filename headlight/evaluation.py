"""Evaluate a model on sentence pairs: loss, BLEU and chrF."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from typing import Any

import sacrebleu
import torch

from headlight.corpora.encoded import Encoded
from headlight.corpora.gold import GoldCorpus, GoldPair, count_resolved
from headlight.corpora.mixtures import Mixture
from headlight.corpora.pairs import Corpus, Pair, Pairs
from transformer.batches import Example, bucket, collate
from transformer.checkpoint import Checkpoint
from transformer.decoding.strategies import LENGTH_PENALTY
from transformer.training.loop import batch_loss
from transformer.translator import Translator
from transformer.yielding import yield_turn

MIN_SENTENCES = 100  # with fewer, a single sentence changes a score by more than a percent


@dataclass(frozen=True)
class Evaluation:
    """`loss` is in nats a token, without smoothing; `bleu` and `chrf` run from 0 to 100, `exact` is a share.

    `pronouns` is how many of a grammar's pronouns were resolved (`count_resolved`) and how many were resolvable; None
    for other corpora.
    """

    loss: float
    bleu: float
    chrf: float
    exact: float
    signature: str  # sacreBLEU's description of how BLEU was computed
    translations: list[str] = field(default_factory=list, repr=False)
    pronouns: tuple[int, int] | None = None
    parts: dict[str, Evaluation] = field(default_factory=dict, repr=False)  # of a mixture: by the corpora's names

    @property
    def sentences(self) -> int:
        """The number of sources that were translated."""
        return len(self.translations)

    @property
    def perplexity(self) -> float:
        return math.exp(min(self.loss, 700.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as a card has them; "pronouns" are known for grammars only."""
        scores = {
            "BLEU": round(self.bleu, 2),
            "chrF": round(self.chrf, 2),
            "exact": round(self.exact, 4),
            "loss": round(self.loss, 4),
            "sentences": self.sentences,
            "signature": self.signature,
        }
        if self.pronouns is not None:
            right, every = self.pronouns
            scores |= {"pronouns": round(right / every, 4), "pronouns_counted": every}
        return scores


class Evaluator:
    """A set of pairs to evaluate on: sources and references as text, and both as ids.

    Pairs with the same source are references of one translation. `origins` names the corpus of each pair in a mixture;
    each corpus is also scored separately. `lines` are the pairs' line numbers in their corpus; pairs with the same
    source share the first.
    """

    def __init__(
        self,
        sources: Sequence[str],
        references: Sequence[str],
        examples: Iterable[Example],
        origins: Sequence[str] | None = None,
        lines: Sequence[int] | None = None,
    ):
        if not sources or len(sources) != len(references):
            raise ValueError(f"There are {len(sources)} sources and {len(references)} references to evaluate on.")
        origins = origins or [""] * len(sources)
        of_source: dict[tuple[str, str], list[str]] = {}
        line_of: dict[tuple[str, str], int] = {}
        of_origin: dict[str, list[Example]] = {}
        lines = lines or range(1, len(sources) + 1)
        for source, reference, example, origin, line in zip(sources, references, examples, origins, lines, strict=True):
            line_of.setdefault((origin, source), line)
            of_source.setdefault((origin, source), []).append(reference)
            of_origin.setdefault(origin, []).append(example)
        self.origins, self.sources = (list(side) for side in zip(*of_source, strict=True))
        self.references = list(of_source.values())
        self.lines = list(line_of.values())
        self.batches = {origin: bucket(own, budget=4_096) for origin, own in of_origin.items()}
        self.left_out = 0
        self.gold: dict[tuple[str, str], GoldPair] = {}  # by origin and source, of a grammar's corpus

    @classmethod
    def of(
        cls,
        checkpoint: Checkpoint,
        name: str,
        pairs: Iterable[Pair],
        other_checkpoints: Iterable[Checkpoint] = (),
        max_pairs: int | None = None,
    ) -> Evaluator:
        """Build the evaluator of those of the first `max_pairs` pairs that fit the model and the `other_checkpoints`.

        `left_out` counts those that are longer.
        """
        every = list(islice(pairs, max_pairs))
        if not every:
            raise ValueError(f"There is no pair to evaluate on. {pairs.report if isinstance(pairs, Corpus) else name}")
        fitting = every
        for each in (checkpoint, *other_checkpoints):
            fitting = _fitting(each, name, fitting)
        source, target, config = checkpoint.source_tokenizer, checkpoint.target_tokenizer, checkpoint.model.config
        examples = Encoded(Pairs(name, fitting), source, target, config.max_length, config)
        lines, texts, references, origins = zip(*fitting, strict=True)
        evaluator = cls(texts, references, examples, origins, lines)
        evaluator.left_out = len(every) - len(fitting)
        evaluator.gold = _gold(pairs)
        return evaluator

    def __call__(
        self, checkpoint: Checkpoint, beam_size: int = 1, length_penalty: float = LENGTH_PENALTY
    ) -> Evaluation:
        """Score the model: cased, detokenised sacreBLEU and chrF of its own translations."""
        texts = self.translate(checkpoint, beam_size, length_penalty)
        losses = {origin: _loss(checkpoint, batches) for origin, batches in self.batches.items()}
        parts = {origin: self._scores(texts, origin, losses[origin]) for origin in losses}
        if len(parts) == 1:
            return next(iter(parts.values()))
        total, tokens = (sum(of) for of in zip(*losses.values(), strict=True))
        return replace(self._scores(texts, None, (total, int(tokens))), parts=parts)

    def translate(
        self, checkpoint: Checkpoint, beam_size: int = 1, length_penalty: float = LENGTH_PENALTY
    ) -> list[str]:
        """Return the model's own translation of each source."""
        checkpoint.model.eval()
        translations = Translator(checkpoint).translate_batch(self.sources, beam_size, length_penalty)
        return [translation.text for translation in translations]

    def _scores(self, texts: Sequence[str], origin: str | None, loss: tuple[float, int]) -> Evaluation:
        """Score the translations of one origin's sources, or of all; `loss` is their summed loss and their tokens."""
        rows = [n for n, of in enumerate(self.origins) if origin in (of, None)]
        written, references = [texts[n] for n in rows], [self.references[n] for n in rows]
        streams = list(zip_longest(*references))  # the first reference of each, the second where there is one, ...
        bleu = sacrebleu.metrics.BLEU()
        return Evaluation(
            loss[0] / max(loss[1], 1),  # bare targets of one token have nothing to predict
            bleu.corpus_score(written, streams).score,
            sacrebleu.metrics.CHRF().corpus_score(written, streams).score,
            sum(text in right for text, right in zip(written, references, strict=True)) / len(written),
            str(bleu.get_signature()),
            written,
            self._pronouns(rows, written),
        )

    def _pronouns(self, rows: Sequence[int], written: Sequence[str]) -> tuple[int, int] | None:
        """Return how many pronouns were resolved, and how many there are; None without pronouns or gold."""
        keys = ((self.origins[n], self.sources[n]) for n in rows)
        read = [(self.gold[key], text) for key, text in zip(keys, written, strict=True) if key in self.gold]
        every = sum(len(pair.resolvable) for pair, _ in read)
        return (sum(count_resolved(pair, text) for pair, text in read), every) if every else None


def _fitting(checkpoint: Checkpoint, name: str, pairs: list[Pair]) -> list[Pair]:
    """Return the pairs that fit a model. Raises ValueError where there are none."""
    source, target, config = checkpoint.source_tokenizer, checkpoint.target_tokenizer, checkpoint.model.config
    sources = source.encode_batch([pair.source for pair in pairs])
    targets = target.encode_batch([pair.target for pair in pairs])
    encoded = Encoded(Pairs(name, pairs), source, target, config.max_length, config)
    fitting = [pair for pair, s, t in zip(pairs, sources, targets, strict=True) if s and t and encoded.fits(s, t)]
    if not fitting:
        raise ValueError(f"{name} has no pair of at most {config.max_length - 1} tokens a side to evaluate on.")
    return fitting


def _gold(pairs: Iterable[Pair]) -> dict[tuple[str, str], GoldPair]:
    """Return the gold of pairs from grammars, alone or in a mixture, by origin and source."""
    if isinstance(pairs, GoldCorpus):
        return {("", gold.source): gold for gold in pairs.gold()}
    if isinstance(pairs, Mixture):
        return {(corpus.name, source): gold for corpus, _ in pairs.parts for (_, source), gold in _gold(corpus).items()}
    return {}


@torch.inference_mode()
def _loss(checkpoint: Checkpoint, batches: Iterable[list[Example]]) -> tuple[float, int]:
    """Return the summed loss and the number of tokens."""
    model, total, tokens = checkpoint.model, 0.0, 0
    device = next(model.parameters()).device
    for examples in batches:
        yield_turn()
        batch = collate(examples, model.config.pad_id)
        batch = batch._replace(src=batch.src.to(device), tgt=batch.tgt.to(device))
        total += batch_loss(model, batch).item()
        tokens += batch.n_tokens
    return total, tokens

"""A contestant of the quality benchmark, in its process: it trains for a number of seconds, and it translates.

All contestants read the same batches of the same tokens and have the same update: Adam (0.9, 0.98, 1e-9), gradients
clipped at 1, label smoothing 0.1, a learning rate that rises and then falls linearly to 0 at the end of the time. The
network, its precision, its loss, its search and the peak of its learning rate are the contestant's own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import sacrebleu
import torch
from torch import Tensor, nn

from benchmarks.contest import THREADS, compete
from benchmarks.measure import ROOT
from benchmarks.peers import MAX_TOKENS, SMOOTHING, VOCABULARY, Joey, Marian, Peer, update_peer
from headlight.checkpoints import load_tokenizer
from headlight.corpora.corpora import open_corpus
from headlight.corpora.encoded import Encoded
from transformer import Translator
from transformer.batches import Batch, BatchStream, Example, bucket, collate
from transformer.checkpoint import Checkpoint
from transformer.config import TrainConfig
from transformer.model import Transformer, count_parameters
from transformer.presets import preset
from transformer.tokenizers import EOS, PAD, SOS, Tokenizer
from transformer.training.loop import Trainer, train_dtype
from transformer.training.schedule import learning_rate

DROPOUT = 0.2
BATCH_TOKENS = 2048
WARMUP_SHARE = 0.1  # of the updates
OURS_NAME, MARIAN, JOEYNMT = "Headlight", "Marian in transformers", "JoeyNMT"
PEAK_LEARNING_RATES = {OURS_NAME: 1.5e-3, MARIAN: 1e-3, JOEYNMT: 1.5e-3}
N_CHECKED = 32  # sentences whose greedy translation is compared with the argmax of a teacher-forced pass


class OurTraining:
    """Our network and our trainer, with the settings of the shipped model's command."""

    pad = PAD

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.model = Transformer(preset("small", VOCABULARY, VOCABULARY, dropout=DROPOUT, tied="all"))
        self.trainer = Trainer(self.model, TrainConfig(label_smoothing=SMOOTHING))
        self.checkpoint = Checkpoint(self.model, tokenizer, tokenizer)

    def update(self, batch: Batch, plan: TrainConfig) -> None:
        self.trainer.config = plan
        self.trainer.update(iter([batch]))

    def logits(self, src: Tensor, reads: Tensor) -> Tensor:
        return self.model(src, reads)

    def write(self, texts: list[str], beam: int) -> list[list[int]]:
        translations = Translator(self.checkpoint).translate_batch(texts, beam, max_length=MAX_TOKENS)
        return [translation.ids for translation in translations]


class AlternativeTraining:
    """A peer in the plain training loop of its documentation."""

    def __init__(self, tokenizer: Tokenizer, peer: Peer, bf16: bool) -> None:
        self.tokenizer, self.model, self.pad, self.bf16, self.step = tokenizer, peer, peer.pad, bf16, 0
        self.optimizer = torch.optim.Adam(peer.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)

    def update(self, batch: Batch, plan: TrainConfig) -> None:
        self.step += 1
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.step, plan)
        update_peer(self.model, self.optimizer, batch, self.bf16)

    def logits(self, src: Tensor, reads: Tensor) -> Tensor:
        return self.model(src, reads)

    def write(self, texts: list[str], beam: int) -> list[list[int]]:
        """Translate 64 sentences of about the same length at a time, as ours does."""
        sources = [[*ids, EOS] for ids in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
        ids_of: dict[int, list[int]] = {}
        for start in range(0, len(order), 64):
            chosen = order[start : start + 64]
            src = collate([(sources[i], [SOS]) for i in chosen], self.pad).src
            translations = self.model.search(src, beam).tolist()
            ids_of.update((i, until_end(ids, self.pad)) for i, ids in zip(chosen, translations, strict=True))
        return [ids_of[i] for i in range(len(texts))]


def until_end(ids: list[int], pad: int) -> list[int]:
    """Return the ids that were written, [EOS] included where it came, without padding."""
    end = next((i + 1 if id == EOS else i for i, id in enumerate(ids) if id in (EOS, pad)), len(ids))
    return ids[:end]


class Learner:
    """The requests that the parent process sends: `speed`, `train`, `score`."""

    def __init__(self, name: str, pair: str, multi30k: Path | None) -> None:
        torch.set_num_threads(THREADS)
        corpus = open_corpus(f"multi30k:{pair}", folder=multi30k)
        assert corpus.test is not None
        self.name = name
        self.tokenizer = load_tokenizer(ROOT / "checkpoints" / pair / "tokenizer.json")
        self.pairs = self._examples(corpus.train)
        self.sources = [each.source for each in corpus.test]
        self.references = [each.target for each in corpus.test]
        self.tests = bucket(self._examples(corpus.test), budget=4096)
        self._begin()
        self.parameters = count_parameters(self.network.model)

    def _examples(self, corpus: Any) -> list[Example]:
        return list(Encoded(corpus, self.tokenizer, self.tokenizer, max_tokens=128))

    def _begin(self) -> None:
        torch.manual_seed(0)
        self.network = self._network()
        self.batches = iter(BatchStream(self.pairs, BATCH_TOKENS, self.network.pad))
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        self.warmup: int | None = None

    def _network(self) -> OurTraining | AlternativeTraining:
        if self.name == OURS_NAME:
            return OurTraining(self.tokenizer)
        if self.name == MARIAN:
            fast = train_dtype("auto", torch.device("cpu")) == torch.bfloat16
            return AlternativeTraining(self.tokenizer, Marian(DROPOUT), bf16=fast)
        return AlternativeTraining(self.tokenizer, Joey(DROPOUT), bf16=False)  # which it leaves to graphics cards

    def speed(self, seconds: float) -> float:
        """Return the updates per second of a network that is thrown away."""
        self._begin()
        plan = TrainConfig(schedule="constant", label_smoothing=SMOOTHING)
        for batch in islice(self.batches, 3):  # the first updates allocate memory and take longer
            self.network.update(batch, plan)
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds or count < 3:
            self.network.update(next(self.batches), plan)
            count += 1
        self.rate = count / (time.perf_counter() - start)
        self._begin()
        return self.rate

    def train(self, until: float, budget: float) -> dict[str, float]:
        """Train until it has trained for `until` seconds in all, by the schedule that ends after `budget` of them.

        The number of updates left is estimated from the speed so far, once per call.
        """
        plan = self._plan(budget)
        before, count, start = self.seconds, self.step, time.perf_counter()
        while self.seconds < until:
            batch = next(self.batches)
            self.network.update(batch, plan)
            self.step, self.tokens = self.step + 1, self.tokens + batch.n_tokens
            self.seconds = before + time.perf_counter() - start
        if self.step > count:
            self.rate = (self.step - count) / (self.seconds - before)
        return {"seconds": self.seconds, "updates": self.step, "tokens": self.tokens}

    def _plan(self, budget: float) -> TrainConfig:
        steps = self.step + max(round((budget - self.seconds) * self.rate), 1)
        if self.warmup is None:
            self.warmup = round(WARMUP_SHARE * steps)
        return TrainConfig(steps, BATCH_TOKENS, 1, PEAK_LEARNING_RATES[self.name], "linear", self.warmup, SMOOTHING)

    @torch.inference_mode()
    def score(self, beam: int) -> dict[str, Any]:
        """Return BLEU and chrF on the test set, the cross-entropy of its tokens, and the seconds to translate it."""
        self.network.model.eval()
        start = time.perf_counter()
        translations = self.network.write(self.sources, beam)
        seconds = time.perf_counter() - start
        texts = [self.tokenizer.decode(ids) for ids in translations]
        scores: dict[str, Any] = {"translations": texts, "seconds_to_write": seconds, "loss": self._loss()}
        for name, metric in (("BLEU", sacrebleu.metrics.BLEU()), ("chrF", sacrebleu.metrics.CHRF())):
            scores[name] = metric.corpus_score(texts, [self.references]).score
            scores[f"{name} signature"] = str(metric.get_signature())
        if beam == 1:
            scores["agreement"] = self._agreement(translations)
        return scores

    def _loss(self) -> float:
        """Return the loss in nats per token, without smoothing; the tokens are the same for all."""
        total, count = 0.0, 0
        for examples in self.tests:
            batch = collate(examples, self.network.pad)
            writes = batch.tgt[:, 1:]
            logits = self.network.logits(batch.src, batch.tgt[:, :-1]).flatten(0, 1).float()
            options: dict[str, Any] = {"ignore_index": self.network.pad, "reduction": "sum"}
            total += nn.functional.cross_entropy(logits, writes.flatten(), **options).item()
            count += batch.n_tokens
        return total / count

    def _agreement(self, translations: list[list[int]]) -> float:
        """Return the share of greedily written tokens that are also the most probable in a plain pass."""
        right, count = 0, 0
        for text, ids in list(zip(self.sources, translations, strict=True))[:N_CHECKED]:
            src = torch.tensor([[*self.tokenizer.encode(text), EOS]])
            likeliest = self.network.logits(src, torch.tensor([[SOS, *ids[:-1]]]))[0].argmax(-1).tolist()
            right += sum(a == b for a, b in zip(likeliest, ids, strict=True))
            count += len(ids)
        return right / count


def contestant(name: str, pair: str, multi30k: Path | None) -> tuple[Any, dict[str, Callable[..., Any]]]:
    """Return what a contestant reports of itself, and the requests that it answers."""
    learner = Learner(name, pair, multi30k)
    facts = {"parameters": learner.parameters, "references": learner.references}
    return facts, {"speed": learner.speed, "train": learner.train, "score": learner.score}


if __name__ == "__main__":
    who, languages, folder = sys.argv[1:]
    compete(who, lambda: contestant(who, languages, Path(folder) if folder else None))

"""A corpus as token ids: the tokenizers that are learned from it, and its examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from headlight.corpora.fingerprint import Fingerprint
from headlight.corpora.pairs import Corpus, Pair, Report
from transformer.tokenizers import Tokenizer, TokenizerKind

if TYPE_CHECKING:  # reading a corpus needs no torch
    from transformer.batches import Example
    from transformer.config import ModelConfig

Framing = Literal["usual", "both", "none"]
CHUNK_PAIRS = 1000  # pairs that are encoded at once
MAX_LEARNING_PAIRS = 1_000_000  # more pairs change a vocabulary little, and counting their words takes memory
SMALL_CORPUS_PAIRS = 1_000  # with fewer pairs most words occur once, and without these there is little to learn


def framed(config: ModelConfig, framing: Framing) -> ModelConfig:
    """Return the configuration of a model that is trained in this framing.

    "usual" is source + [EOS] and [SOS] + target + [EOS], "both" has [SOS] before the source too, and "none" has no
    special tokens, as in a tutorial: the model then learns neither how a sentence begins nor where it ends.
    """
    around: dict[Framing, dict[str, Any]] = {"both": {"source_start": (config.sos_id,)}, "none": {"source_end": ()}}
    return replace(config, **around.get(framing, {}))


def learn_tokenizers(
    pairs: Iterable[Pair], kind: TokenizerKind, vocab_size: int, separate: bool = False, min_frequency: int = 0
) -> tuple[Tokenizer, Tokenizer]:
    """Learn the tokenizers of both sides from the first MAX_LEARNING_PAIRS pairs: one object unless `separate`.

    A word or merge has to occur `min_frequency` times; 0 means once among fewer than SMALL_CORPUS_PAIRS pairs, else
    twice. `pairs` are iterated several times. Raises ValueError where there is no text.
    """
    frequency = min_frequency or (1 if len(list(islice(pairs, SMALL_CORPUS_PAIRS))) < SMALL_CORPUS_PAIRS else 2)

    def learn(texts: Iterator[str]) -> Tokenizer:
        return Tokenizer.train(texts, kind, vocab_size, frequency)

    if separate:
        sources = (pair.source for pair in islice(pairs, MAX_LEARNING_PAIRS))
        targets = (pair.target for pair in islice(pairs, MAX_LEARNING_PAIRS))
        return learn(sources), learn(targets)
    shared = learn(text for pair in islice(pairs, MAX_LEARNING_PAIRS) for text in (pair.source, pair.target))
    return shared, shared


class Encoded:
    """The examples of a corpus, encoded again with each `iter()`: source + [EOS], [SOS] + target + [EOS].

    With a `config`, its special tokens stand around the source; if it has none at the end of the source, the target has
    no special tokens either. Pairs with a side that would take more than `max_tokens` positions in the model (its
    tokens and one special token) are left out, and counted in `report` beside those that the corpus itself rejected.
    After a pass, `unknown` has the shares of the source and of the target tokens that the vocabularies lack, and
    `fingerprint` is the fingerprint of the encoded pairs.
    """

    def __init__(
        self, corpus: Corpus, source: Tokenizer, target: Tokenizer, max_tokens: int, config: ModelConfig | None = None
    ) -> None:
        self.corpus, self.source, self.target, self.max_tokens = corpus, source, target, max_tokens
        end = None if config is None else config.source_end
        self.start = [] if config is None else list(config.source_start)
        self.end = [source.eos_id] if end is None else list(end)
        self.report, self.fingerprint = Report(corpus.name), Fingerprint()
        self._tokens, self._unknown = [0, 0], [0, 0]  # counts in the sources, and in the targets

    @property
    def unknown(self) -> tuple[float, float]:
        source, target = (n / max(every, 1) for n, every in zip(self._unknown, self._tokens, strict=True))
        return source, target

    def __iter__(self) -> Iterator[Example]:
        self._tokens, self._unknown, self.fingerprint = [0, 0], [0, 0], Fingerprint()
        encoding_report = Report(self.corpus.name)  # of the pairs that the corpus accepted and are rejected here
        pairs = iter(self.corpus)
        while chunk := list(islice(pairs, CHUNK_PAIRS)):
            yield from self._encode(chunk, encoding_report)
        self.report = self.corpus.report.followed_by(encoding_report)

    def _encode(self, chunk: list[Pair], encoding_report: Report) -> Iterator[Example]:
        sources = self.source.encode_batch([pair.source for pair in chunk])
        targets = self.target.encode_batch([pair.target for pair in chunk])
        for pair, source, target in zip(chunk, sources, targets, strict=True):
            if not source or not target:
                encoding_report.reject(pair.line, "empty source" if not source else "empty target")
            elif not self.fits(source, target):
                encoding_report.reject(pair.line, f"over {self.max_tokens} tokens")
            else:
                for side, (ids, tokenizer) in enumerate(((source, self.source), (target, self.target))):
                    self._tokens[side] += len(ids)
                    self._unknown[side] += 0 if tokenizer.unk_id is None else ids.count(tokenizer.unk_id)
                self.fingerprint.add(pair)
                yield self._framed(source, target)

    def fits(self, source: list[int], target: list[int]) -> bool:
        """Return whether both sides fit into the model with the tokens around them."""
        return max(len(self.start) + len(source) + len(self.end), len(target) + 1) <= self.max_tokens

    def _framed(self, source: list[int], target: list[int]) -> Example:
        target_ids = [self.target.sos_id, *target, self.target.eos_id]
        return [*self.start, *source, *self.end], target_ids if self.end else target

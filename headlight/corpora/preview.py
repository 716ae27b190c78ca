"""A preview of a corpus before a model is trained on it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from headlight.corpora.encoded import learn_tokenizers
from headlight.corpora.held_out import MIN_PAIRS
from headlight.corpora.pairs import Corpus, FirstRows, Pair, Report
from transformer.tokenizers import Tokenizer, TokenizerKind

PREVIEW_ROWS = 1_000_000  # a preview reads at most this many rows
SAMPLE_PAIRS = 20_000  # a preview tokenizes at most this many pairs


@dataclass(frozen=True)
class PreviewSide:
    """The statistics of one side of the sample. `lengths` are in tokens per pair, special tokens included."""

    vocabulary: int  # the size of the vocabulary that the tokenizer learned
    lengths: list[int]
    covered: float  # the share of tokens that are not [UNK] in the pairs that the tokenizer did not learn from


@dataclass(frozen=True)
class Preview:
    """A sample of a corpus. `complete` says whether it is the whole corpus.

    `in_all` is the number of pairs of the whole corpus, where only a part was read and the number is known.
    """

    pairs: list[Pair]  # the first pairs
    report: Report
    complete: bool
    source: PreviewSide
    target: PreviewSide
    in_all: int | None = None

    @property
    def count(self) -> int:
        """The number of pairs to train on, as far as it is known."""
        return self.in_all or self.report.accepted

    @property
    def lengths(self) -> tuple[list[int], list[int]]:
        return self.source.lengths, self.target.lengths

    @property
    def tokens(self) -> int:
        """The number of target tokens of a pass, estimated from the sample."""
        return round(self.count * sum(self.target.lengths) / max(len(self.target.lengths), 1))


def preview(
    corpus: Corpus,
    kind: TokenizerKind = "bpe",
    vocabulary: int = 8000,
    separate: bool = False,
    min_frequency: int = 0,
    show: int = 10,
) -> Preview:
    """Read up to PREVIEW_ROWS rows, and tokenize a sample with a tokenizer that learned from nine tenths of it.

    With fewer than `held_out.MIN_PAIRS` pairs, the tokenizer learns from all of them. Raises ValueError where there is
    no usable pair.
    """
    first = FirstRows(corpus, PREVIEW_ROWS)
    pairs = iter(first)
    sample = list(islice(pairs, SAMPLE_PAIRS))
    for _ in pairs:
        pass
    if not sample:
        raise ValueError(f"There is no pair to train on. {first.report}")
    learned = held_out = sample
    if len(sample) >= MIN_PAIRS:
        learned, held_out = [pair for number, pair in enumerate(sample) if number % 10 != 9], sample[9::10]
    source, target = learn_tokenizers(learned, kind, vocabulary, separate, min_frequency)
    return Preview(
        sample[:show],
        first.report,
        first.report.read < PREVIEW_ROWS,
        _side(source, [pair.source for pair in sample], [pair.source for pair in held_out]),
        _side(target, [pair.target for pair in sample], [pair.target for pair in held_out]),
    )


def _side(tokenizer: Tokenizer, texts: list[str], unseen: list[str]) -> PreviewSide:
    lengths = [len(ids) + 1 for ids in tokenizer.encode_batch(texts)]
    ids = [id for line in tokenizer.encode_batch(unseen) for id in line]
    n_known = sum(id != tokenizer.unk_id for id in ids)
    return PreviewSide(tokenizer.vocab_size, lengths, n_known / max(len(ids), 1))

"""Alignment error rates of cross-attention heads and of sums of heads, against gold word alignments.

Och and Ney 2003, "A systematic comparison of various statistical alignment models": for links A of a model, sure gold
links S and possible gold links P, which include S, the rate is 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), each count summed
over the sentences. A head links each target word to the source word with its largest weight, special tokens left out.
The weights of a source word's tokens are summed, and those of a target word's rows averaged: the rows that write the
word, or, shifted by one step, those that read it (Chen et al. 2020, "Accurate word alignment induction from neural
machine translation").

Memory holds the weights of one batch and, for each sentence, counts alone. So each head that is added to a sum takes
another pass over the corpus.

Shapes: B sentences, N sentences of the corpus, H heads, C candidates, V target words, W source words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.atlas.batch import Marks, MeasuredBatch, prepare
from headlight.analysis.atlas.over_corpus import SAMPLE_BATCH_TOKENS, Progress
from headlight.analysis.atlas.reading import PairReading, Reader, SkippedPairs, batches
from headlight.analysis.sites import all_heads, kind_of
from headlight.analysis.why.agreement import RESAMPLES
from headlight.analysis.word_alignment import Head, as_links, strongest_source
from headlight.corpora.pharaoh import GoldSentence, Link, Links
from headlight.corpora.truth import KnownPair
from transformer.checkpoint import Checkpoint
from transformer.taps import Inputs, Site
from transformer.yielding import yield_turn

MAX_SUMMED_HEADS = 8
_RESAMPLES_AT_ONCE = 100


# ---- rates ---------------------------------------------------------------------------------------------------------


def error_counts(links: Collection[Link], gold: Links) -> tuple[int, int]:
    """Return |A ∩ S| + |A ∩ P| and |A| + |S| of a sentence; the error rate is 1 minus their ratio."""
    links = set(links)
    return len(links & gold.sure) + len(links & gold.possible), len(links) + len(gold.sure)


class ErrorRate(NamedTuple):
    """An alignment error rate, and its 95 % interval by a bootstrap over sentences."""

    rate: float
    low: float
    high: float


def error_rates(agreed: np.ndarray, total: np.ndarray) -> list[ErrorRate]:
    """Return the rates of C candidates from the `error_counts` of each sentence, [N, C] each.

    The intervals are between percentiles of RESAMPLES bootstrap rates (Efron 1979); all candidates share the draws.
    """
    count, rng = len(agreed), np.random.default_rng(0)
    resampled = []
    for start in range(0, RESAMPLES, _RESAMPLES_AT_ONCE):
        size = min(_RESAMPLES_AT_ONCE, RESAMPLES - start)
        drawn = rng.integers(0, count, (size, count)) + count * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        resampled.append(1 - (times @ agreed) / (times @ total))
    low, high = np.percentile(np.concatenate(resampled), [2.5, 97.5], axis=0)
    return [ErrorRate(*map(float, rate)) for rate in zip(_rates(agreed, total), low, high, strict=True)]


def _rates(agreed: np.ndarray, total: np.ndarray) -> np.ndarray:
    return 1 - agreed.sum(0) / total.sum(0)


def grow_diagonal(forward: Collection[Link], backward: Collection[Link]) -> set[Link]:
    """Return the links on which both directions agree, and neighbours of those on which one direction does.

    Koehn, Och and Marcu 2003, "Statistical phrase-based translation": starting from the intersection, a link of the
    union is added if it is next to an accepted link, diagonally too, and its source or target word has no link yet.
    """
    links, union = set(forward) & set(backward), set(forward) | set(backward)
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    grown = True
    while grown:
        grown = False
        for source, target in sorted(links):
            for near in ((source + i, target + j) for i in (-1, 0, 1) for j in (-1, 0, 1)):
                if near in union and (near[0] not in sources or near[1] not in targets):
                    links.add(near)
                    sources.add(near[0])
                    targets.add(near[1])
                    grown = True
    return links


# ---- a model over the sentences -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Scored:
    """The `error_counts` of C candidates in each of N sentences that have gold, and their links where asked for."""

    indices: np.ndarray  # [N], of the sentences in the corpus, sorted
    agreed: np.ndarray  # [N, C]
    total: np.ndarray  # [N, C]
    links: dict[int, list[set[Link]]]  # by index, for each candidate

    def only(self, indices: np.ndarray) -> _Scored:
        rows = np.isin(self.indices, indices)
        return _Scored(self.indices[rows], self.agreed[rows], self.total[rows], self.links)


Combine = Callable[[Tensor], Tensor]  # [2 (written, read), B, H, V, W] -> the summed weights [C, B, V, W]


class _Scorer:
    """A model and the sentences that its heads are scored on."""

    def __init__(
        self, checkpoint: Checkpoint, sentences: Callable[[], Iterable[GoldSentence]], progress: Progress
    ) -> None:
        self.checkpoint, self.sentences, self.progress = checkpoint, sentences, progress
        model = checkpoint.model
        self.heads = [(site.layer, head) for site, head in all_heads(model) if kind_of(site) == "cross"]
        self.layers = sorted({layer for layer, _ in self.heads})
        self.count = 0  # sentences of the corpus
        self.read = 0  # sentences that all passes read, together

    def first_heads(self) -> list[tuple[Head, ...]]:
        """Return the first n heads of each layer, for every n: CTranslate2's translator can use only such sets."""
        by_layer = [[head for head in self.heads if head[0] == layer] for layer in self.layers]
        return [tuple(heads[:count]) for heads in by_layer for count in range(1, len(heads) + 1)]

    def score(self, combine: Combine, among: np.ndarray | None = None, with_links: bool = False) -> _Scored:
        """Count the errors of the candidates from `combine`, in the sentences with the indices `among`, or in all."""
        rows: list[tuple[int, np.ndarray, np.ndarray]] = []
        links: dict[int, list[set[Link]]] = {}
        chosen = None if among is None else set(among.tolist())
        model, padded = self.checkpoint.model, self.checkpoint.model.config.padding_mask == "applied"
        # Only other measures need the marks of `prepare`; here a special token is one that belongs to no word.
        tokenizers = self.checkpoint.source_tokenizer, self.checkpoint.target_tokenizer
        source, target = (Marks(*np.zeros((2, tokenizer.vocab_size), bool)) for tokenizer in tokenizers)
        for chunk, gold in self._chunks():
            readings = [reading for reading in chunk if chosen is None or reading.index in chosen]
            for batch_readings in batches(readings, SAMPLE_BATCH_TOKENS, padded):
                batch = prepare(batch_readings, model.config, source, target, model.output.weight.device)
                linked = strongest_source(combine(self._word_weights(batch)))  # [C, B, V]
                counts = _counts(linked, batch, [gold[reading.index] for reading in batch_readings])
                rows += zip(batch.indices.tolist(), *counts, strict=True)
                if with_links:
                    by_sentence = linked.cpu().numpy().swapaxes(0, 1)  # [B, C, V]
                    for reading, candidates in zip(batch_readings, by_sentence, strict=True):
                        links[reading.index] = [as_links(candidate) for candidate in candidates]
                self.read += len(batch_readings)
                self.progress(self.read)
        if not rows:
            return _Scored(np.zeros(0, int), np.zeros((0, 1), int), np.zeros((0, 1), int), links)
        rows.sort(key=lambda row: row[0])
        indices, agreed, total = (np.array(column) for column in zip(*rows, strict=True))
        return _Scored(indices, agreed, total, links)

    def _chunks(self) -> Iterator[tuple[list[PairReading], dict[int, Links]]]:
        """Yield the readings that have gold, with words numbered as in the gold, and the gold links by index."""
        sentences: dict[int, GoldSentence] = {}

        def pairs() -> Iterator[KnownPair]:
            for index, sentence in enumerate(self.sentences()):
                sentences[index] = sentence
                self.count = index + 1
                yield sentence.pair

        reader = Reader(
            self.checkpoint.model.config, self.checkpoint.source_tokenizer, self.checkpoint.target_tokenizer
        )
        for chunk in reader.chunks(pairs(), SkippedPairs()):
            known = [reading for reading in chunk if reading.source_words is not None]
            yield (
                [_by_gold_words(reading, sentences[reading.index]) for reading in known],
                {reading.index: sentences[reading.index].links for reading in known},
            )
            sentences.clear()

    def _word_weights(self, batch: MeasuredBatch) -> Tensor:
        """Return the weight of each source word for each target word, without and with the shift: [2, B, H, V, W]."""
        context = batch.contexts["cross"]
        assert context.words is not None and context.writes is not None and context.reads is not None
        words, rows = context.words, (context.writes.rows, context.reads.rows)
        count = 1 + max(max(reading.source_words or ()) for reading in batch.readings)
        real = words[..., :count]  # without the special tokens, which are words of their own behind them
        weights: list[Tensor] = []

        def tap(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
            if kind_of(site) == "cross":
                heads = [head for layer, head in self.heads if layer == site.layer]
                by_word = pattern[:, heads].float() @ real[:, None]
                # Sums over a word's rows rank the source words as their means would.
                weights.append(torch.stack([of_words[:, None] @ by_word for of_words in rows]))
            return pattern

        model = self.checkpoint.model
        yield_turn()
        with torch.inference_mode():
            model.decode(batch.tgt[:, :-1], model.encode(batch.src), batch.src, tap=tap)
        return torch.cat(weights, 2)


def _by_gold_words(reading: PairReading, sentence: GoldSentence) -> PairReading:
    assert reading.source_words is not None and reading.target_words is not None
    # A special token is of word -1, which indexes the -1 that is appended here.
    source, target = (*sentence.source_words, -1), (*sentence.target_words, -1)
    return replace(
        reading,
        source_words=[source[word] for word in reading.source_words],
        target_words=[target[word] for word in reading.target_words],
    )


def _counts(linked: Tensor, batch: MeasuredBatch, gold: Sequence[Links]) -> tuple[np.ndarray, np.ndarray]:
    """Return the `error_counts`, [B, C] each, of the source words `linked` to the target words, [C, B, V]."""
    targets = batch.contexts["cross"].writes
    assert targets is not None
    sure = torch.zeros_like(targets.right)
    for b, links in enumerate(gold):
        for source, target in links.sure:
            sure[b, target, source] = True
    hits = (sure.int() + targets.right.int()).expand(len(linked), -1, -1, -1)  # [C, B, V, W]
    has_link = linked >= 0
    agreed = (hits.gather(-1, linked.clamp(min=0)[..., None])[..., 0] * has_link).sum(-1)
    total = has_link.sum(-1) + torch.tensor([len(links.sure) for links in gold], device=linked.device)
    return agreed.T.cpu().numpy(), total.T.cpu().numpy()


# ---- choice --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """Heads whose weights are summed: chosen by their rate on the first half, tested on the second."""

    heads: tuple[Head, ...]
    shifted: bool  # by the rows that read the word, rather than those that write it
    first_half: float
    second_half: ErrorRate


@dataclass(frozen=True)
class AlignmentErrors:
    """The alignment error rates of a model."""

    first_half: int  # sentences
    second_half: int
    left_out: int  # sentences that are too long, or whose words the tokens don't spell
    heads: dict[Head, tuple[ErrorRate, ErrorRate]]  # on both halves together: without the shift, with it
    best_head: Choice
    best_sum: Choice
    unshifted_sum: Choice  # the best sum without the shift
    first_heads: Choice  # the best sum of the first heads of one layer, without the shift
    reverse_sum: Choice | None = None  # the best sum of the reverse model, with the layers and heads of that model
    symmetrised: dict[str, ErrorRate] | None = None  # "intersection" and "grow-diagonal", on the second half


def alignment_errors(
    checkpoint: Checkpoint,
    sentences: Callable[[], Iterable[GoldSentence]],
    most: int | None = None,
    reverse: Checkpoint | None = None,
    progress: Progress = lambda read: None,
) -> AlignmentErrors:
    """Return the error rates of every head over the first `most` sentences, and of sums of heads.

    Heads are added to a sum one by one, each time the one that lowers the rate of the first half most, until none does
    or there are MAX_SUMMED_HEADS. With a `reverse` model, the links of the best sums of both models are symmetrised.
    `progress` is called with the number of sentences read so far, in all passes together.
    Raises ValueError for fewer than two sentences that have links and words that the model can read.
    """
    assert not checkpoint.model.training, "dropout would change the attention"
    forward = _Scorer(checkpoint, lambda: islice(sentences(), most), progress)
    singles = _score_singles(forward)
    indices, backward = singles.indices, None
    if reverse is not None:
        backward = _Scorer(
            reverse,
            lambda: (sentence.reversed for sentence in islice(sentences(), most)),
            lambda read: progress(forward.read + read),
        )
        backward_singles = _score_singles(backward)
        indices = np.intersect1d(singles.indices, backward_singles.indices)
        singles, backward_singles = singles.only(indices), backward_singles.only(indices)
    if len(indices) < 2:
        raise ValueError(
            "At least two sentences are needed that the model can read and whose words its tokens spell, but there "
            f"are {len(indices)}; check that the files have the model's languages in its order."
        )
    halves = indices[: (len(indices) + 1) // 2], indices[(len(indices) + 1) // 2 :]
    result, links = _choose_heads(forward, singles, halves)
    if backward is None:
        return result
    forward.progress = lambda read: progress(read + backward.read)
    reverse_result, reverse_links = _choose_heads(backward, backward_singles, halves)
    gold = _gold_by_index(sentences, halves[1])
    both = {
        index: (links[index], {(source, target) for target, source in reverse_links[index]})
        for index in halves[1].tolist()
    }
    symmetrised = {}
    for name, combined in (("intersection", set.intersection), ("grow-diagonal", grow_diagonal)):
        counts = np.array([error_counts(combined(*links), gold[index]) for index, links in both.items()])
        (symmetrised[name],) = error_rates(counts[:, :1], counts[:, 1:])
    return replace(result, reverse_sum=reverse_result.best_sum, symmetrised=symmetrised)


def _gold_by_index(sentences: Callable[[], Iterable[GoldSentence]], indices: np.ndarray) -> dict[int, Links]:
    chosen = set(indices.tolist())
    numbered = enumerate(islice(sentences(), int(indices.max()) + 1))
    return {index: sentence.links for index, sentence in numbered if index in chosen}


def _score_singles(scorer: _Scorer) -> _Scored:
    """Score each head without and with the shift, then the first heads of each layer without it."""
    numbers = {head: number for number, head in enumerate(scorer.heads)}
    prefixes = [[numbers[head] for head in heads] for heads in scorer.first_heads()]

    def combine(weights: Tensor) -> Tensor:
        sums = torch.stack([weights[0][:, heads].sum(1) for heads in prefixes])
        return torch.cat([_by_candidate(weights), sums])

    return scorer.score(combine)


def _by_candidate(weights: Tensor) -> Tensor:
    """Return the weights of heads [2, B, H, V, W] as candidates of one head each, [2 * H, B, V, W]."""
    return weights.transpose(1, 2).flatten(0, 1)


def _choose_heads(
    scorer: _Scorer, singles: _Scored, halves: tuple[np.ndarray, np.ndarray]
) -> tuple[AlignmentErrors, dict[int, set[Link]]]:
    """Choose heads on the first half and test them on the second.

    Returns the rates, and the links of the best sum in the second half by index.
    """
    heads, count = scorer.heads, len(scorer.heads)
    whole = error_rates(singles.agreed[:, : 2 * count], singles.total[:, : 2 * count])
    first, second = (singles.only(half) for half in halves)
    rates = _rates(first.agreed, first.total)
    tested = error_rates(second.agreed, second.total)

    def choice(column: int, heads: tuple[Head, ...], shifted: bool) -> Choice:
        return Choice(heads, shifted, float(rates[column]), tested[column])

    best = int(rates[: 2 * count].argmin())
    prefix = int(rates[2 * count :].argmin())
    sums, links = _greedy_sums(scorer, rates[: 2 * count].reshape(2, count), halves)
    best_shift = min((0, 1), key=lambda shift: sums[shift].first_half)
    errors = AlignmentErrors(
        len(halves[0]),
        len(halves[1]),
        scorer.count - len(halves[0]) - len(halves[1]),
        {head: (whole[number], whole[count + number]) for number, head in enumerate(heads)},
        choice(best, (heads[best % count],), best >= count),
        sums[best_shift],
        sums[0],
        choice(2 * count + prefix, scorer.first_heads()[prefix], False),
    )
    return errors, {index: by_shift[best_shift] for index, by_shift in links.items()}


def _greedy_sums(
    scorer: _Scorer, single_rates: np.ndarray, halves: tuple[np.ndarray, np.ndarray]
) -> tuple[list[Choice], dict[int, list[set[Link]]]]:
    """Grow a sum of heads greedily on the first half, once without the shift (0) and once with it (1).

    `single_rates` [2, H] are the rates of single heads on the first half. Returns both sums, and their links in the
    second half by index.
    """
    count = len(scorer.heads)
    sets = [[int(of_heads.argmin())] for of_heads in single_rates]
    rates = [float(of_heads.min()) for of_heads in single_rates]
    growing = {0, 1}

    def summed(weights: Tensor) -> Tensor:
        return torch.stack([weights[shift][:, heads].sum(1) for shift, heads in enumerate(sets)])

    for _ in range(min(MAX_SUMMED_HEADS, count) - 1):
        scored = scorer.score(lambda weights: _by_candidate(weights + summed(weights)[:, :, None]), halves[0])
        with_each = _rates(scored.agreed, scored.total).reshape(2, count)
        for shift in sorted(growing):
            with_each[shift, sets[shift]] = np.inf
            added = int(with_each[shift].argmin())
            if with_each[shift, added] < rates[shift]:
                sets[shift].append(added)
                rates[shift] = float(with_each[shift, added])
            else:
                growing.discard(shift)
        if not growing:
            break
    scored = scorer.score(summed, halves[1], with_links=True)
    tested = error_rates(scored.agreed, scored.total)
    heads = [tuple(scorer.heads[number] for number in numbers) for numbers in sets]
    return [Choice(heads[shift], bool(shift), rates[shift], tested[shift]) for shift in (0, 1)], scored.links

"""Alignment error rates of cross-attention heads and of sums of heads, against gold word alignments.

Och and Ney 2003, "A systematic comparison of various statistical alignment models": of found links A, sure links S and
possible links P, which include S, the rate is 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), summed over the sentences. A head
links each target word to the source word with its largest weight, special tokens left out: the weights of a source
word's tokens are summed, those of a target word's rows averaged. The rows are those that write the target word, or with
the shift by one step those that read it (Chen et al. 2020, "Accurate word alignment induction from neural machine
translation").

Only counts are held for a sentence, and the weights of a batch; each number of summed heads takes another pass.

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

from headlight.analysis.aligned import Groups, plain_words, spelled
from headlight.analysis.atlas.batch import Marks, MeasuredBatch, prepare
from headlight.analysis.atlas.over_corpus import SAMPLE_BATCH_TOKENS, Progress
from headlight.analysis.atlas.reading import PairReading, Reader, SkippedPairs, batches
from headlight.analysis.sites import all_heads, kind_of
from headlight.analysis.why.agreement import RESAMPLES
from headlight.corpora.pharaoh import GoldSentence, Link, Links
from headlight.corpora.truth import KnownPair
from transformer.checkpoint import Checkpoint
from transformer.taps import Inputs, Site
from transformer.trace import Tokens, Trace
from transformer.yielding import yield_turn

MAX_SUMMED_HEADS = 8
_DRAWN_AT_ONCE = 100  # resamples of the bootstrap
Head = tuple[int, int]  # layer and head of cross-attention, from 0


# ---- rates ---------------------------------------------------------------------------------------------------------


def error_counts(found: Collection[Link], gold: Links) -> tuple[int, int]:
    """Return |A ∩ S| + |A ∩ P| and |A| + |S| of a sentence, of which the error rate is 1 minus the ratio."""
    links = set(found)
    return len(links & gold.sure) + len(links & gold.possible), len(links) + len(gold.sure)


class ErrorRate(NamedTuple):
    """An alignment error rate, and its 95 % interval by a bootstrap over sentences."""

    rate: float
    low: float
    high: float


def error_rates(agreed: np.ndarray, total: np.ndarray) -> list[ErrorRate]:
    """Return the rates of C candidates from the `error_counts` of each sentence, [N, C] each.

    The interval is that of the percentiles of RESAMPLES bootstrap rates (Efron 1979); all candidates share the draws.
    """
    count, rng = len(agreed), np.random.default_rng(0)
    drawn = []
    for start in range(0, RESAMPLES, _DRAWN_AT_ONCE):
        size = min(_DRAWN_AT_ONCE, RESAMPLES - start)
        rows = rng.integers(0, count, (size, count)) + count * np.arange(size)[:, None]
        times = np.bincount(rows.ravel(), minlength=size * count).reshape(size, count)
        drawn.append(1 - (times @ agreed) / (times @ total))
    low, high = np.percentile(np.concatenate(drawn), [2.5, 97.5], axis=0)
    return [ErrorRate(*map(float, of)) for of in zip(_rates(agreed, total), low, high, strict=True)]


def _rates(agreed: np.ndarray, total: np.ndarray) -> np.ndarray:
    return 1 - agreed.sum(0) / total.sum(0)


def grow_diagonal(forward: Collection[Link], backward: Collection[Link]) -> set[Link]:
    """Return the links on which both directions agree, grown by neighbours that one direction has.

    Koehn, Och and Marcu 2003, "Statistical phrase-based translation": a link of the union next to one that is there,
    diagonally too, is added where its source or its target word has no link yet.
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
    """The counts of candidates for each sentence that has gold, and their links where those were wanted."""

    indices: np.ndarray  # [N], in the corpus, sorted
    agreed: np.ndarray  # [N, C]
    total: np.ndarray  # [N, C]
    links: dict[int, list[set[Link]]]  # by index, of each candidate

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
        self.count, self.read = 0, 0  # sentences of the corpus, and those read in all passes

    def first_heads(self) -> list[tuple[Head, ...]]:
        """Return the first heads of each layer, as many as there are: CTranslate2's translator can use only those."""
        of_layer = [[head for head in self.heads if head[0] == layer] for layer in self.layers]
        return [tuple(heads[:count]) for heads in of_layer for count in range(1, len(heads) + 1)]

    def score(self, combine: Combine, among: np.ndarray | None = None, with_links: bool = False) -> _Scored:
        """Score the candidates that `combine` makes over the sentences of the indices `among`; all if absent."""
        rows: list[tuple[int, np.ndarray, np.ndarray]] = []
        links: dict[int, list[set[Link]]] = {}
        wanted = None if among is None else set(among.tolist())
        model, padded = self.checkpoint.model, self.checkpoint.model.config.padding_mask == "applied"
        # `prepare` marks special tokens for other measures; here they are those that belong to no word.
        source, target = (
            Marks(none, none)
            for none in (
                np.zeros(tokenizer.vocab_size, bool)
                for tokenizer in (self.checkpoint.source_tokenizer, self.checkpoint.target_tokenizer)
            )
        )
        for chunk, gold in self._chunks():
            readings = [reading for reading in chunk if wanted is None or reading.index in wanted]
            for some in batches(readings, SAMPLE_BATCH_TOKENS, padded):
                batch = prepare(some, model.config, source, target, model.output.weight.device)
                chosen = _choose(combine(self._word_weights(batch)))  # [C, B, V]
                counts = _counts(chosen, batch, [gold[reading.index] for reading in some])
                rows += zip(batch.indices.tolist(), *counts, strict=True)
                if with_links:
                    found = chosen.cpu().numpy()
                    links |= {reading.index: [_links(of[b]) for of in found] for b, reading in enumerate(some)}
                self.read += len(some)
                self.progress(self.read)
        if not rows:
            return _Scored(np.zeros(0, int), np.zeros((0, 1), int), np.zeros((0, 1), int), links)
        rows.sort(key=lambda row: row[0])
        indices, agreed, total = (np.array(column) for column in zip(*rows, strict=True))
        return _Scored(indices, agreed, total, links)

    def _chunks(self) -> Iterator[tuple[list[PairReading], dict[int, Links]]]:
        """Yield the readings that have gold, by its words, with the links by index."""
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
                # A sum over the rows orders the source words as the mean does.
                weights.append(torch.stack([of[:, None] @ by_word for of in rows]))
            return pattern

        model = self.checkpoint.model
        yield_turn()
        with torch.inference_mode():
            model.decode(batch.tgt[:, :-1], model.encode(batch.src), batch.src, tap=tap)
        return torch.cat(weights, 2)


def _by_gold_words(reading: PairReading, sentence: GoldSentence) -> PairReading:
    assert reading.source_words is not None and reading.target_words is not None
    source, target = (*sentence.source_words, -1), (*sentence.target_words, -1)  # at -1, where special tokens point
    return replace(
        reading,
        source_words=[source[unit] for unit in reading.source_words],
        target_words=[target[unit] for unit in reading.target_words],
    )


def _choose(weights: Tensor) -> Tensor:
    """Return the source word with the largest weight for each target word, [C, B, V]; -1 where all weights are 0."""
    largest, chosen = weights.max(-1)
    return torch.where(largest > 0, chosen, -1)


def _counts(chosen: Tensor, batch: MeasuredBatch, gold: Sequence[Links]) -> tuple[np.ndarray, np.ndarray]:
    """Return the `error_counts` of the chosen links [C, B, V], as [B, C] each."""
    targets = batch.contexts["cross"].writes
    assert targets is not None
    sure = torch.zeros_like(targets.right)
    for b, links in enumerate(gold):
        for source, target in links.sure:
            sure[b, target, source] = True
    hits = (sure.int() + targets.right.int()).expand(len(chosen), -1, -1, -1)  # [C, B, V, W]
    made = chosen >= 0
    agreed = (hits.gather(-1, chosen.clamp(min=0)[..., None])[..., 0] * made).sum(-1)
    total = made.sum(-1) + torch.tensor([len(links.sure) for links in gold], device=chosen.device)
    return agreed.T.cpu().numpy(), total.T.cpu().numpy()


def _links(chosen: np.ndarray) -> set[Link]:
    return {(int(source), target) for target, source in enumerate(chosen) if source >= 0}


# ---- a sentence ----------------------------------------------------------------------------------------------------


class WordAlignment(NamedTuple):
    """The words of a sentence and of its translation, and the links between them."""

    source: list[str]
    target: list[str]
    links: list[Link]


def word_alignment(trace: Trace, heads: Sequence[Head], shifted: bool = False) -> WordAlignment:
    """Return the links of the cross-attention `heads`, whose weights are summed, in a sentence; `shifted` as in Choice.

    Letters are words where every token is a letter. A target word in whose rows the heads give every source word 0 has
    no link. Raises ValueError for a trace without cross-attention.
    """
    patterns = trace.pattern("cross")
    source, target = (_words_or_letters(tokens) for tokens in (trace.source, trace.target))
    words, rows = np.zeros((len(trace.source), len(source))), np.zeros((len(target), patterns.shape[2]))
    for number, tokens in enumerate(source):
        words[tokens, number] = 1
    for number, tokens in enumerate(target):
        read = [token if shifted else token - 1 for token in tokens]  # row t writes token t + 1
        rows[number, [row for row in read if 0 <= row < rows.shape[1]]] = 1
    summed = np.sum([patterns[layer, head] for layer, head in heads], 0, dtype=np.float64)
    links: set[Link] = set()
    if source and target:
        links = _links(_choose(torch.from_numpy(rows @ summed @ words)).numpy())
    return WordAlignment(spelled(trace.source, source), spelled(trace.target, target), sorted(links))


def _words_or_letters(tokens: Tokens) -> Groups:
    words = plain_words(tokens)
    single = [[token] for word in words for token in word]
    return single if all(len(tokens.labels[token]) == 1 for (token,) in single) else words


# ---- choice --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """Heads whose weights are summed: chosen by their rate on the first half, tested on the second."""

    heads: tuple[Head, ...]
    shifted: bool  # their rows are those that read the word
    first_half: float
    second_half: ErrorRate


@dataclass(frozen=True)
class AlignmentErrors:
    """The alignment error rates of a model."""

    first_half: int  # sentences
    second_half: int
    left_out: int  # sentences that are too long, or whose words the tokens don't spell
    heads: dict[Head, tuple[ErrorRate, ErrorRate]]  # on both halves; without and with the shift
    best_head: Choice
    best_sum: Choice
    unshifted_sum: Choice  # the best without the shift
    first_heads: Choice  # the best of the first heads of one layer, without the shift
    reverse_sum: Choice | None = None  # of the reverse model, whose layers and heads it names
    symmetrised: dict[str, ErrorRate] | None = None  # on the second half: "intersection" and "grow-diagonal"


def alignment_errors(
    checkpoint: Checkpoint,
    sentences: Callable[[], Iterable[GoldSentence]],
    most: int | None = None,
    reverse: Checkpoint | None = None,
    progress: Progress = lambda read: None,
) -> AlignmentErrors:
    """Return the error rates of every head over the first `most` sentences, and of sums of heads.

    Heads are added to a sum one by one, each time the one that lowers the rate of the first half most, until none does
    or there are MAX_SUMMED_HEADS. The links of a `reverse` model's own sum are combined with them.
    `progress` hears how many sentences were read in all passes.
    Raises ValueError where fewer than two sentences have links and words that the model reads.
    """
    assert not checkpoint.model.training, "dropout would change what the heads look at"
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
    result, links = _chosen(forward, singles, halves)
    if backward is None:
        return result
    forward.progress = lambda read: progress(read + backward.read)
    reverse_result, reverse_links = _chosen(backward, backward_singles, halves)
    gold = _gold_by_index(sentences, halves[1])
    both = {
        index: (links[index], {(source, target) for target, source in reverse_links[index]})
        for index in halves[1].tolist()
    }
    symmetrised = {}
    for name, combined in (("intersection", set.intersection), ("grow-diagonal", grow_diagonal)):
        counts = np.array([error_counts(combined(*of), gold[index]) for index, of in both.items()])
        (symmetrised[name],) = error_rates(counts[:, :1], counts[:, 1:])
    return replace(result, reverse_sum=reverse_result.best_sum, symmetrised=symmetrised)


def _gold_by_index(sentences: Callable[[], Iterable[GoldSentence]], indices: np.ndarray) -> dict[int, Links]:
    wanted = set(indices.tolist())
    chosen = enumerate(islice(sentences(), int(indices.max()) + 1))
    return {index: sentence.links for index, sentence in chosen if index in wanted}


def _score_singles(scorer: _Scorer) -> _Scored:
    """Score each head without and with the shift, then the first heads of each layer without it."""
    numbers = {head: number for number, head in enumerate(scorer.heads)}
    prefixes = [[numbers[head] for head in heads] for heads in scorer.first_heads()]

    def combine(weights: Tensor) -> Tensor:
        sums = torch.stack([weights[0][:, heads].sum(1) for heads in prefixes])
        return torch.cat([_by_candidate(weights), sums])

    return scorer.score(combine)


def _by_candidate(weights: Tensor) -> Tensor:
    """Return the weights of single heads [2, B, H, V, W] as candidates [2 * H, B, V, W]."""
    return weights.transpose(1, 2).flatten(0, 1)


def _chosen(
    scorer: _Scorer, singles: _Scored, halves: tuple[np.ndarray, np.ndarray]
) -> tuple[AlignmentErrors, dict[int, set[Link]]]:
    """Return the rates, and the links of the best sum in the second half by index."""
    heads, count = scorer.heads, len(scorer.heads)
    whole = error_rates(singles.agreed[:, : 2 * count], singles.total[:, : 2 * count])
    first, second = (singles.only(half) for half in halves)
    rates = _rates(first.agreed, first.total)
    tested = error_rates(second.agreed, second.total)

    def choice(column: int, chosen: tuple[Head, ...], shifted: bool) -> Choice:
        return Choice(chosen, shifted, float(rates[column]), tested[column])

    best = int(rates[: 2 * count].argmin())
    prefix = int(rates[2 * count :].argmin())
    sums, links = _greedy_sums(scorer, rates[: 2 * count].reshape(2, count), halves)
    chosen = min((0, 1), key=lambda shifted: sums[shifted].first_half)
    errors = AlignmentErrors(
        len(halves[0]),
        len(halves[1]),
        scorer.count - len(halves[0]) - len(halves[1]),
        {head: (whole[number], whole[count + number]) for number, head in enumerate(heads)},
        choice(best, (heads[best % count],), best >= count),
        sums[chosen],
        sums[0],
        choice(2 * count + prefix, scorer.first_heads()[prefix], False),
    )
    return errors, {index: of[chosen] for index, of in links.items()}


def _greedy_sums(
    scorer: _Scorer, single_rates: np.ndarray, halves: tuple[np.ndarray, np.ndarray]
) -> tuple[list[Choice], dict[int, list[set[Link]]]]:
    """Return the sums without and with the shift, and the links of both in the second half by index.

    `single_rates` [2, H] are those of the first half.
    """
    count = len(scorer.heads)
    sets = [[int(of.argmin())] for of in single_rates]
    rates = [float(of.min()) for of in single_rates]
    growing = {0, 1}
    for _ in range(min(MAX_SUMMED_HEADS, count) - 1):

        def add_each(weights: Tensor) -> Tensor:
            bases = torch.stack([weights[way][:, heads].sum(1, keepdim=True) for way, heads in enumerate(sets)])
            return _by_candidate(weights + bases)

        scored = scorer.score(add_each, halves[0])
        with_each = _rates(scored.agreed, scored.total).reshape(2, count)
        for way in sorted(growing):
            with_each[way, sets[way]] = np.inf
            added = int(with_each[way].argmin())
            if with_each[way, added] < rates[way]:
                sets[way].append(added)
                rates[way] = float(with_each[way, added])
            else:
                growing.discard(way)
        if not growing:
            break

    def both(weights: Tensor) -> Tensor:
        return torch.stack([weights[way][:, heads].sum(1) for way, heads in enumerate(sets)])

    scored = scorer.score(both, halves[1], with_links=True)
    tested = error_rates(scored.agreed, scored.total)
    chosen = [tuple(scorer.heads[number] for number in numbers) for numbers in sets]
    return [Choice(chosen[way], bool(way), rates[way], tested[way]) for way in (0, 1)], scored.links

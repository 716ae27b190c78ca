"""BLEU and chrF of slices, with bootstrap intervals and a paired test of two models, computed by sacreBLEU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import sacrebleu
from sacrebleu.significance import PairedTest

from headlight.slices.kinds import Slice
from transformer.yielding import yield_turn

RESAMPLES = 1000  # of the bootstrap (Koehn 2004), sacreBLEU's default
MIN_INTERVAL_SENTENCES = 20  # resamples of fewer sentences differ too little for an interval


@dataclass(frozen=True)
class Estimate:
    """A score from 0 to 100. In 95 of 100 resamples it is at most `half_width` from `mean`, the mean of all resamples.

    `mean` and `half_width` are None in a slice of fewer than 20 sentences.
    """

    score: float
    mean: float | None = None
    half_width: float | None = None


@dataclass(frozen=True)
class SliceScores:
    """The scores of a slice, one per model: `bleu` and `chrf`.

    With two models, `p_bleu` and `p_chrf` are the p-values of sacreBLEU's paired bootstrap: how probable so large a
    difference is by chance. They are None in a small slice, and where both scores are the same.
    """

    slice: Slice
    bleu: tuple[Estimate, ...]
    chrf: tuple[Estimate, ...]
    p_bleu: float | None = None
    p_chrf: float | None = None

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return len(self.slice.rows)

    @property
    def is_small(self) -> bool:
        """Whether there are fewer than 20 sentences, too few for an interval."""
        return self.sentences < MIN_INTERVAL_SENTENCES


@dataclass(frozen=True)
class SlicedSentence:
    """A sentence with its translations and their sentence chrF, one per model; `line` is its line in the corpus."""

    line: int
    source: str
    references: tuple[str, ...]
    translations: tuple[str, ...]
    chrf: tuple[float, ...]

    @property
    def difference(self) -> float:
        """The chrF of the second model minus that of the first."""
        return self.chrf[1] - self.chrf[0]


@dataclass(frozen=True)
class SlicedEvaluation:
    """The scores of one or two models by sentence and by slice; the first slice has all sentences.

    `left_out` has the reason why a kind of slice does not apply, by kind; `too_long` is the number of pairs that a
    model cannot read.
    """

    sentences: list[SlicedSentence]
    slices: list[SliceScores]
    left_out: dict[str, str]
    too_long: int
    signatures: dict[str, str]  # sacreBLEU's, of BLEU and chrF

    def worst(self, count: int, among: Slice | None = None, model: int = 0) -> list[SlicedSentence]:
        """Return the sentences with the lowest sentence chrF, the lowest first, of all or of a slice.

        Sentences that are translated exactly as a reference are left out.
        """
        wrong = (sentence for sentence in self._of(among) if sentence.chrf[model] < 100)
        return sorted(wrong, key=lambda sentence: sentence.chrf[model])[:count]

    def differing(self, count: int, among: Slice | None = None) -> list[SlicedSentence]:
        """Return the sentences whose chrF differs most between the models, leaving out those where it is equal."""
        differing = (sentence for sentence in self._of(among) if sentence.difference)
        return sorted(differing, key=lambda sentence: -abs(sentence.difference))[:count]

    def _of(self, among: Slice | None) -> list[SlicedSentence]:
        return self.sentences if among is None else [self.sentences[row] for row in among.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as values that JSON can store."""
        facts = asdict(self)
        for scores, entry in zip(self.slices, facts["slices"], strict=True):
            sliced = entry.pop("slice")
            entry |= {"kind": sliced["kind"], "name": sliced["name"], "sentences": scores.sentences}
            entry["rows"] = list(scores.slice.rows)
        return facts

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> SlicedEvaluation:
        """Rebuild an evaluation that `to_dict` returned. Raises KeyError, TypeError or ValueError for anything else."""
        count = len(facts["sentences"])

        def scores(entry: Mapping[str, Any]) -> SliceScores:
            rows = tuple(map(int, entry["rows"]))
            if any(not 0 <= row < count for row in rows):
                raise ValueError("A slice has a sentence that is not there.")
            bleu, chrf = (tuple(Estimate(**of_model) for of_model in entry[metric]) for metric in ("bleu", "chrf"))
            sliced = Slice(str(entry["kind"]), str(entry["name"]), rows)
            return SliceScores(sliced, bleu, chrf, entry["p_bleu"], entry["p_chrf"])

        def sentence(entry: Mapping[str, Any]) -> SlicedSentence:
            several = (tuple(entry[name]) for name in ("references", "translations", "chrf"))
            return SlicedSentence(int(entry["line"]), str(entry["source"]), *several)

        sentences = [sentence(entry) for entry in facts["sentences"]]
        slices = [scores(entry) for entry in facts["slices"]]
        return cls(sentences, slices, dict(facts["left_out"]), int(facts["too_long"]), dict(facts["signatures"]))


def sentence_chrf(translations: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Return the sentence-level chrF of each translation."""
    metric, scores = sacrebleu.metrics.CHRF(), list[float]()
    for translation, right in zip(translations, references, strict=True):
        if not len(scores) % 100:
            yield_turn()
        scores.append(metric.sentence_score(translation, right).score)
    return scores


def score_slice(
    sliced: Slice, translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> tuple[SliceScores, dict[str, str]]:
    """Return the scores of a slice, and sacreBLEU's signatures for BLEU and chrF.

    `translations` [models][sentences] and `references` [sentences][references] are those of the whole data set.
    """
    written = [[of_model[row] for row in sliced.rows] for of_model in translations]
    streams = list(zip_longest(*(references[row] for row in sliced.rows)))
    metrics: dict[str, Any] = {"BLEU": sacrebleu.metrics.BLEU(), "chrF": sacrebleu.metrics.CHRF()}
    estimates: dict[str, tuple[Estimate, ...]] = {}
    p_values: dict[str, float | None] = dict.fromkeys(metrics)
    small = len(sliced.rows) < MIN_INTERVAL_SENTENCES
    if len(written) == 1 or small:
        for name, metric in metrics.items():
            yield_turn()
            estimates[name] = tuple(_estimate(metric, texts, streams, not small) for texts in written)
    else:
        yield_turn()
        names = [str(model) for model in range(len(written))]
        test = PairedTest(list(zip(names, written, strict=True)), metrics, streams, "bs", RESAMPLES)
        tested: dict[str, Any] = test()[1]  # "System" first, then each metric by sacreBLEU's name for it
        for results, name in zip(list(tested.values())[1:], metrics, strict=True):
            estimates[name] = tuple(Estimate(float(of.score), float(of.mean), float(of.ci)) for of in results)
            if results[0].score != results[1].score:  # for equal scores sacreBLEU reports the smallest p-value
                p_values[name] = float(results[1].p_value)
    signatures = {name: str(metric.get_signature()) for name, metric in metrics.items()}
    return SliceScores(sliced, estimates["BLEU"], estimates["chrF"], p_values["BLEU"], p_values["chrF"]), signatures


def _estimate(metric: Any, texts: Sequence[str], streams: Sequence[Sequence[str]], interval: bool) -> Estimate:
    score = metric.corpus_score(texts, streams, RESAMPLES if interval else 1)
    return (
        Estimate(float(score.score), float(score._mean), float(score._ci)) if interval else Estimate(float(score.score))
    )

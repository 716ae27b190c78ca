"""The slices of `evaluate`: scores by length, rare words and more, the worst sentences, and a second model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headlight import checkpoints, folders, hub
from headlight.cli.checkpoints import CHECKPOINT_HELP, printable
from headlight.corpora.pairs import Corpus
from headlight.evaluation import Evaluation, Evaluator
from headlight.formatting import plural, translation_score
from headlight.graphemes import shortened
from headlight.slices import KINDS, Estimate, Slice, SlicedEvaluation, SlicedSentence, SliceScores
from headlight.slices.evaluating import read_columns, require_few, score_slices
from headlight.slices.kinds import ALL, check_kinds, kind_title, slice_sentences
from headlight.slices.scores import MIN_INTERVAL_SENTENCES, RESAMPLES
from transformer.checkpoint import Checkpoint
from transformer.config import check_whole
from transformer.quoting import short

LISTED_SENTENCES = 10  # the default number of worst sentences
MAX_LISTED_SENTENCES = 1000
_NAME_WIDTH = 40

Slices = tuple[list[Slice], dict[str, str]]


def takes_slices(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--pairs", type=int, metavar="N", help="number of pairs, from the start; all if absent")
    text = f"score slices of the data: {', '.join(KINDS)} and column:NAME, separated by commas"
    sub.add_argument("--slices", metavar="KINDS", help=text)
    sub.add_argument("--worst", type=int, metavar="N", help="list the N sentences with the lowest chrF")
    text = f"a second model, tested against the first by sacreBLEU's paired bootstrap: {CHECKPOINT_HELP}"
    sub.add_argument("--against", type=folders.named, metavar="MODEL", help=text)


@dataclass(frozen=True)
class SliceOptions:
    """The slices that the options of `evaluate` ask for; `other` is the second model."""

    kinds: list[str]
    worst: int
    name: str
    other_name: str | None
    other: Checkpoint | None
    beam_size: int
    length_penalty: float

    @property
    def other_checkpoints(self) -> list[Checkpoint]:
        return [] if self.other is None else [self.other]

    def prepare(self, evaluator: Evaluator, corpus: Corpus, checkpoint: Checkpoint) -> Slices:
        """Return the slices, and why others do not apply; called before the slow translation."""
        require_few(evaluator)
        columns = read_columns(corpus, self.kinds, evaluator.lines)
        language, read = str(checkpoint.card.get("source") or ""), checkpoints.read_words(self.name)
        return slice_sentences(evaluator.sources, self.kinds, language=language, read=read, columns=columns)

    def report(self, evaluator: Evaluator, scores: Evaluation, slices: Slices) -> dict[str, Any]:
        """Print the scores of the slices, and return them for JSON."""
        written = [scores.translations]
        for other in self.other_checkpoints:
            written.append(evaluator.translate(other, self.beam_size, self.length_penalty))
        evaluation = score_slices(evaluator, written, *slices)
        names = [short(name) for name in (self.name, self.other_name) if name is not None]
        print("\n".join(["", *_table(evaluation, names), *_listed(evaluation, names, self.worst)]))
        return {"against": self.other_name, "sliced": evaluation.to_dict()}


def request(options: argparse.Namespace) -> SliceOptions | None:
    """Return the requested slices, or None. Raises ValueError for a kind of slices that does not exist."""
    if options.pairs is not None:
        check_whole("--pairs", options.pairs, 1, 100_000_000)
    if options.slices is None and options.worst is None and options.against is None:
        return None
    worst = LISTED_SENTENCES if options.worst is None else options.worst
    check_whole("--worst", worst, 0, MAX_LISTED_SENTENCES)
    kinds = check_kinds(kind.strip() for kind in (options.slices or "").split(",") if kind.strip())
    name, other = options.against, None
    if name is not None:
        folder = str(checkpoints.fetch(name)) if hub.is_address(name) else name
        other = checkpoints.load(folder, options.device, options.dtype)
    return SliceOptions(kinds, worst, options.checkpoint, name, other, options.beam, options.length_penalty)


def _table(evaluation: SlicedEvaluation, names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each slice; with two models, a column for each and the p-value of their difference."""
    columns = ["BLEU", "chrF"] if len(names) == 1 else ["BLEU 1", "BLEU 2", "p", "chrF 1", "chrF 2", "p"]
    if len(names) == 2:
        yield from (f"{number}: {printable(name)}" for number, name in enumerate(names, 1))
    yield "".join([f"{'slice':<{_NAME_WIDTH}}{'sentences':>9}  ", *map(_cell, columns)]).rstrip()
    kind = ALL
    for scores in evaluation.slices:
        if scores.slice.kind != kind:
            kind = scores.slice.kind
            yield printable(kind_title(kind))
        yield _row(scores)
    for kind, reason in evaluation.left_out.items():
        yield f"{printable(kind_title(kind))}: left out, since {printable(reason)}"
    yield f"±: half of the 95\u00a0% interval of {RESAMPLES:,} resamples"
    if any(scores.is_small for scores in evaluation.slices):
        yield f"small: fewer than {MIN_INTERVAL_SENTENCES} sentences, too few for an interval"
    if len(names) == 2:
        yield "p: paired bootstrap; of 20 slices without a real difference, about one has p < 0.05"


def _row(scores: SliceScores) -> str:
    name = shortened(printable(scores.slice.name), _NAME_WIDTH - 4)
    name = name if scores.slice.kind == ALL else f"  {name}"
    cells = [*map(_estimate, scores.bleu), *map(_estimate, scores.chrf)]
    if len(scores.bleu) == 2:
        cells = [*cells[:2], _p_value(scores.p_bleu), *cells[2:], _p_value(scores.p_chrf)]
    row = f"{name:<{_NAME_WIDTH - 1}} {scores.sentences:>9,}  " + "".join(map(_cell, cells))
    return row.rstrip() + ("  small" if scores.is_small else "")


def _cell(text: str) -> str:
    return f"{text:<14}"


def _estimate(estimate: Estimate) -> str:
    half = "" if estimate.half_width is None else f" ± {translation_score(estimate.half_width)}"
    return f"{translation_score(estimate.score)}{half}"


def _p_value(p: float | None) -> str:
    return "–" if p is None else f"{p:.3f}"


def _listed(evaluation: SlicedEvaluation, names: Sequence[str], count: int) -> Iterator[str]:
    """Yield the worst sentences; of two models, the sentences where they differ most."""
    if not count:
        return
    two = len(names) == 2
    sentences = evaluation.differing(count) if two else evaluation.worst(count)
    if not sentences:
        same = "Both models have the same chrF in every sentence." if two else "Every translation is as it should be."
        yield f"\n{same}"
        return
    what = "where the models differ most, by sentence chrF" if two else "with the lowest chrF"
    yield f"\nThe {plural(len(sentences), 'sentence')} {what}"
    for sentence in sentences:
        yield from _sentence(sentence)


def _sentence(sentence: SlicedSentence) -> Iterator[str]:
    yield f"\n{sentence.line:>6}  source  {printable(sentence.source)}"
    yield from (f"{'':<8}right   {printable(reference)}" for reference in sentence.references)
    for translation, chrf in zip(sentence.translations, sentence.chrf, strict=True):
        yield f"{'':<8}{translation_score(chrf):<6}  {printable(translation)}"

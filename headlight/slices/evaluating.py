"""Translate a data set with one or two models, and score its slices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from headlight.corpora.corpora import open_split
from headlight.corpora.files import JsonLines, TableCorpus
from headlight.corpora.pairs import Corpus, FirstRows
from headlight.evaluation import Evaluator
from headlight.slices.kinds import ALL, COLUMN_PREFIX, Slice, check_kinds, slice_sentences
from headlight.slices.scores import SlicedEvaluation, SlicedSentence, score_slice, sentence_chrf
from transformer.decoding.strategies import LENGTH_PENALTY
from transformer.quoting import quoted, short
from transformer.translator import Translator

MAX_SENTENCES = 5_000  # bootstrapping this many takes 0.5 GB
_CHUNK_SENTENCES = 128  # sentences translated between two reports of the progress
_TRANSLATION_SHARE = 0.8  # the share of the progress bar that translating takes

Progress = Callable[[float, str], None]  # share done, from 0 to 1, and what is being done


def evaluate(
    model: Translator,
    corpus: Corpus | str,
    kinds: Iterable[str] = ("length", "negation", "pronouns"),
    *,
    against: Translator | None = None,
    pairs: int | None = None,
    beam_size: int = 5,
    length_penalty: float = LENGTH_PENALTY,
    read: Collection[str] = frozenset(),
    progress: Progress = lambda share, doing: None,
) -> SlicedEvaluation:
    """Translate a data set and score its slices; with `against`, two models on the pairs that both can read.

    `corpus` may be a name as `headlight evaluate --data` takes it, such as "multi30k:en-fr". `kinds` and `read` are
    passed to `slice_sentences`, with the corpus's columns and the source language of the model's card. The first
    `pairs` are read, or all. Raises ValueError for more than 5,000 sentences, and for an unknown kind or column.
    """
    kinds = check_kinds(kinds)
    models = [model] if against is None else [model, against]
    progress(0.0, "Reading the data set")
    evaluator, columns = read_sentences(models, corpus, kinds, pairs)
    translations = translate(models, evaluator, beam_size, length_penalty, progress)
    return score_kinds(model, evaluator, translations, kinds, columns, read, progress)


def read_sentences(
    models: Sequence[Translator], corpus: Corpus | str, kinds: Iterable[str], pairs: int | None
) -> tuple[Evaluator, dict[str, list[str]]]:
    """Return the evaluator of the pairs that all models can read, and the columns that `kinds` name."""
    corpus = open_split(corpus) if isinstance(corpus, str) else corpus
    checkpoints = [model.checkpoint for model in models]
    evaluator = Evaluator.of(checkpoints[0], corpus.name, corpus, checkpoints[1:], pairs)
    require_few(evaluator)
    return evaluator, read_columns(corpus, kinds, evaluator.lines)


def translate(
    models: Sequence[Translator], evaluator: Evaluator, beam_size: int, length_penalty: float, progress: Progress
) -> list[list[str]]:
    """Return the translations, [models][sentences]; reports the first part of the progress."""
    sources, translations = evaluator.sources, []
    order = sorted(range(len(sources)), key=lambda row: len(sources[row]))  # so that batches have similar lengths
    for number, model in enumerate(models):
        texts: dict[int, str] = {}
        for at in range(0, len(order), _CHUNK_SENTENCES):
            rows = order[at : at + _CHUNK_SENTENCES]
            written = model.translate_batch([sources[row] for row in rows], beam_size, length_penalty)
            texts.update((row, translation.text) for row, translation in zip(rows, written, strict=True))
            share = (number + len(texts) / len(sources)) / len(models)
            progress(_TRANSLATION_SHARE * share, f"{len(texts):,} of {len(sources):,} sentences translated")
        translations.append([texts[row] for row in range(len(sources))])
    return translations


def score_kinds(
    model: Translator,
    evaluator: Evaluator,
    translations: Sequence[Sequence[str]],
    kinds: Iterable[str],
    columns: Mapping[str, Sequence[str]],
    read: Collection[str],
    progress: Progress,
) -> SlicedEvaluation:
    """Score the slices of these kinds; reports the last part of the progress."""
    language = str(model.card.get("source") or "")
    slices, left_out = slice_sentences(evaluator.sources, kinds, language=language, read=read, columns=columns)

    def report(share: float, doing: str) -> None:
        progress(_TRANSLATION_SHARE + (1 - _TRANSLATION_SHARE) * share, doing)

    return score_slices(evaluator, translations, slices, left_out, progress=report)


def score_slices(
    evaluator: Evaluator,
    translations: Sequence[Sequence[str]],
    slices: Iterable[Slice],
    left_out: Mapping[str, str] | None = None,
    progress: Progress = lambda share, doing: None,
) -> SlicedEvaluation:
    """Score the translations of an evaluator's sources, one list per model: all of them, and each slice.

    Raises ValueError for more than two models, and for more than 5,000 sentences.
    """
    require_few(evaluator)
    if not 1 <= len(translations) <= 2:
        raise ValueError(f"There are translations of {len(translations)} models; give those of one or two.")
    references = evaluator.references
    chrf = [sentence_chrf(texts, references) for texts in translations]
    every = [Slice(ALL, "all sentences", tuple(range(len(references)))), *slices]
    scores, signatures = [], dict[str, str]()
    for number, sliced in enumerate(every):
        progress(number / len(every), f"slice {number + 1} of {len(every)}")
        score, of_slice = score_slice(sliced, translations, references)
        scores.append(score)
        signatures = signatures or of_slice
    columns = zip(evaluator.lines, evaluator.sources, map(tuple, references), zip(*translations), zip(*chrf))  # noqa: B905
    sentences = [SlicedSentence(*row) for row in columns]
    return SlicedEvaluation(sentences, scores, dict(left_out or {}), evaluator.left_out, signatures)


def require_few(evaluator: Evaluator) -> None:
    """Raise ValueError where there are more sentences than can be sliced."""
    if len(evaluator.sources) > MAX_SENTENCES:
        raise ValueError(
            f"There are {len(evaluator.sources):,} sentences, and slices are made of at most {MAX_SENTENCES:,}; read "
            f"fewer pairs, on the command line with --pairs {MAX_SENTENCES}."
        )


def read_columns(corpus: Corpus, kinds: Iterable[str], lines: Sequence[int]) -> dict[str, list[str]]:
    """Return, for each column that `kinds` name, its value in each line; "" where a line has none.

    Raises ValueError where the corpus is not a table, or lacks the column.
    """
    names = [kind.removeprefix(COLUMN_PREFIX) for kind in kinds if kind.startswith(COLUMN_PREFIX)]
    if isinstance(corpus, FirstRows):
        corpus = corpus.corpus
    if names and not isinstance(corpus, TableCorpus | JsonLines):
        raise ValueError(
            f"{short(corpus.name)} has no column {quoted(names[0])}: only the columns of one .tsv, .csv or .jsonl file "
            "make slices."
        )
    columns = {}
    for name in names:
        assert isinstance(corpus, TableCorpus | JsonLines)
        values, line_numbers, last = dict[int, str](), set(lines), max(lines)
        for line, value in corpus.cells(name):
            if line > last:
                break
            if line in line_numbers:
                values[line] = value
        columns[name] = [values.get(line, "") for line in lines]
    return columns

"""Open any kind of corpus by its spec, the text that a person types (`open_corpus`)."""

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from headlight.corpora.core import CoreSentences
from headlight.corpora.encoded import Encoded
from headlight.corpora.files import JsonLines, TableCorpus, TextPair, everyday_folder, open_table, tatoeba_folder
from headlight.corpora.framed import Framed
from headlight.corpora.generated import TASKS, TOY, Generated, toy_pairs
from headlight.corpora.gold import GoldCorpus
from headlight.corpora.grammars import GRAMMARS
from headlight.corpora.held_out import hold_out
from headlight.corpora.hub import HubDataset, split_names
from headlight.corpora.mixtures import Mixture, is_mixture, weighted_parts
from headlight.corpora.multi30k import Multi30k
from headlight.corpora.pairs import MAX_CHARACTERS, Corpus, Pair, Pairs, Rejected, Report
from transformer.access import require_private
from transformer.quoting import quoted, short

__all__ = [
    "Corpus", "Encoded", "Generated", "GoldCorpus", "HubDataset", "JsonLines", "Mixture", "Multi30k", "Pair", "Pairs",
    "Rejected", "Report", "Splits", "TableCorpus", "TextPair", "hold_out", "open_corpus",
]  # fmt: skip

SPEC_FORMS = (
    "multi30k:en-fr, tatoeba:en-fr, phrases:en-fr, everyday:NAME:en-fr, core:en-fr, slots:en-fr, toy, "
    f"{', '.join([*TASKS, *GRAMMARS])} (then :20000 for that many pairs, :combinations for word combinations "
    "not in training), hub:NAME:SOURCE:TARGET[:CONFIG], FOLDER:en-fr of tables such as "
    "en-fr.train.tsv.gz, FILE.tsv, .csv or .jsonl (:SOURCE:TARGET names its columns), SOURCE_FILE,TARGET_FILE; "
    "mixed as 'tatoeba:en-fr + multi30k:en-fr*2'"
)
SPLIT_NAMES = ("train", "validation", "test", "combinations")  # only grammars have "combinations"
_SIZE = re.compile(r"[1-9][0-9]{0,11}")
_LANGUAGES = re.compile(r"([\w]+)-([\w]+)")
_NAMED_TABLE = re.compile(r"([\w-]+):([\w]+)-([\w]+)")
_CORE = re.compile(r"(\w+-\w+)(?::([1-9][0-9]{0,6}))?")
_PHRASES = Path(__file__).parent / "phrases"


class Splits(NamedTuple):
    train: Corpus
    validation: Corpus | None = None  # None where the corpus has no such split and too few pairs to hold any out
    test: Corpus | None = None


def open_corpus(
    spec: str,
    validation: str | None = None,
    folder: str | Path | None = None,
    max_characters: int = MAX_CHARACTERS,
    seed: int = 0,
) -> Splits:
    """Open the splits of the corpus that `spec` names in one of the forms of SPEC_FORMS.

    `validation` names another corpus to validate on; without one and without a validation split, pairs are held out
    (see `hold_out`). `folder` is where Multi30k lies, `seed` is for generated corpora. Raises ValueError for a spec in
    another form and for a corpus that cannot be opened.
    """
    train, validation_split, test = open_parts(spec, folder, max_characters, seed)
    if validation is not None:
        opened, split, _ = open_parts(validation, folder, max_characters, seed)
        validation_split = opened if split is None else split
    if validation_split is None:
        train, validation_split = hold_out(train)
    return Splits(train, validation_split, test)


def open_parts(
    spec: str, folder: str | Path | None = None, max_characters: int = MAX_CHARACTERS, seed: int = 0
) -> Splits:
    """Open the splits that a corpus has, without reading it; a corpus without splits is all train."""
    splits = _open_mixture(weighted_parts(spec), folder, seed) if is_mixture(spec) else _open_single(spec, folder, seed)
    for corpus in filter(None, splits):
        corpus.max_characters = max_characters
    return splits


def needs_network(spec: str) -> bool:
    """Return whether reading the corpus, or a part of it, needs the network."""
    return any(name.startswith("hub:") for name, _ in weighted_parts(spec))


def modified_at(spec: str) -> tuple[int, ...]:
    """Return when the files of a corpus were last modified, in nanoseconds; 0 for a corpus without files.

    Raises ValueError where this process may not read the files, and OSError where the user may not.
    """
    require_private()
    times = []
    for part in (file for name, _ in weighted_parts(spec) for file in name.split(",")) if spec else ():
        kind = part.partition(":")[0]
        folder = {"tatoeba": tatoeba_folder(), "everyday": everyday_folder(), "slots": everyday_folder()}.get(
            kind, Path(kind)
        )
        path = next((path for path in (Path(part), folder) if path.is_file()), None)
        files = [path] if path else folder.glob("*.tsv*") if kind and folder.is_dir() else []
        times.append(max((file.stat().st_mtime_ns for file in files), default=0))
    return tuple(times)


def _open_single(spec: str, folder: str | Path | None, seed: int) -> Splits:
    """Open the splits of a corpus that is not a mixture."""
    kind, _, argument = spec.partition(":")
    size = int(argument) if _SIZE.fullmatch(argument) else None
    if kind in TASKS and (size or not argument):
        return Splits(Generated(kind, "train", size, seed), Generated(kind, "validation"), Generated(kind, "test"))
    if kind in GRAMMARS and (size or argument in ("", "combinations")):
        grammar = GRAMMARS[kind]
        tested = GoldCorpus(grammar, "combinations" if argument == "combinations" else "test")
        return Splits(GoldCorpus(grammar, "train", size, seed), GoldCorpus(grammar, "validation"), tested)
    if spec == TOY:
        return Splits(Pairs(TOY, toy_pairs()))
    if kind == "multi30k":
        source, _, target = argument.partition("-")
        return Splits(*(Multi30k(folder, source, target, split) for split in ("train", "validation", "test")))
    if kind == "tatoeba" and (pair := _LANGUAGES.fullmatch(argument)):
        return _open_folder(tatoeba_folder(), (pair[1], pair[2]), "Tatoeba")
    if kind == "phrases" and (pair := _LANGUAGES.fullmatch(argument)):
        return Splits(open_table(_PHRASES, "{}-{}.tsv", (pair[1], pair[2]), "Phrase book"))
    if kind == "slots" and (pair := re.fullmatch(rf"{_LANGUAGES.pattern}(?::({_SIZE.pattern}))?", argument)):
        return Splits(Framed(pair[1], pair[2], int(pair[3]) if pair[3] else None, seed))
    if kind == "everyday" and (table := _NAMED_TABLE.fullmatch(argument)):
        name, source, target = table.groups()
        pattern = f"{name}.{{}}-{{}}.tsv"
        return Splits(open_table(everyday_folder(), pattern, (source, target), name))
    if kind == "core" and (core := _CORE.fullmatch(argument)):
        return Splits(CoreSentences(core[1], int(core[2]) if core[2] else None, seed))
    if kind == "hub" and 2 <= argument.count(":") <= 3:
        return _open_hub(*argument.split(":"))
    require_private()
    if (pair := _LANGUAGES.fullmatch(argument)) and Path(kind).is_dir():
        return _open_folder(Path(kind), (pair[1], pair[2]), Path(kind).name)
    return Splits(open_file(spec))


def open_split(spec: str, split: str | None = None, folder: str | None = None) -> Corpus:
    """Open a split of the corpus that `spec` names: by default the test split, or all of a corpus without splits.

    For "validation", pairs are held out where the corpus has no such split (see `hold_out`). Raises ValueError where
    there is no such corpus or split.
    """
    train, validation, test = open_parts(spec, folder)
    if split == "validation" and validation is None:
        validation = hold_out(train)[1]
    parts = dict(zip(SPLIT_NAMES, (train, validation, test, None), strict=True))
    if isinstance(train, GoldCorpus):
        parts["combinations"] = GoldCorpus(train.grammar, "combinations")
    chosen = parts[split] if split else test or validation or train
    if chosen is None:
        names = ", ".join(name for name, corpus in parts.items() if corpus is not None)
        raise ValueError(f"{short(spec)} has no {short(split)} split; choose one of {names}.")
    return chosen


def _open_mixture(parts: list[tuple[str, float]], folder: str | Path | None, seed: int) -> Splits:
    """Open a mixture: train as weighted; validation and test of the parts that have such a split, each once."""
    opened = [_open_single(spec, folder, seed) for spec, _ in parts]
    train = Mixture([(corpora[0], times) for corpora, (_, times) in zip(opened, parts, strict=True)])

    def mixed(split: int) -> Corpus | None:
        having = [corpus for corpora in opened if (corpus := corpora[split]) is not None]
        return Mixture([(corpus, 1.0) for corpus in having]) if having else None

    return Splits(train, mixed(1), mixed(2))


def _open_folder(folder: Path, languages: tuple[str, str], name: str) -> Splits:
    def split(part: str) -> Corpus:
        table = open_table(folder, f"{{}}-{{}}.{part}.tsv", languages, name)
        table.name += f" {part}"
        return table

    def split_or_none(part: str) -> Corpus | None:
        with suppress(ValueError):
            return split(part)
        return None

    return Splits(split("train"), split_or_none("validation"), split_or_none("test"))


def _open_hub(name: str, source: str, target: str, config: str | None = None) -> Splits:
    require_private()
    names = split_names(name, config)
    if "train" not in names:
        raise ValueError(f"The dataset {quoted(name)} has no split 'train'; its splits are {short(', '.join(names))}.")

    def split(*spellings: str) -> Corpus | None:
        matching = [spelling for spelling in spellings if spelling in names]
        if not matching:
            return None
        return HubDataset(name, source, target, matching[0], config=config)

    train = HubDataset(name, source, target, "train", config=config)
    return Splits(train, split("validation", "valid", "val", "dev"), split("test"))


def open_file(spec: str) -> Corpus:
    """Open the corpus in one or two files. Raises ValueError for any other spec, and in a confined process."""
    require_private()
    table = re.fullmatch(r"(.+\.(tsv|csv|jsonl)(?:\.gz)?)(?::([^:]+):([^:]+))?", spec)
    if table:
        path, ending, source, target = table.groups()
        if ending == "jsonl":
            return JsonLines(path, source or "source", target or "target")
        return TableCorpus(path, _column(source or "0"), _column(target or "1"))
    if spec.count(",") == 1:
        source, target = spec.split(",")
        return TextPair(source, target)
    raise ValueError(f"{quoted(spec)} is not a corpus; write {SPEC_FORMS}.")


def _column(text: str) -> int | str:
    return int(text) if text.isdecimal() else text

"""From what a person types to a corpus: `open_corpus`. Every kind of corpus can be imported from here."""

import hashlib
import heapq
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from transformer.access import require_private
from transformer.data.encoded import Encoded
from transformer.data.files import JsonLines, Table, TextPair
from transformer.data.generated import TASKS, Generated
from transformer.data.gold import GoldCorpus
from transformer.data.grammars import GRAMMARS
from transformer.data.hub import HubDataset, split_names
from transformer.data.multi30k import Multi30k
from transformer.data.pairs import MAX_CHARACTERS, Corpus, Pair, Pairs, Rejected, Report
from transformer.quoting import quoted, short

__all__ = [
    "Corpus", "Encoded", "Generated", "GoldCorpus", "HubDataset", "JsonLines", "Multi30k", "Pair", "Pairs", "Rejected",
    "Report", "Splits", "Table", "TextPair", "hold_out", "open_corpus",
]  # fmt: skip

FORMS = (
    "multi30k:en-fr, reverse, copy, dates, english-french, english-hindi (with :combinations to test on combinations "
    "of words that training never has), hub:NAME:SOURCE:TARGET[:CONFIG], "
    "FILE.tsv, FILE.csv or FILE.jsonl (with :SOURCE:TARGET for its columns), or SOURCE_FILE,TARGET_FILE"
)


class Splits(NamedTuple):
    train: Corpus
    validation: Corpus
    test: Corpus | None


def open_corpus(
    spec: str,
    validation: str | None = None,
    folder: str | Path | None = None,
    max_characters: int = MAX_CHARACTERS,
    seed: int = 0,
) -> Splits:
    """The splits of the corpus that `spec` names, in one of the ways that FORMS lists.

    `validation` names another corpus to validate on; without one and without a validation split, pairs are
    held out (see `hold_out`). `folder` is where Multi30k lies, `seed` is for what is generated.
    Raises ValueError when the spec is none of these or the corpus cannot be opened.
    """
    train, own, test = open_parts(spec, folder, max_characters, seed)
    if validation is not None:
        whole, split, _ = open_parts(validation, folder, max_characters, seed)
        own = whole if split is None else split
    if own is None:
        train, own = hold_out(train)
    return Splits(train, own, test)


def open_parts(
    spec: str, folder: str | Path | None = None, max_characters: int = MAX_CHARACTERS, seed: int = 0
) -> tuple[Corpus, Corpus | None, Corpus | None]:
    """Train, validation and test split as they are; a corpus without splits is all train, and nothing is read yet."""
    kind, _, rest = spec.partition(":")
    if spec in TASKS:
        return Generated(spec, "train", seed=seed), Generated(spec, "validation"), Generated(spec, "test")
    if kind in GRAMMARS and rest in ("", "combinations"):
        grammar = GRAMMARS[kind]
        tested = GoldCorpus(grammar, rest or "test")
        return GoldCorpus(grammar, "train", seed=seed), GoldCorpus(grammar, "validation"), tested
    if kind == "multi30k":
        source, _, target = rest.partition("-")
        return (
            Multi30k(folder, source, target, "train", max_characters),
            Multi30k(folder, source, target, "validation", max_characters),
            Multi30k(folder, source, target, "test", max_characters),
        )
    if kind == "hub" and 2 <= rest.count(":") <= 3:
        return _open_hub(*rest.split(":"), max_characters=max_characters)
    return open_file(spec, max_characters), None, None


def _open_hub(
    name: str, source: str, target: str, config: str | None = None, *, max_characters: int
) -> tuple[Corpus, Corpus | None, Corpus | None]:
    require_private()
    names = split_names(name, config)
    if "train" not in names:
        raise ValueError(f"The dataset {quoted(name)} has no split 'train'; its splits are {short(', '.join(names))}.")

    def split(*spellings: str) -> Corpus | None:
        found = [spelling for spelling in spellings if spelling in names]
        if not found:
            return None
        return HubDataset(name, source, target, found[0], config=config, max_characters=max_characters)

    train = HubDataset(name, source, target, "train", config=config, max_characters=max_characters)
    return train, split("validation", "valid", "val", "dev"), split("test")


def open_file(spec: str, max_characters: int = MAX_CHARACTERS) -> Corpus:
    """The corpus in one or two files. Raises ValueError for a spec that names none, and where nobody may name any."""
    require_private()
    table = re.fullmatch(r"(.+\.(tsv|csv|jsonl)(?:\.gz)?)(?::([^:]+):([^:]+))?", spec)
    if table:
        path, ending, source, target = table.groups()
        if ending == "jsonl":
            return JsonLines(path, source or "source", target or "target", max_characters)
        return Table(path, _column(source or "0"), _column(target or "1"), max_characters)
    if spec.count(",") == 1:
        source, target = spec.split(",")
        return TextPair(source, target, max_characters)
    raise ValueError(f"{quoted(spec)} names no corpus; write {FORMS}.")


def _column(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def hold_out(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """(the rest, 1 % of the pairs), the same ones in every run: those with the smallest hashes of their text.

    At least 1 pair and at most 2,000, chosen among the first 200,000. Equal pairs stay on one side.
    Raises ValueError for a corpus with fewer than two different pairs.
    """
    seen: set[bytes] = set()

    def different() -> Iterator[tuple[bytes, Pair]]:
        for pair in islice(corpus, 200_000):
            if (key := _hash(pair)) not in seen:
                seen.add(key)
                yield key, pair

    smallest = heapq.nsmallest(2000, different())
    held = dict(smallest[: max(1, len(seen) // 100)])
    if len(seen) < 2:
        raise ValueError(f"{corpus.name} has fewer than two different pairs, none to validate on.")
    name = f"{corpus.name}, {len(held):,} pairs held out"
    return _Without(corpus, set(held)), Pairs(name, held.values(), corpus.max_characters)


class _Without(Corpus):
    """A corpus less the pairs with these hashes."""

    def __init__(self, corpus: Corpus, hashes: set[bytes]) -> None:
        super().__init__(f"{corpus.name}, less the pairs held out", corpus.max_characters)
        self.corpus, self.hashes = corpus, hashes

    def rows(self) -> Iterator[Pair | Rejected]:
        for row in self.corpus.rows():
            if isinstance(row, Rejected) or _hash(row) not in self.hashes:
                yield row


def _hash(pair: Pair) -> bytes:
    texts = f"{pair.source.strip()}\n{pair.target.strip()}"
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).digest()

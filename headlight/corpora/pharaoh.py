"""Gold word alignments: of a generated corpus, from a file in the Pharaoh format (`0-0 1-2 3p4` for a pair), or from
the times at which the words of the target are spoken.

`1-2` is a sure link from word 1 of the source to word 2 of the target, `3p4` or `3?4` a possible one. Words are counted
from 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from headlight.corpora.files import lines
from headlight.corpora.gold import split_words
from headlight.corpora.pairs import Corpus, Pair, Rejected
from headlight.corpora.truth import KnownPair, Truth, known_pairs
from headlight.formatting import plural
from transformer.quoting import quoted, short

Link = tuple[int, int]  # (word of the source, word of the target)
_LINK = re.compile(r"([0-9]{1,6})([-p?])([0-9]{1,6})")


class Links(NamedTuple):
    """The gold alignment of a sentence pair (Och and Ney 2003). Every sure link is possible, too."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    @property
    def reversed(self) -> Links:
        """The same links from the target to the source."""
        return Links(*(frozenset((target, source) for source, target in links) for links in self))


def parse_links(line: str, one_based: bool = False) -> Links:
    """Return the links of a line; `one_based` if its words are counted from 1. Raises ValueError for anything else."""
    sure, possible = set(), set()
    for text in line.split():
        match = _LINK.fullmatch(text)
        if match is None:
            raise ValueError(
                f"{quoted(text)} is not a link; write SOURCE-TARGET for a sure link and SOURCEpTARGET or SOURCE?TARGET "
                "for a possible one, such as 0-0 1-2 3p4."
            )
        link = int(match[1]) - one_based, int(match[3]) - one_based
        if min(link) < 0:
            raise ValueError(f"{quoted(text)} has a word 0, but words are counted from 1 here.")
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return Links(frozenset(sure), frozenset(possible))


def format_links(links: Iterable[Link]) -> str:
    """Return sure links as a line: `0-0 1-2`."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def read_links(path: str | Path, one_based: bool = False) -> list[Links]:
    """Return the links of each line of a file. Raises ValueError, naming the line, for a line in another format."""
    links = []
    for number, line in enumerate(lines(path), 1):
        try:
            links.append(parse_links(line, one_based))
        except ValueError as error:
            raise ValueError(f"{short(path)}, line {number}: {error}") from None
    return links


class TimedWord(NamedTuple):
    """A word of the target that is spoken from `start` to `end`, in seconds."""

    word: str
    start: float
    end: float


MAX_SEGMENTS = 500  # source segments of one word


def read_times(path: str | Path) -> list[list[TimedWord]]:
    """Return the words of each sentence of a table of times: rows WORD, tab, START, tab, END, and an empty line after
    each sentence. Raises ValueError, naming the line, for a row in another format.
    """
    sentences: list[list[TimedWord]] = [[]]
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            sentences.append([])
            continue
        try:
            word, start, end = line.split("\t")
            timed = TimedWord(word.strip(), float(start), float(end))
        except ValueError:
            timed = TimedWord("", 0, 0)
        if not timed.word or not 0 <= timed.start < timed.end < math.inf:
            raise ValueError(
                f"{short(path)}, line {number}: {quoted(line)} is not a word with its times; write WORD, a tab, START, "
                "a tab and END, in seconds, such as 0.52 and 0.8, with an empty line after each sentence."
            )
        sentences[-1].append(timed)
    return sentences if sentences[-1] else sentences[:-1]


def links_of_times(words: Sequence[TimedWord], seconds: float) -> Links:
    """Return the links of words to the segments of a source whose words stand for `seconds` each.

    The segment in the middle of a word is a sure link, every segment that the word overlaps a possible one. Raises
    ValueError for a word of more than MAX_SEGMENTS segments.
    """
    sure, possible = set[Link](), set[Link]()
    for target, (word, start, end) in enumerate(words):
        first, last = math.floor(start / seconds), math.ceil(end / seconds) - 1
        if last - first >= MAX_SEGMENTS:
            raise ValueError(
                f"{quoted(word)} is spoken from {start:g} to {end:g}, which is over {MAX_SEGMENTS} segments of "
                f"{seconds:g} seconds; check the times and the length of a segment."
            )
        possible.update((source, target) for source in range(first, last + 1))
        sure.add((min(last, math.floor((start + end) / 2 / seconds)), target))
    return Links(frozenset(sure), frozenset(possible | sure))


class GoldSentence(NamedTuple):
    """A sentence pair with its gold links, and for each unit of `pair.truth` the index of the word that contains it."""

    pair: KnownPair
    links: Links
    source_words: tuple[int, ...]
    target_words: tuple[int, ...]

    @property
    def reversed(self) -> GoldSentence:
        """The pair from the target to the source, for a model that translates back."""
        truth = self.pair.truth
        assert truth is not None
        links = self.links.reversed
        turned = Truth(truth.target, truth.source, tuple(sorted(links.possible)), units=truth.units)
        pair = KnownPair(self.pair.target, self.pair.source, turned)
        return GoldSentence(pair, links, self.target_words, self.source_words)


def generated_gold(corpus: Corpus) -> Iterator[GoldSentence]:
    """Yield the sentences of a corpus that knows its alignments (`has_truth`); all links are sure."""
    for pair in known_pairs(corpus):
        assert pair.truth is not None
        links = frozenset(pair.truth.links)
        words = (tuple(range(len(side))) for side in (pair.truth.source, pair.truth.target))
        yield GoldSentence(pair, Links(links, links), *words)


def gold_of_file(
    corpus: Corpus, links: Sequence[Links], name: str, spoken: Sequence[Sequence[str]] | None = None
) -> Iterator[GoldSentence]:
    """Yield the sentences of a corpus with the links of their lines, between words that spaces separate.

    Raises ValueError, naming the line of the file `name`, where the links do not fit the sentences, or where the words
    of the target differ from the `spoken` ones.
    """
    numbered, size = _RowNumbers(corpus), plural(len(links), "line" if spoken is None else "sentence")
    for row in numbered:
        if row.line > len(links):
            raise ValueError(f"{name} has {size}, but {corpus.name} has more pairs.")
        gold = links[row.line - 1]
        if spoken is not None and list(spoken[row.line - 1]) != row.target.split():
            raise ValueError(
                f"{name}, sentence {row.line}: its words are {quoted(' '.join(spoken[row.line - 1]))}, but the "
                f"target sentence is {quoted(row.target)}."
            )
        counts = len(row.source.split()), len(row.target.split())
        for link in sorted(gold.possible):
            for side, word, count in zip(("source", "target"), link, counts, strict=True):
                if word >= count:
                    raise ValueError(
                        f"{name}, line {row.line}: the link {link[0]}-{link[1]}, counted from 0, has {side} word "
                        f"{word}, but the {side} sentence has {plural(count, 'word')}."
                    )
        (source, source_words), (target, target_words) = _units(row.source), _units(row.target)
        pair = KnownPair(row.source, row.target, Truth(source, target, tuple(sorted(gold.possible))))
        yield GoldSentence(pair, gold, source_words, target_words)
    if numbered.report.read < len(links):
        pairs = plural(numbered.report.read, "pair")
        raise ValueError(f"{name} has {size}, but {corpus.name} has {pairs}.")


class _RowNumbers(Corpus):
    """A corpus whose line numbers count rows from 1, as a file of links does, whether or not the table has a header."""

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(corpus.name, corpus.max_characters)
        self.corpus = corpus

    def rows(self) -> Iterator[Pair | Rejected]:
        for number, row in enumerate(self.corpus.rows(), 1):
            yield row._replace(line=number)


def _units(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the units of a text (`split_words`), and for each the index of the word between spaces that it is in."""
    parts = [(unit, word) for word, spelled in enumerate(text.split()) for unit in split_words(spelled)]
    return tuple(unit for unit, _ in parts), tuple(word for _, word in parts)

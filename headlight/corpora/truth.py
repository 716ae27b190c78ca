"""Gold annotations of a corpus: word alignments and antecedents of pronouns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from headlight.corpora.generated import Generated
from headlight.corpora.gold import GoldCorpus, Pronoun, antecedents, split_words
from headlight.corpora.pairs import Corpus


class Truth(NamedTuple):
    """Links between the units of both sides: words, or letters where letters are translated one by one."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]  # (unit of the source, unit of the target)
    pronouns: tuple[Pronoun, ...] = ()
    units: str = "words"  # or "letters"
    nouns: tuple[int, ...] = ()  # indices of source words that a pronoun can stand for, in sentences with a pronoun
    estimated: bool = False  # an aligner found the links


class KnownPair(NamedTuple):
    source: str
    target: str
    truth: Truth | None = None


def has_truth(corpus: Corpus) -> bool:
    """Return whether the alignments or antecedents of this corpus are known."""
    return isinstance(corpus, GoldCorpus) or (isinstance(corpus, Generated) and corpus.task in _LETTERS)


def known_pairs(corpus: Corpus) -> Iterator[KnownPair]:
    """Yield the pairs of a corpus with their alignments and antecedents, where these are known."""
    if isinstance(corpus, GoldCorpus):
        for gold in corpus.gold():
            source_words = tuple(split_words(gold.source))
            nouns = antecedents(corpus.grammar) if gold.pronouns else frozenset()
            noun_indices = tuple(index for index, word in enumerate(source_words) if word.casefold() in nouns)
            truth = Truth(source_words, tuple(split_words(gold.target)), gold.links, gold.pronouns, nouns=noun_indices)
            yield KnownPair(gold.source, gold.target, truth)
        return
    task = corpus.task if isinstance(corpus, Generated) else ""
    for _, source, target, _ in corpus:
        yield KnownPair(source, target, _align_letters(task, source, target) if task in _LETTERS else None)


# By task: the index of the source letter for the index of a target letter and the length of the word.
_LETTERS = {"copy": lambda index, count: index, "reverse": lambda index, count: count - 1 - index}


def _align_letters(task: str, source: str, target: str) -> Truth:
    links = sorted((_LETTERS[task](index, len(source)), index) for index in range(len(target)))
    return Truth(tuple(source), tuple(target), tuple(links), units="letters")

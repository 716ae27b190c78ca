"""Sentence pairs whose truth is known, from grammars: who aligns with whom, and what each pronoun stands for.

A grammar builds both sides out of `GoldWord`s, and each word of the target says which words of the source it was
written for. So the alignment is part of the sentence from the start, not found afterwards.
"""

import difflib
import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol

from headlight.corpora.pairs import Corpus, Pair
from transformer.quoting import quoted
from transformer.tokenizers import word_groups

SIZES = {"train": 200_000, "validation": 1_000, "test": 1_000, "combinations": 1_000}


def words(text: str) -> list[str]:
    """Return the words of a text as tokens are grouped: "l'animal a" as "l" "'" "animal" "a"."""
    characters = list(" ".join(text.split()))
    return ["".join(characters[index] for index in group).strip() for group in word_groups(characters)]


@dataclass(frozen=True)
class Pronoun:
    word: int  # its place among the words of the source
    antecedent: int  # of the noun that it stands for, also in the source
    written: int  # of the word of the target whose form shows which noun was understood
    shows: bool = True  # whether it does: the "il" for "he" is the same for every man


@dataclass(frozen=True)
class GoldPair:
    source: str
    target: str
    links: tuple[tuple[int, int], ...]  # (word of the source, word of the target), sorted
    pronouns: tuple[Pronoun, ...] = ()
    combinations: frozenset[str] = frozenset()  # what a split can hold out, such as "noun+adjective: street+wide"

    @property
    def shown(self) -> tuple[Pronoun, ...]:
        """The pronouns that a translation can be asked for: those whose noun the target shows."""
        return tuple(pronoun for pronoun in self.pronouns if pronoun.shows)


def count_resolved(pair: GoldPair, written: str) -> int:
    """Return how many of the `shown` pronouns a translation resolved: the word that shows the noun has its gold form.

    Where "there" is, if other words differ, is found by matching the words of both texts in their order (difflib: the
    longest run that both have, then the same before and after it). So a translation is judged by that word alone, and
    another "il" of the sentence does not stand in for it; where the word is missing, nothing was shown.
    """
    here, there = words(pair.target), words(written)
    same = difflib.SequenceMatcher(None, here, there, autojunk=False).get_matching_blocks()
    matched = {start + offset for start, _, size in same for offset in range(size)}
    return sum(pronoun.written in matched for pronoun in pair.shown)


class Grammar(Protocol):
    """Writes sentence pairs. One source has one target: what the source leaves open, the grammar never asks."""

    @property
    def name(self) -> str: ...

    def pair(self, rng: random.Random) -> GoldPair: ...

    def __hash__(self) -> int: ...


@cache
def antecedents(grammar: Grammar) -> frozenset[str]:
    """Return the casefolded words that a pronoun stands for in the first 20,000 sentences.

    The words of a grammar have no parts of speech; these are its nouns, but for those that no pronoun ever means.
    """
    rng = random.Random(grammar.name)
    nouns: set[str] = set()
    for _ in range(20_000):
        if (pair := grammar.pair(rng)).pronouns:
            source = words(pair.source)
            nouns.update(source[pronoun.antecedent].casefold() for pronoun in pair.pronouns)
    return frozenset(nouns)


@dataclass(eq=False)  # the same text can stand in a sentence twice
class GoldWord:
    """A word on its way into a sentence; "post office" and "didn't", which are read as several, can be one."""

    text: str
    of: tuple["GoldWord", ...] = ()  # in a target: the words of the source that it is written for
    glued: bool = False  # no space before it


def gold_pair(
    source: Sequence[GoldWord],
    target: Sequence[GoldWord],
    pronouns: Iterable[tuple[GoldWord, GoldWord, GoldWord, bool]] = (),
    combinations: Iterable[str] = (),
) -> GoldPair:
    """Build the pair from the words of both sides, written out and capitalised.

    `pronouns` are (pronoun, antecedent, word of the target that would show it, whether it does).
    """
    source_text, source_places = _write(source)
    target_text, target_places = _write(target)
    links = {
        (here, there)
        for word in target
        for origin in word.of
        for here in source_places[origin]
        for there in target_places[word]
    }
    meant = tuple(
        # The head of "post office" is its last word; of "l'" it is the letter, not the apostrophe.
        Pronoun(source_places[pronoun][0], source_places[antecedent][-1], target_places[written][0], shows)
        for pronoun, antecedent, written, shows in pronouns
    )
    return GoldPair(source_text, target_text, tuple(sorted(links)), meant, frozenset(combinations))


def _write(sentence: Sequence[GoldWord]) -> tuple[str, dict[GoldWord, range]]:
    """Return the text, and the indices of each word's parts in `words(text)`."""
    text, places, count = "", {}, 0
    for word in sentence:
        text += word.text if word.glued or not text else f" {word.text}"
        size = _count(word.text)
        places[word] = range(count, count + size)
        count += size
    return text[:1].upper() + text[1:], places


@lru_cache(maxsize=10_000)
def _count(text: str) -> int:
    return len(words(text))


class GoldCorpus(Corpus):
    """`size` pairs of a grammar, the same for the same seed.

    Validation and test hold sentences that training never sees; "combinations" holds those that combine words as
    no other split does, such as a noun with an adjective, each of which training knows with others. Hashes decide,
    so the splits share no source and no target whatever their seeds and sizes. Only train has a pair twice.
    """

    def __init__(self, grammar: Grammar, split: str = "train", size: int | None = None, seed: int = 0) -> None:
        if split not in SIZES:
            raise ValueError(f"There is no split {quoted(split)}; choose one of {', '.join(SIZES)}.")
        super().__init__(f"{grammar.name} ({split})")
        self.grammar, self.split, self.seed = grammar, split, seed
        self.size = SIZES[split] if size is None else size

    def gold(self) -> Iterator[GoldPair]:
        """Yield the pairs with their alignments and antecedents, in the order of `rows`."""
        rng = random.Random(f"{self.grammar.name} {self.split} {self.seed}")
        drawn: set[int] = set()
        count = 0
        while count < self.size:
            pair = self.grammar.pair(rng)
            if split_of(pair) != self.split:
                continue
            if self.split != "train":  # whose memory must not grow with its size
                if (key := _hash(pair.source)) in drawn:
                    continue
                drawn.add(key)
            count += 1
            yield pair

    def rows(self) -> Iterator[Pair]:
        for line, pair in enumerate(self.gold(), 1):
            yield Pair(line, pair.source, pair.target)


def split_of(pair: GoldPair) -> str:
    """Return "combinations" for a pair with a held-out combination; of the others, 2 % are validation and 2 % test."""
    if any(held_out(combination) for combination in pair.combinations):
        return "combinations"
    share = _hash(pair.target) % 100
    return "validation" if share < 2 else "test" if share < 4 else "train"


@lru_cache(maxsize=100_000)
def held_out(combination: str) -> bool:
    """Whether a combination is held out: 3 % are."""
    return _hash(combination) % 100 < 3


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])

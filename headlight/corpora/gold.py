"""Sentence pairs from grammars, with their word alignments and the antecedents of their pronouns.

A grammar builds both sides from `GoldWord`s, and each word of the target names the words of the source that it
translates. So the alignment is known from the start and not estimated afterwards.
"""

import difflib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from headlight.corpora.generated import split_of_target, split_pairs, text_hash
from headlight.corpora.pairs import Corpus, Pair
from headlight.formatting import plural
from transformer.tokenizers import word_groups

SPLIT_PAIRS = {"train": 200_000, "validation": 1_000, "test": 1_000, "combinations": 1_000}
MAX_MISSES = 100_000  # sentences in a row that a split cannot use, after which it is exhausted


def split_words(text: str) -> list[str]:
    """Split a text into words and punctuation, as token grouping does: "l'animal a" into "l", "'", "animal", "a"."""
    characters = list(" ".join(text.split()))
    return ["".join(characters[index] for index in group).strip() for group in word_groups(characters)]


@dataclass(frozen=True)
class Pronoun:
    word: int  # index in the words of the source
    antecedent: int  # index of its noun in the words of the source
    written: int  # index of the target word whose form shows the noun
    shows: bool = True  # False where the form is the same for any noun: "il" for "he"


@dataclass(frozen=True)
class GoldPair:
    source: str
    target: str
    links: tuple[tuple[int, int], ...]  # (word of the source, word of the target), sorted
    pronouns: tuple[Pronoun, ...] = ()
    combinations: frozenset[str] = frozenset()  # which a split can hold out, such as "noun+adjective: street+wide"

    @property
    def resolvable(self) -> tuple[Pronoun, ...]:
        """The pronouns whose noun the target shows, so that a translation can resolve them."""
        return tuple(pronoun for pronoun in self.pronouns if pronoun.shows)


def count_resolved(pair: GoldPair, translation: str) -> int:
    """Return the number of `resolvable` pronouns that a translation resolved.

    A pronoun is resolved if the word whose form shows its noun is in the translation in its gold form. The word's
    position is found by matching the words of both texts in order (difflib), so another "il" of the sentence does not
    count, and a missing word resolves nothing.
    """
    reference, hypothesis = split_words(pair.target), split_words(translation)
    same = difflib.SequenceMatcher(None, reference, hypothesis, autojunk=False).get_matching_blocks()
    matched = {start + offset for start, _, size in same for offset in range(size)}
    return sum(pronoun.written in matched for pronoun in pair.resolvable)


class Grammar(NamedTuple):
    """A generator of sentence pairs in which each source has exactly one target.

    Where the source is ambiguous, the grammar always makes the same choice.
    """

    name: str
    pair: Callable[[random.Random], GoldPair]


@cache
def antecedents(grammar: Grammar) -> frozenset[str]:
    """Return the casefolded words that a pronoun stands for in the first 20,000 sentences.

    A grammar does not mark parts of speech; these words are its nouns, except those that no pronoun refers to.
    """
    rng = random.Random(grammar.name)
    nouns: set[str] = set()
    for _ in range(20_000):
        if (pair := grammar.pair(rng)).pronouns:
            source = split_words(pair.source)
            nouns.update(source[pronoun.antecedent].casefold() for pronoun in pair.pronouns)
    return frozenset(nouns)


@dataclass(eq=False)  # the same text can stand in a sentence twice
class GoldWord:
    """A word of a sentence that is being built; "post office" and "didn't" can be one, though they split in two."""

    text: str
    of: tuple["GoldWord", ...] = ()  # in a target: the words of the source that it translates
    glued: bool = False  # no space before it


class AlignedPhrase(NamedTuple):
    """A phrase and its translation; `links` are "0-0 2-1": index of the source word, index of the target word."""

    source: str
    target: str
    links: str

    def words(self) -> tuple[list[GoldWord], list[GoldWord]]:
        source = [GoldWord(text) for text in self.source.split()]
        links = [[int(index) for index in link.split("-")] for link in self.links.split()]
        target = [
            GoldWord(text, tuple(source[source_index] for source_index, target_index in links if target_index == index))
            for index, text in enumerate(self.target.split())
        ]
        return source, target


def gold_pair(
    source: Sequence[GoldWord],
    target: Sequence[GoldWord],
    pronouns: Iterable[tuple[GoldWord, GoldWord, GoldWord, bool]] = (),
    combinations: Iterable[str] = (),
) -> GoldPair:
    """Build the pair from the words of both sides, joined and capitalised.

    `pronouns` are (pronoun, antecedent, word of the target that may show the antecedent, whether it does).
    """
    source_text, source_places = _write_sentence(source)
    target_text, target_places = _write_sentence(target)
    links = {
        (source_place, target_place)
        for word in target
        for origin in word.of
        for source_place in source_places[origin]
        for target_place in target_places[word]
    }
    resolved = tuple(
        # The head of "post office" is its last word; of "l'" it is the letter, not the apostrophe.
        Pronoun(source_places[pronoun][0], source_places[antecedent][-1], target_places[target_word][0], shows)
        for pronoun, antecedent, target_word, shows in pronouns
    )
    return GoldPair(source_text, target_text, tuple(sorted(links)), resolved, frozenset(combinations))


def _write_sentence(sentence: Sequence[GoldWord]) -> tuple[str, dict[GoldWord, range]]:
    """Return the text, and the indices of each word's parts in `split_words(text)`."""
    text, indices, count = "", {}, 0
    for word in sentence:
        text += word.text if word.glued or not text else f" {word.text}"
        size = _count(word.text)
        indices[word] = range(count, count + size)
        count += size
    return text[:1].upper() + text[1:], indices


@lru_cache(maxsize=10_000)
def _count(text: str) -> int:
    return len(split_words(text))


class GoldCorpus(Corpus):
    """The `size` pairs of a grammar, the same for the same seed.

    Validation and test hold sentences that training never sees. "combinations" holds those that combine words as no
    other split does, such as a noun with an adjective that training sees only with other words. Hashes decide, so the
    splits share no source and no target whatever their seeds and sizes. Only train has repeated pairs.
    """

    def __init__(self, grammar: Grammar, split: str = "train", size: int | None = None, seed: int = 0) -> None:
        pairs = split_pairs(SPLIT_PAIRS, split)
        super().__init__(f"{grammar.name} ({split})")
        self.grammar, self.split, self.seed = grammar, split, seed
        self.size = pairs if size is None else size

    def gold(self) -> Iterator[GoldPair]:
        """Yield the pairs with their alignments and antecedents, in the order of `rows`."""
        rng = random.Random(f"{self.grammar.name} {self.split} {self.seed}")
        source_hashes: set[int] = set()
        count = misses = 0
        while count < self.size:
            pair = self.grammar.pair(rng)
            if misses == MAX_MISSES:
                raise ValueError(
                    f"{self.name} has only {plural(count, 'pair')} of {self.size:,}: the next {misses:,} sentences of "
                    "the grammar were of another split, or repeated. Ask for fewer, or let the grammar write more."
                )
            misses += 1
            if split_of(pair) != self.split:
                continue
            if self.split != "train":  # train may be large, and remembering its sources would take memory
                if (key := text_hash(pair.source)) in source_hashes:
                    continue
                source_hashes.add(key)
            count, misses = count + 1, 0
            yield pair

    def rows(self) -> Iterator[Pair]:
        for line, pair in enumerate(self.gold(), 1):
            yield Pair(line, pair.source, pair.target)


def split_of(pair: GoldPair) -> str:
    """Return "combinations" for a pair with a held-out combination; of the others, 2 % are validation and 2 % test."""
    if any(is_held_out(combination) for combination in pair.combinations):
        return "combinations"
    return split_of_target(pair.target)


def is_held_out(combination: str) -> bool:
    """Return whether a combination is held out: 3 % are."""
    return text_hash(combination) % 100 < 3

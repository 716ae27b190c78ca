"""Sentence pairs of a core vocabulary, from the files of its folder."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from headlight.corpora.core.templates import SentencePair, Template, parse_template, spread

SLOT = re.compile(r"\[([^\[\]]+)\]")
PAIRS_PER_WORD, MAX_TRIES = 12, 240
E = TypeVar("E", bound=tuple[Any, ...])
P = TypeVar("P")


@dataclass(frozen=True)
class CoreVocabulary(Generic[E, P]):
    """The sentences of a folder, with entries E of its lexicon and its verb phrases P.

    They have three sources: sentences written by hand around words that no general frame fits (words.txt), frames whose
    slots are filled from a lexicon (frames.txt, lexicon.txt), and verb phrases put into tenses, moods and clauses
    (verbs.txt).
    """

    folder: str
    entry: Callable[[str, str], E]  # from the first two fields: the word in the source and the target language
    read_entry: Callable[[str, str], E]  # from a line of lexicon.txt and its category
    generated: dict[str, list[SentencePair]]  # the categories that are not in lexicon.txt
    covers_generated: bool  # whether the words of `generated` get pairs of their own
    fill: Callable[[str, str, dict[str, E]], SentencePair]  # writes the entries chosen for the slots into both sides
    read_verb_phrase: Callable[[str], P]
    clauses: Callable[[P], Iterator[SentencePair | None]]
    random_clause: Callable[[Sequence[P], random.Random], SentencePair | None]
    spelled: Callable[[SentencePair], SentencePair]
    counts_left_out: bool  # whether left-out sentences count towards the pairs of a word
    shares: tuple[float, float]  # of random pairs: those from words.txt, and those from words.txt or frames.txt
    pairs_per_template: int

    @cached_property
    def lexicon(self) -> dict[str, list[E]]:
        lexicon: dict[str, list[E]] = {}
        for line in self._lines("lexicon"):
            if line.startswith("["):
                category = line.strip("[]")
                lexicon.setdefault(category, [])
            else:
                lexicon[category].append(self.read_entry(line, category))
        return lexicon | {category: [self.entry(*pair) for pair in pairs] for category, pairs in self.generated.items()}

    @cached_property
    def frames(self) -> list[Template]:
        return [parse_template(line) for line in self._lines("frames")]

    @cached_property
    def word_templates(self) -> list[Template]:
        return [parse_template(line) for line in self._lines("words")]

    @cached_property
    def verb_phrases(self) -> list[P]:
        return [self.read_verb_phrase(line) for line in self._lines("verbs")]

    def covering(self) -> Iterator[SentencePair]:
        """Yield distinct pairs in which every word of the lexicon occurs in at least ten, always the same ones."""
        yielded: set[SentencePair] = set()
        for pair in self._covering():
            if pair not in yielded and not self.is_left_out(pair):
                yielded.add(pair)
                yield pair

    def random_pair(self, rng: random.Random) -> SentencePair:
        """Return a random pair from one of the three sources."""
        while True:
            share = rng.random()
            if share < self.shares[0]:
                template = rng.choice(self.word_templates)
                pair: SentencePair | None = self.spelled(template.fill(rng.randrange(template.n_choices())))
            elif share < self.shares[1]:
                pair = self.fill_slots(rng.choice(self.frames), rng)
            else:
                pair = self.random_clause(self.verb_phrases, rng)
            if pair and not self.is_left_out(pair):
                return pair

    def _covering(self) -> Iterator[SentencePair]:
        for template in self.word_templates:
            yield from map(self.spelled, spread(template, self.pairs_per_template))
        by_category: dict[str, list[Template]] = {}
        for frame in self.frames:
            for name in {category(slot) for slot in self.slots(frame)}:
                by_category.setdefault(name, []).append(frame)
        for name, entries in self.lexicon.items():
            frames = by_category.get(name, [])
            for entry in entries if self.covers_generated or name not in self.generated else ():
                rng = random.Random(f"{name} {entry[0]}")
                distinct: set[SentencePair] = set()
                for number in range(MAX_TRIES):
                    if len(distinct) >= PAIRS_PER_WORD and number >= len(frames):
                        break
                    pair = self.fill_slots(frames[number % len(frames)], rng, {name: entry})
                    if self.counts_left_out or not self.is_left_out(pair):
                        distinct.add(pair)
                    yield pair
        for phrase in self.verb_phrases:
            yield from filter(None, self.clauses(phrase))

    def fill_slots(self, frame: Template, rng: random.Random, fixed: dict[str, E] | None = None) -> SentencePair:
        """Fill the slots of a frame: those of `fixed` with its entries, the others at random."""
        source, target = frame.fill(rng.randrange(frame.n_choices()))
        chosen = dict(fixed or {})
        for slot in self.slots(frame):
            if slot not in chosen:
                used = {text for entry in chosen.values() for text in entry[:2]}
                chosen[slot] = rng.choice(
                    [entry for entry in self.lexicon[category(slot)] if used.isdisjoint(entry[:2])]
                )
        return self.fill(source, target, chosen)

    def slots(self, frame: Template) -> list[str]:
        """Return the names of the slots of a frame's source: categories of the lexicon, perhaps with a number."""
        names = (
            word.partition(":")[0].rstrip("+").lower()
            for match in SLOT.finditer(frame.fill(0)[0])
            for word in match[1].split()
        )
        return list(dict.fromkeys(name for name in names if category(name) in self.lexicon))

    @cached_property
    def left_out(self) -> set[str]:
        return {folded(line) for line in self._lines("left_out")}

    def is_left_out(self, pair: SentencePair) -> bool:
        return folded(pair[0]) in self.left_out

    def _lines(self, name: str) -> list[str]:
        text = (Path(__file__).parent / self.folder / f"{name}.txt").read_text(encoding="utf-8")
        return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def category(slot: str) -> str:
    """Return the category of a slot: "animal" of "animal2"."""
    return slot.rstrip("0123456789")


def folded(text: str) -> str:
    """Return the letters and digits of a text in lower case and without accents."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFD", text.casefold())))

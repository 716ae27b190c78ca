"""The words of the English-French grammar, and which of them go together, from the tables of this folder.

A noun has kinds ("animal", "way"); verbs and qualities name the kinds that they go with, or a noun itself.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from headlight.corpora import english
from headlight.corpora.gold import AlignedPhrase
from headlight.corpora.grammars.english_french import french
from headlight.corpora.grammars.english_french.french import Conjugation, Gender
from headlight.corpora.word_tables import one_of, read_table

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class FrenchNoun:
    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: Gender
    kinds: frozenset[str]  # its own name among them

    @property
    def is_person(self) -> bool:
        return "person" in self.kinds


def _noun(row: dict[str, str]) -> FrenchNoun:
    name, translation = row["english"], row["french"]
    return FrenchNoun(
        name,
        row.get("english_plural") or english.pluralize(name),
        translation,
        row.get("french_plural") or french.plural(translation),
        one_of(row["gender"], "m", "f"),
        frozenset([name, *row["kinds"].split()]),
    )


NOUNS = read_table(_FOLDER / "nouns.tsv", _noun)

Position = Literal["before", "after", "predicate"]


@dataclass(frozen=True)
class Quality:
    """A quality of a noun. French may express it by "avoir" ("avoir faim") or an adverb ("en panne")."""

    english: str
    masculine: str
    feminine: str
    before_vowel: str  # the masculine before a vowel: "bel"
    position: Position  # of the French adjective beside its noun
    kinds: frozenset[str]  # of the nouns that it fits
    takes_avoir: bool  # French expresses it with "avoir"
    graded: bool  # goes with "too" and "very"
    group: str

    @property
    def is_neutral(self) -> bool:
        """Whether it fits into any sentence, since it cannot be a reason for anything."""
        return self.group in ("colour", "origin", "beauty")

    @property
    def english_place(self) -> int:
        """The rank among the adjectives before a noun: "her rich old uncle", "my new red car"."""
        return {"age": 1, "colour": 2, "origin": 2}.get(self.group, 0)

    def fits(self, noun: FrenchNoun) -> bool:
        return not self.kinds.isdisjoint(noun.kinds)


def _quality(row: dict[str, str]) -> Quality:
    masculine = row["french"]
    return Quality(
        row["english"],
        masculine,
        row.get("feminine") or french.feminine(masculine),
        row.get("before_vowel", masculine),
        one_of(row["position"], "before", "after", "predicate"),
        frozenset(row["kinds"].split()),
        takes_avoir=row.get("verb") == "avoir",
        graded=row.get("degrees") != "no",
        group=row.get("group", ""),
    )


QUALITIES = {quality.english: quality for quality in read_table(_FOLDER / "adjectives.tsv", _quality)}


@dataclass(frozen=True)
class FrenchVerb:
    """A verb with the kinds of subjects and objects of what people and animals do without a reason."""

    english: str
    particle: str  # English: "wait" "for"
    past: str
    conjugation: Conjugation
    preposition: str  # French: "sauter" "par-dessus"
    subjects: str
    objects: str
    has_receiver: bool

    @property
    def name(self) -> str:
        return f"{self.english} {self.particle}".strip()


def _verb(row: dict[str, str]) -> FrenchVerb:
    base, _, particle = row["english"].partition(" ")
    infinitive, _, preposition = row["french"].partition(" ")
    return FrenchVerb(
        base,
        particle,
        english.past_tense(base),
        Conjugation(infinitive, row.get("auxiliary") == "être"),
        preposition,
        row.get("subjects", ""),
        row.get("objects", ""),
        row.get("receiver") == "yes",
    )


VERBS = {verb.name: verb for verb in read_table(_FOLDER / "verbs.tsv", _verb)}
TRANSITIVE_VERBS = tuple(verb for verb in VERBS.values() if verb.objects and not verb.has_receiver)
INTRANSITIVE_VERBS = tuple(verb for verb in VERBS.values() if verb.subjects and not verb.objects)
DITRANSITIVE_VERBS = tuple(verb for verb in VERBS.values() if verb.has_receiver)

# Modal verbs, which French conjugates before an infinitive.
CAN, WANT = Conjugation("pouvoir"), Conjugation("vouloir")


class VerbFrame(NamedTuple):
    """A verb with the kinds of its subject and object, and the reasons that fit only one of the two."""

    verb: FrenchVerb
    subject: str  # kinds
    object: str  # kinds; "" where there is none
    subject_reasons: tuple[str, ...]
    object_reasons: tuple[str, ...]
    negative: bool


def _reasons(cell: str) -> tuple[str, ...]:
    return tuple(QUALITIES[name].english for name in cell.split(", ") if name)


def _frame(row: dict[str, str]) -> VerbFrame:
    return VerbFrame(
        VERBS[row["verb"]],
        row["subject"],
        row.get("object", ""),
        _reasons(row["subject_reasons"]),
        _reasons(row.get("object_reasons", "")),
        negative=row.get("negative") != "no",
    )


_FRAMES = read_table(_FOLDER / "reasons.tsv", _frame)
# With a single noun, which must be the one with the reason.
LONE_FRAMES = tuple(frame for frame in _FRAMES if not frame.object)
# With people, whom English does not call "it", so that the pronoun alone tells the antecedent.
PERSON_FRAMES = tuple(frame for frame in _FRAMES if frame.object and "person" in (frame.subject, frame.object))
FRAMES = tuple(frame for frame in _FRAMES if frame.object and "person" not in (frame.subject, frame.object))


class ConsecutiveVerbs(NamedTuple):
    """Two actions on one object, in this order: "buys an apple and eats it"."""

    first: FrenchVerb
    second: FrenchVerb
    objects: str  # kinds


def _consecutive(row: dict[str, str]) -> ConsecutiveVerbs:
    return ConsecutiveVerbs(VERBS[row["first"]], VERBS[row["second"]], row["objects"])


CONSECUTIVE_VERBS = read_table(_FOLDER / "consecutive.tsv", _consecutive)

NAMES: tuple[tuple[str, Gender], ...] = (
    ("Marie", "f"), ("Paul", "m"), ("Julie", "f"), ("Thomas", "m"),
    ("Sophie", "f"), ("Lucas", "m"), ("Alice", "f"), ("Antoine", "m"),
)  # fmt: skip


class Time(NamedTuple):
    phrase: AlignedPhrase
    tenses: tuple[str, ...]  # the tenses that it goes with
    is_repeated: bool  # not a single event, which may have a reason


def _time(row: dict[str, str]) -> Time:
    phrase = AlignedPhrase(row["english"], row["french"], row["links"])
    return Time(phrase, tuple(row["tenses"].split()), row.get("repeated") == "yes")


TIMES = read_table(_FOLDER / "times.tsv", _time)
DAYS = tuple(time for time in TIMES if not time.is_repeated)
ADVERBS = (("often", "souvent"), ("always", "toujours"), ("sometimes", "parfois"))


class Place(NamedTuple):
    """A preposition of place, and the nouns that it goes with."""

    preposition: AlignedPhrase
    kinds: str  # of places and things that the preposition goes with
    things: str  # kinds


def _place(row: dict[str, str]) -> Place:
    preposition = AlignedPhrase(row["english"], row["french"], row["links"])
    return Place(preposition, row["places"], row.get("things", ""))


_PLACES = read_table(_FOLDER / "places.tsv", _place)
PLACES = tuple(place for place in _PLACES if not place.things)
PLACES_OF_THINGS = tuple(place for place in _PLACES if place.things)
CITIES = (("Paris", "Paris"), ("Lyon", "Lyon"), ("London", "Londres"), ("Rome", "Rome"), ("Lisbon", "Lisbonne"))

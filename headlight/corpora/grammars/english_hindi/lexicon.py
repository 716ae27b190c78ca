"""The words of the English-Hindi grammar, and which of them go together, from the tables of this folder.

A *kind* groups nouns by what can be said of them: a verb names the kinds of its subject and object, an adjective the
kinds that it describes; a noun's own name is a kind too. So "old" is बूढ़ा of an adult and पुराना of a thing, and nobody
eats a chair.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from headlight.corpora import english
from headlight.corpora.gold import AlignedPhrase
from headlight.corpora.grammars.hindi import BE, Gender, Stem, noun_form
from headlight.corpora.word_tables import one_of, read_lists, read_table

_FOLDER = Path(__file__).parent

# Nouns


@cache
def _set(kinds: str) -> frozenset[str]:
    return frozenset(kinds.split())


@dataclass(frozen=True)
class HindiNoun:
    """A noun; `plural` is None where it cannot be counted, such as water or Hindi."""

    english: str
    plural: str | None
    hindi: str
    feminine: str  # the word for a woman: "Sita is a teacher" is शिक्षिका, "the teacher" शिक्षक
    gender: Gender
    place: tuple[str, ...]  # the preposition and the postposition where something happens there
    kinds: frozenset[str]  # its own name among them

    def is_any(self, kinds: str) -> bool:
        return not self.kinds.isdisjoint(_set(kinds))

    def form(self, plural: bool, oblique: bool) -> str:
        return noun_form(self.hindi, self.gender, plural, oblique, "fixed" in self.kinds)


def _gender(cell: str) -> Gender:
    return one_of(cell, "m", "f")


def _noun(row: dict[str, str]) -> HindiNoun:
    name, plural = row["english"], row.get("plural")
    return HindiNoun(
        name,
        None if plural == "-" else plural or english.pluralize(name),
        row["hindi"],
        row.get("woman", row["hindi"]),
        _gender(row["gender"]),
        tuple(row.get("place", "").split()),
        frozenset([name, *row["kinds"].split()]),
    )


NOUNS = read_table(_FOLDER / "nouns.tsv", _noun)


@cache
def nouns(kinds: str) -> tuple[HindiNoun, ...]:
    """Return the nouns of any of the `kinds`, which are set apart by spaces."""
    return tuple(noun for noun in NOUNS if noun.is_any(kinds))


_NAMES = read_lists(_FOLDER / "names.tsv", lambda row: (row["english"], row["hindi"]))
MEN_NAMES, WOMEN_NAMES, CITIES = (dict(_NAMES[kind]) for kind in ("man", "woman", "city"))
NUMBERS = {
    "two": "दो", "three": "तीन", "four": "चार", "five": "पाँच", "six": "छह", "seven": "सात", "eight": "आठ", "nine": "नौ",
    "ten": "दस",
}  # fmt: skip

# Adjectives


@dataclass(frozen=True)
class Adjective:
    """An adjective; `comparative` is "" where it has none. Some stand only before their noun, or only after "is"."""

    english: str
    comparative: str
    hindi: str
    kinds: str
    attributive: bool
    predicative: bool

    @property
    def has_degrees(self) -> bool:
        """Whether it goes with "very"."""
        return bool(self.comparative) or "kin" in self.kinds.split()


def _adjective(row: dict[str, str]) -> Adjective:
    only = one_of(row.get("only", ""), "", "attribute", "predicate")
    return Adjective(
        row["english"], row.get("comparative", ""), row["hindi"], row["kinds"], only != "predicate", only != "attribute"
    )


ADJECTIVES = read_table(_FOLDER / "adjectives.tsv", _adjective)


# Verbs


@dataclass(frozen=True)
class HindiVerb:
    """A verb in both languages with what may stand around it.

    `english` is base, third person, past, participle, -ing. `nominal` is the word that makes a verb with करना; where
    it has a gender, it is the object that the verb agrees with (मदद की), otherwise it is an adjective (साफ़ किया).
    """

    english: tuple[str, ...]
    stem: Stem
    subjects: str  # kinds
    objects: str  # kinds
    preposition: str  # between the English verb and its object
    marker: str  # the postposition of the object; "को" only on people and animals
    nominal: str
    nominal_gender: Gender | None
    ergative: bool  # takes ने in the perfective
    never: str  # groups of tenses in which it is not used
    receiver: bool  # takes "to somebody"
    places: str  # nouns with a `place` where it happens
    takes: str  # further phrases: "to", "from", "by", "with", "for", "in" a city

    @property
    def base(self) -> str:
        return self.english[0]


def _forms(base: str) -> tuple[str, ...]:
    """Return base, third person, past, participle and -ing."""
    inflected = (english.third_person, english.past_tense, english.participle, english.progressive)
    return (base, *(inflect(base) for inflect in inflected))


def _verb(row: dict[str, str]) -> HindiVerb:
    base, (*nominal, infinitive) = row["english"], row["hindi"].split()
    return HindiVerb(
        english=(base, *row["forms"].split()) if "forms" in row else _forms(base),
        stem=Stem(infinitive.removesuffix("ना")),
        subjects=row["subjects"],
        objects=row.get("objects", ""),
        preposition=row.get("preposition", ""),
        marker=row.get("marker", ""),
        nominal=" ".join(nominal),
        nominal_gender=_gender(row["gender"]) if "gender" in row else None,
        ergative=row.get("ne") != "no",
        never=row.get("never", ""),
        receiver=row.get("receiver") == "yes",
        places=row.get("places", ""),
        takes=row.get("takes", ""),
    )


VERBS = read_table(_FOLDER / "verbs.tsv", _verb)


class MarkedVerb(NamedTuple):
    """An English verb whose subject takes a postposition in Hindi: मुझे पिज़्ज़ा पसंद है, "I like pizza"."""

    english: tuple[str, ...]  # base, third person, past, participle and -ing
    stem: Stem = BE
    marker: str = "को"
    nominal: str = ""


LIKE, WANT = MarkedVerb(_forms("like"), nominal="पसंद"), MarkedVerb(_forms("want"))
SUFFER, OWN, HAVE_FAMILY = (MarkedVerb(_forms("have"), marker=marker) for marker in ("को", "के पास", ""))
KNOW_LANGUAGE, KNOW_THAT = MarkedVerb(_forms("know"), Stem("आ")), MarkedVerb(_forms("know"), Stem("जान"), "")
SAY, THINK = MarkedVerb(_forms("say"), Stem("कह"), ""), MarkedVerb(_forms("think"), Stem("लग"))


class Feeling(NamedTuple):
    """A feeling that "comes" to somebody in Hindi: मुझे भूख लगी है, "I am hungry"."""

    hindi: str
    gender: Gender
    stem: Stem
    progressive: bool  # ठंड लग रही है, but भूख लगी है


_COME, _ATTACH = Stem("आ"), Stem("लग")
FEELINGS = {
    "hungry": Feeling("भूख", "f", _ATTACH, False),
    "thirsty": Feeling("प्यास", "f", _ATTACH, False),
    "cold": Feeling("ठंड", "f", _ATTACH, True),
    "afraid": Feeling("डर", "m", _ATTACH, True),
    "sleepy": Feeling("नींद", "f", _COME, True),
}
ILLNESSES: dict[str, tuple[str, Gender]] = {
    "fever": ("बुख़ार", "m"), "cold": ("ज़ुकाम", "m"), "cough": ("खाँसी", "f"), "headache": ("सिरदर्द", "m"),
}  # fmt: skip


# Fixed phrases


PHRASES = read_lists(_FOLDER / "phrases.tsv", lambda row: AlignedPhrase(row["english"], row["hindi"], row["links"]))
PHRASES["ago"] = [
    AlignedPhrase(f"{number} {english} ago", f"{NUMBERS[number]} {hindi} पहले", "0-0 1-1 2-2")
    for number in NUMBERS
    for english, hindi in {"days": "दिन", "weeks": "हफ़्ते", "months": "महीने", "years": "साल"}.items()
]
# For each tense, the lists of times that go with it.
TIMES = {
    "present": ("every day", "every", "hour"),
    "past habit": ("every day", "every", "hour"),
    "progressive": ("now",),
    "past progressive": ("yesterday", "hour"),
    "past": ("yesterday", "today", "last", "ago", "day", "month", "hour"),
    "perfect": ("today",),
    "future": ("tomorrow", "today", "next", "day", "month", "hour"),
    "can": ("today", "tomorrow"),
    "should": ("today", "tomorrow", "day"),
    "want": ("today", "tomorrow"),
    "have to": ("today", "tomorrow", "day"),
}
FREQUENCIES = {"always": "हमेशा", "often": "अक्सर", "never": "कभी"}

# Reasons


# For each verb, the qualities of the object that are reasons to do it, and reasons not to.
OBJECT_REASONS = dict(
    read_table(_FOLDER / "object_reasons.tsv", lambda row: (row["verb"], (row["reasons"], row["reasons_against"])))
)
# For each reason in the subject, the verbs that it causes and the verbs that it prevents.
SUBJECT_REASONS = dict(
    read_table(
        _FOLDER / "subject_reasons.tsv", lambda row: (row["reason"], (row.get("causes", ""), row.get("prevents", "")))
    )
)
GOOD_QUALITIES = (
    "beautiful good new clean strong tasty sweet fresh interesting easy famous clever brave honest rich cheap fast"
)
BAD_QUALITIES = "old small dirty weak expensive heavy sour difficult lazy poor dangerous broken"
OPPOSITES = (
    {"new", "old"}, {"good", "bad"}, {"clean", "dirty"}, {"strong", "weak"}, {"cheap", "expensive"},
    {"easy", "difficult"}, {"rich", "poor"}, {"fresh", "bad"}, {"tasty", "bad"}, {"tasty", "sour"}, {"sweet", "sour"},
)  # fmt: skip

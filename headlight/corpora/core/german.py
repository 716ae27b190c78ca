"""German declension and conjugation, as far as the lexicon of the core vocabulary needs them."""

from __future__ import annotations

from typing import NamedTuple

from headlight.corpora.word_tables import IRREGULAR, read_table

# A case is its number in the order nominative, accusative, dative, genitive.
# By gender (masculine, feminine, neuter, plural), each with its four cases.
_ARTICLE_FORMS = {"m": "der den dem des", "f": "die die der der", "n": "das das dem des", "p": "die die den der"}
_DER_ENDINGS = {"m": "er en em es", "f": "e e er er", "n": "es es em es", "p": "e e en er"}
_EIN_ENDINGS = {"m": "- en em es", "f": "e e er er", "n": "- - em es", "p": "e e en er"}
_ENDINGS_AFTER_DER = {"m": "e en en en", "f": "e e en en", "n": "e e en en", "p": "en en en en"}
_ENDINGS_AFTER_EIN = {"m": "er en en en", "f": "e e en en", "n": "es es en en", "p": "en en en en"}
_STRONG_ENDINGS = {"m": "er en em en", "f": "e e er er", "n": "es es em en", "p": "e e en er"}
_DER_WORDS = {"dieser": "dies", "jeder": "jed", "welcher": "welch"}
_EIN_WORDS = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "euer")
_ADJECTIVE_STEMS = {"hoch": "hoh", "teuer": "teur", "dunkel": "dunkl", "sauer": "saur"}


class GermanNoun(NamedTuple):
    gender: str  # m, f or n
    singular: str
    plural: str  # empty where the plural is not used
    weak: bool = False  # der Junge, den Jungen

    def form(self, case: int, plural: bool) -> str:
        """Return the noun in a case, by its number from 0."""
        if plural:
            return self.plural if case != 2 or self.plural.endswith(("n", "s")) else f"{self.plural}n"
        if self.weak and case:
            return self.plural
        if case == 3 and self.gender != "f":
            return self.singular + ("es" if self.singular.endswith(("s", "ß", "x", "z", "tsch")) else "s")
        return self.singular


def decline(determiner: str, adjectives: list[str], noun: GermanNoun, case: int, plural: bool) -> str:
    """Return determiner (base form, may be empty), adjectives and noun in agreement."""
    gender = "p" if plural else noun.gender
    words = []
    if determiner:
        words.append(_decline_determiner(determiner, gender, case))
    endings = _ENDINGS_AFTER_EIN if determiner in _EIN_WORDS else _ENDINGS_AFTER_DER if determiner else _STRONG_ENDINGS
    words += [decline_adjective(adjective, _pick(endings, gender, case)) for adjective in adjectives]
    return " ".join([*words, noun.form(case, plural)])


def decline_adjective(adjective: str, ending: str) -> str:
    stem = _ADJECTIVE_STEMS.get(adjective, adjective)
    return stem + (ending[1:] if stem.endswith("e") else ending)


def _decline_determiner(determiner: str, gender: str, case: int) -> str:
    if determiner == "der":
        return _pick(_ARTICLE_FORMS, gender, case)
    if determiner in _DER_WORDS:
        return _DER_WORDS[determiner] + _pick(_DER_ENDINGS, gender, case)
    ending = _pick(_EIN_ENDINGS, gender, case)
    return ("eur" if determiner == "euer" and ending else determiner) + ending


def _pick(table: dict[str, str], gender: str, case: int) -> str:
    return table[gender].split()[case].strip("-")


# The base form and the case of each masculine form of a determiner: "meinem" is ("mein", 2).
DETERMINERS = {
    _decline_determiner(determiner, "m", case): (determiner, case)
    for determiner in ("der", *_DER_WORDS, *_EIN_WORDS)
    for case in range(4)
}

_STRONG_VERBS = {row["infinitive"]: row for row in read_table(IRREGULAR / "german_verbs.tsv", dict)}
_SEIN_VERBS = ("aufstehen", "aufwachen", "reisen", "wandern", "umziehen", "joggen", "klettern")
_INSEPARABLE_PREFIXES = ("be", "er", "ver", "ent", "zer", "ge")
_MODALS = {
    "können": "kann kannst kann können könnt können",
    "müssen": "muss musst muss müssen müsst müssen",
    "wollen": "will willst will wollen wollt wollen",
    "dürfen": "darf darfst darf dürfen dürft dürfen",
    "sollen": "soll sollst soll sollen sollt sollen",
    "möchten": "möchte möchtest möchte möchten möchtet möchten",
    "haben": "habe hast hat haben habt haben",
    "sein": "bin bist ist sind seid sind",
    "werden": "werde wirst wird werden werdet werden",
}
_PRESENT_ENDINGS = ("e", "st", "t", "en", "t", "en")


class GermanVerb(NamedTuple):
    """A verb such as auf|stehen, taken apart."""

    prefix: str
    base: str

    def present(self, person: int) -> str:
        """Return the present without the prefix; `person` is 0 to 5: ich, du, er, wir, ihr, sie."""
        if self.base in _MODALS:
            return _MODALS[self.base].split()[person]
        if person in (3, 5):
            return self.base
        stem = self._stem()
        if person == 0:
            return f"{stem[:-2]}le" if _drops_e(stem) else f"{stem}e"
        if person in (1, 2) and self._strong:
            third = self._strong["er"]
            return third if person == 2 else _second_person(third)
        ending = _PRESENT_ENDINGS[person]
        if _needs_e(stem):
            return f"{stem}e{ending}"
        return stem + (ending[1:] if ending == "st" and stem.endswith(("s", "ß", "z", "x")) else ending)

    def preterite(self, person: int) -> str:
        stem = self._stem()
        form = self._strong.get("preterite") or stem + ("ete" if _needs_e(stem) else "te")
        if form.endswith("e"):
            return form + ("", "st", "", "n", "t", "n")[person]
        if form.endswith(("d", "t")):
            return form + ("", "est", "", "en", "et", "en")[person]
        return form + ("", "est" if form.endswith(("s", "ß")) else "st", "", "en", "t", "en")[person]

    def participle(self) -> str:
        if self._strong:
            return self.prefix + self._strong["participle"]
        stem = self._stem()
        ge = "" if self.base.startswith(_INSEPARABLE_PREFIXES) or self.base.endswith("ieren") else "ge"
        return f"{self.prefix}{ge}{stem}{'et' if _needs_e(stem) else 't'}"

    def auxiliary(self) -> GermanVerb:
        """Return the verb that the perfect is built with, haben or sein."""
        with_sein = "auxiliary" in self._strong or self.prefix + self.base in _SEIN_VERBS
        return GermanVerb("", "sein" if with_sein else "haben")

    def infinitive(self, zu: bool = False) -> str:
        if zu:
            return f"{self.prefix}zu{self.base}" if self.prefix else f"zu {self.base}"
        return self.prefix + self.base

    def imperative(self, person: int) -> str:
        """Return the imperative for du (1), ihr (4) or Sie (5), without the prefix and the pronoun."""
        if person == 5:
            return self.base
        if person == 4:
            return self.present(4)
        stem = self._stem()
        if _drops_e(stem):
            return f"{stem[:-2]}le"
        third = self._strong.get("er", "")
        if "i" in third and "i" not in self.base:
            return third[:-1] if not third.endswith("tt") else third
        return f"{stem}e" if _needs_e(stem) else stem

    @property
    def _strong(self) -> dict[str, str]:
        return _STRONG_VERBS.get(self.base, {})

    def _stem(self) -> str:
        return self.base[:-2] if self.base.endswith("en") else self.base[:-1]


def split_verb(word: str) -> GermanVerb:
    """Return the verb of "auf|stehen" or "gehen"."""
    prefix, _, base = word.rpartition("|")
    return GermanVerb(prefix, base)


def _drops_e(stem: str) -> bool:
    """Return whether the stem loses its e: "ich segle", but "ich spiele"."""
    return stem.endswith("el") and not stem.endswith("iel")


def _needs_e(stem: str) -> bool:
    return stem.endswith(("t", "d", "chn", "ckn", "ffn", "gn", "tm"))


def _second_person(third: str) -> str:
    if third in ("lädt", "tritt", "hält"):
        return {"lädt": "lädst", "tritt": "trittst", "hält": "hältst"}[third]
    stem = third[:-1]
    return third if stem.endswith(("s", "ß", "z")) else f"{stem}st"

"""French inflection and spelling: agreement, conjugation, elision (l', d', qu'), contraction (du, aux).

An h that blocks elision is written with the asterisk of the dictionaries, "*haie", until the sentence is spelled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headlight.corpora.gold import GoldWord
from headlight.corpora.word_tables import IRREGULAR, read_table

Gender = Literal["m", "f"]
Tense = Literal["present", "past", "future", "imperfect"]
FiniteTense = Literal[Tense, "conditional", "subjunctive"]

# The persons of a verb, in the order of its forms.
JE, TU, IL, NOUS, VOUS, ILS = range(6)
PERSONS = ("je", "tu", "il", "nous", "vous", "ils")

_PRESENT_ENDINGS = {
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
}
_PARTICIPLE_ENDINGS = {"er": "é", "ir": "i", "re": "u"}
_FUTURE_ENDINGS = ("ai", "as", "a", "ons", "ez", "ont")
_IMPERFECT_ENDINGS = ("ais", "ais", "ait", "ions", "iez", "aient")
_SUBJUNCTIVE_ENDINGS = ("e", "es", "e", "ions", "iez", "ent")
_IRREGULAR_VERBS = {row["infinitive"]: row for row in read_table(IRREGULAR / "french_verbs.tsv", dict)}


def plural(word: str) -> str:
    """Return the plural of a noun or of a masculine adjective."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return f"{word[:-1]}ux"
    return word + ("x" if word.endswith(("au", "eu")) and word != "bleu" else "s")


def feminine(adjective: str) -> str:
    """Return the regular feminine of an adjective; the lexicon has the irregular ones."""
    endings = {"er": "ère", "eux": "euse", "if": "ive", "en": "enne", "el": "elle", "on": "onne", "e": "e"}
    for ending, replaced in endings.items():
        if adjective.endswith(ending):
            return adjective.removesuffix(ending) + replaced
    return f"{adjective}e"


@dataclass(frozen=True)
class Conjugation:
    """The forms of a verb, which is regular where `_IRREGULAR_VERBS` does not list it."""

    infinitive: str
    with_etre: bool = False

    def form(self, tense: FiniteTense, person: int) -> str:
        """Return the verb's form in a tense without an auxiliary; `person` is JE to ILS."""
        present = self._present
        if tense == "present":
            return present[person]
        if tense in ("future", "conditional"):
            return self._future_stem + (_FUTURE_ENDINGS if tense == "future" else _IMPERFECT_ENDINGS)[person]
        if tense == "imperfect":
            stem, endings = "ét" if self.infinitive == "être" else present[NOUS].removesuffix("ons"), _IMPERFECT_ENDINGS
        else:
            stems = self._irregular.get("subjunctive", "").split()
            stems = stems or [present[ILS].removesuffix("ent"), present[NOUS].removesuffix("ons")]
            stem, endings = stems[person in (NOUS, VOUS)], _SUBJUNCTIVE_ENDINGS
        ending = endings[person]
        if ending[0] in "ie":  # "mangions" for "mangeions", "commencions" for "commençions"
            stem = f"{stem[:-1]}c" if stem.endswith("ç") else stem.removesuffix("e") if stem.endswith("ge") else stem
        return stem + ending

    @property
    def participle(self) -> str:
        if self._irregular:
            return self._irregular["participle"]
        return self.infinitive[:-2] + _PARTICIPLE_ENDINGS[self.infinitive[-2:]]

    def agreeing_participle(self, gender: Gender, is_plural: bool) -> str:
        """Return the past participle, "mangé" to "mangées"; one that agrees with nothing is masculine singular."""
        participle = self.participle + "e" * (gender == "f")
        return plural(participle) if is_plural else participle

    @property
    def _irregular(self) -> dict[str, str]:
        return _IRREGULAR_VERBS.get(self.infinitive, {})

    @property
    def _present(self) -> list[str]:
        if self._irregular:
            return [self._irregular[person] for person in PERSONS]
        stem, ending = self.infinitive[:-2], self.infinitive[-2:]
        forms = [stem + person for person in _PRESENT_ENDINGS[ending]]
        if ending == "er" and stem[-1] in "gc":  # "mangeons", "commençons"
            forms[NOUS] = f"{stem}eons" if stem[-1] == "g" else f"{stem[:-1]}çons"
        return forms

    @property
    def _future_stem(self) -> str:
        return self._irregular.get("future", self.infinitive.removesuffix("e"))


ETRE, AVOIR = Conjugation("être"), Conjugation("avoir")


VOWELS = "aàâeéèêëiîïoôuùûœh"  # with the h that is silent


def begins_with_vowel(word: str) -> bool:
    """Return whether a word makes the word before it elide: it starts with a vowel, or an h without an asterisk."""
    return word[0].lower() in VOWELS


# Masculine, feminine, and plural, which some have for each gender.
DETERMINERS = {
    "le": ("le", "la", "les"), "un": ("un", "une", "des"), "ce": ("ce", "cette", "ces"), "mon": ("mon", "ma", "mes"),
    "ton": ("ton", "ta", "tes"), "son": ("son", "sa", "ses"), "notre": ("notre", "notre", "nos"),
    "votre": ("votre", "votre", "vos"), "leur": ("leur", "leur", "leurs"), "quel": ("quel", "quelle", "quels quelles"),
    "tout": ("tout", "toute", "tous toutes"), "nouveau": ("nouveau", "nouvelle", "nouveaux nouvelles"),
}  # fmt: skip
_FORMS_BEFORE_VOWEL = {"ma": "mon", "ta": "ton", "sa": "son", "ce": "cet", "nouveau": "nouvel"}


def determiner(base: str, is_feminine: bool, is_plural: bool, following: str) -> str:
    """Return the form of "le", "mon" and their like before a word; another text, such as "deux", as it is."""
    masculine, feminine, plurals = DETERMINERS.get(base, (base, base, base))
    if is_plural:
        return plurals.split()[-1 if is_feminine else 0]
    form = feminine if is_feminine else masculine
    return _FORMS_BEFORE_VOWEL.get(form, form) if begins_with_vowel(following) else form


_ELIDING_WORDS = {"le", "la", "de", "ne", "que", "je", "me"}
CONTRACTIONS = {"de le": "du", "de les": "des", "à le": "au", "à les": "aux"}


def spell(sentence: Sequence[GoldWord]) -> list[GoldWord]:
    """Return the words with elision and contraction; "du" is aligned with the words that "de" and "le" translate."""
    for word, following in zip(sentence, sentence[1:], strict=False):
        if word.text in _ELIDING_WORDS and begins_with_vowel(following.text):
            word.text = f"{word.text[:-1]}'"
            following.glued = True
    spelled: list[GoldWord] = []
    for word in sentence:
        before = spelled[-1] if spelled else None
        if before is not None and (contracted := CONTRACTIONS.get(f"{before.text} {word.text}")):
            before.text, before.of = contracted, before.of + word.of
        else:
            word.text = word.text.removeprefix("*")
            spelled.append(word)
    return spelled

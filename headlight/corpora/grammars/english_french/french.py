"""French inflection and spelling: agreement, conjugation, elision (l', d', qu'), contraction (du, aux).

An h that blocks elision is written with the asterisk of the dictionaries, "*haie", until the sentence is spelled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headlight.corpora.gold import GoldWord

Gender = Literal["m", "f"]
Tense = Literal["present", "past", "future", "imperfect"]

# The persons that a verb is conjugated for, in the order of its forms: "you" is always "vous".
JE, IL, NOUS, VOUS, ILS = range(5)

_FUTURE = ("ai", "a", "ons", "ez", "ont")
_PRESENT = {
    "er": ("e", "e", "ons", "ez", "ent"),
    "ir": ("is", "it", "issons", "issez", "issent"),
    "re": ("s", "", "ons", "ez", "ent"),
}
_PARTICIPLE = {"er": "é", "ir": "i", "re": "u"}


def plural(word: str) -> str:
    """Of a noun, or of a masculine adjective."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return f"{word[:-1]}ux"
    return word + ("x" if word.endswith(("au", "eu")) and word != "bleu" else "s")


def feminine(adjective: str) -> str:
    """The regular one; the lexicon has the others."""
    endings = {"er": "ère", "eux": "euse", "if": "ive", "en": "enne", "el": "elle", "on": "onne", "e": "e"}
    for ending, replaced in endings.items():
        if adjective.endswith(ending):
            return adjective.removesuffix(ending) + replaced
    return f"{adjective}e"


@dataclass(frozen=True)
class Conjugation:
    """A verb. What is empty is regular for its ending."""

    infinitive: str
    present: tuple[str, ...] = ()  # for je, il, nous, vous, ils
    future: str = ""  # the stem
    participle: str = ""
    imperfect: str = ""  # the stem
    with_etre: bool = False

    def form(self, tense: Tense, person: int) -> str:
        """The one finite form of a tense that has no auxiliary."""
        stem, ending = self.infinitive[:-2], self.infinitive[-2:]
        if tense == "future":
            return (self.future or self.infinitive.removesuffix("e")) + _FUTURE[person]
        if tense == "imperfect":
            return self.imperfect + ("ais", "ait", "ions", "iez", "aient")[person]
        return self.present[person] if self.present else stem + _PRESENT[ending][person]

    def agreeing_participle(self, gender: Gender, is_plural: bool) -> str:
        """ "mangé", "mangées"; the masculine singular also where it agrees with nothing."""
        participle = self.participle or self.infinitive[:-2] + _PARTICIPLE[self.infinitive[-2:]]
        participle += "e" * (gender == "f")
        return plural(participle) if is_plural else participle


ETRE = Conjugation("être", ("suis", "est", "sommes", "êtes", "sont"), "ser", "été", "ét")
AVOIR = Conjugation("avoir", ("ai", "a", "avons", "avez", "ont"), "aur", "eu", "av")


def begins_with_vowel(word: str) -> bool:
    """Whether the words before it elide."""
    return word[0].lower() in "aàâeéèêiîoôuœh"


_ELIDE = {"le", "la", "de", "ne", "que", "je", "me"}
_CONTRACT = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def spell(sentence: Sequence[GoldWord]) -> list[GoldWord]:
    """The words with elision and contraction; "du" is written for what "de" and "le" were written for."""
    for word, following in zip(sentence, sentence[1:], strict=False):
        if word.text in _ELIDE and begins_with_vowel(following.text):
            word.text = f"{word.text[:-1]}'"
            following.glued = True
    spelled: list[GoldWord] = []
    for word in sentence:
        before = spelled[-1] if spelled else None
        if before is not None and (contracted := _CONTRACT.get((before.text, word.text))):
            before.text, before.of = contracted, before.of + word.of
        else:
            word.text = word.text.removeprefix("*")
            spelled.append(word)
    return spelled

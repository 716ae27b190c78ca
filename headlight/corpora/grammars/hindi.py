"""Hindi inflection: nouns by gender, number and case; adjectives and verbs by what they agree with.

Hindi is written with its dots (ज़, फ़, ख़, ग़, क़, ड़, ढ़), the chandrabindu where the letter has room for it (हूँ, गाँव, but हैं,
में), and in NFC, which writes the dotted letters as two code points.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Gender = Literal["m", "f"]


class HindiAgreement(NamedTuple):
    """The features that a Hindi verb or adjective takes from its noun.

    `first` is मैं, whose verb has forms of its own.
    """

    gender: Gender
    plural: bool = False
    first: bool = False


NEUTRAL_AGREEMENT = HindiAgreement("m")  # a verb that agrees with nothing is masculine singular


def noun_form(word: str, gender: Gender, plural: bool, oblique: bool, fixed: bool = False) -> str:
    """Return a form of a noun: लड़का, लड़के / लड़के, लड़कों. A postposition puts its noun into the oblique case.

    `fixed` nouns have endings in the oblique plural only: राजा, and a woman who is a डॉक्टर.
    """
    stem = word[:-1]
    if gender == "m" and word.endswith("ा") and not fixed:
        return stem + ("ों" if plural and oblique else "े" if plural or oblique else "ा")
    if not plural or ((gender == "m" or fixed) and not oblique):
        return word
    ending = "ों" if oblique else "ें"
    if word.endswith("िया"):  # चिड़ियाँ
        return stem + "ों" if oblique else f"{word}ँ"
    if word.endswith(("ी", "ई")):  # लड़कियाँ, मिठाइयाँ
        return stem + ("ि" if word.endswith("ी") else "इ") + ("यों" if oblique else "याँ")
    if word.endswith("ू"):  # आलुओं
        return f"{stem}ुओं"
    if word.endswith("ा"):  # पत्रिकाएँ, राजाओं
        return word + ("ओं" if oblique else "एँ")
    return word + ending


def inflected(word: str, agreement: HindiAgreement, oblique: bool = False) -> str:
    """Return an adjective's form: अच्छा, अच्छे, अच्छी; नया, नए, नई; सुंदर is invariable; each word of थका हुआ changes."""
    many = agreement.plural or oblique
    if word == "नया":
        return "नई" if agreement.gender == "f" else "नए" if many else "नया"
    ending, independent_vowel = ("ी", "ई") if agreement.gender == "f" else ("े", "ए") if many else ("ा", "आ")
    parts = word.split()
    return " ".join(
        part[:-1] + ending if part.endswith("ा") else part[:-1] + independent_vowel if part.endswith("आ") else part
        for part in parts
    )


@dataclass(frozen=True)
class Stem:
    """A Hindi verb without its -ना, and its forms."""

    text: str

    def imperfective(self, agreement: HindiAgreement) -> str:
        return self.text + inflected("ता", agreement)

    def infinitive(self, agreement: HindiAgreement = NEUTRAL_AGREEMENT) -> str:
        return self.text + inflected("ना", agreement)

    def perfective(self, agreement: HindiAgreement, alone: bool) -> str:
        """Return the perfective: पढ़ा, पढ़े, पढ़ी, and पढ़ीं where no है or था shows the plural; खाया, पिया, गया."""
        irregular = {"कर": "कि", "दे": "दि", "जा": "ग", "पी": "पि"}.get(self.text)
        stem = irregular or self.text
        if agreement.gender == "f":
            # कि + ई is की, as दि + ई is दी; ग + ई stays गई.
            ending = "ई" if stem == "ग" or (not irregular and _open(stem)) else "ी"
            stem = stem.removesuffix("ि") if irregular else stem
            return stem + ending + ("ं" if agreement.plural and alone else "")
        if irregular or _open(stem):
            return stem + ("ए" if agreement.plural else "या")
        return stem + ("े" if agreement.plural else "ा")

    def future(self, agreement: HindiAgreement) -> str:
        """Return the future: पढ़ूँगा, पढ़ेगा, पढ़ेंगे; खाऊँगा, खाएगा, खाएँगे; दूँगा, देगा, देंगे."""
        stem, gender = self.text, inflected("गा", agreement)
        if stem in ("दे", "हो"):
            first = {"दे": "दूँ", "हो": "होऊँ"}[stem]
            return (first if agreement.first else stem + "ं" if agreement.plural else stem) + gender
        stem = stem.replace("पी", "पि")
        person = ("ऊँ", "एँ", "ए") if _open(stem) else ("ूँ", "ें", "े")
        return stem + person[0 if agreement.first else 1 if agreement.plural else 2] + gender

    @property
    def please(self) -> str:
        """The imperative to somebody who is called आप."""
        irregular = {"कर": "कीजिए", "दे": "दीजिए", "पी": "पीजिए"}.get(self.text)
        return irregular or self.text + ("इए" if _open(self.text) else "िए")


def _open(stem: str) -> bool:
    """Return whether a stem ends in a vowel."""
    return stem[-1] in "ािीुूेैोआई"


def is_(agreement: HindiAgreement) -> str:
    return "हूँ" if agreement.first else "हैं" if agreement.plural else "है"


def was(agreement: HindiAgreement) -> str:
    return inflected("था", agreement) + ("ं" if agreement.plural and agreement.gender == "f" else "")


BE = Stem("हो")

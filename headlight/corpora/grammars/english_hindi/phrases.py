"""Noun phrases and pronouns of the English-Hindi grammar, in both languages at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headlight.corpora.english import article
from headlight.corpora.gold import GoldWord
from headlight.corpora.grammars.english_hindi.lexicon import Adjective, HindiNoun
from headlight.corpora.grammars.hindi import Gender, HindiAgreement, inflected


class BilingualText(NamedTuple):
    """The same words in both languages, or a whole sentence."""

    english: list[GoldWord]
    hindi: list[GoldWord]


@dataclass(frozen=True)
class HindiPhrase:
    """A noun phrase. `pronoun` is the English pronoun that would replace it, with which the English verb agrees."""

    english: tuple[GoldWord, ...]
    head: GoldWord
    direct: tuple[GoldWord, ...]
    oblique: tuple[GoldWord, ...]
    agreement: HindiAgreement
    pronoun: str
    animate: bool = True
    noun: HindiNoun | None = None
    fused: Mapping[str, str] = field(default_factory=dict)  # the pronouns' own forms: "ने" to मैंने; "का" to मेरा

    @property
    def text(self) -> BilingualText:
        """The phrase in the direct case."""
        return BilingualText(list(self.english), list(self.direct))

    def marked(self, marker: str, of: Sequence[GoldWord] = ()) -> tuple[GoldWord, ...]:
        """Add a postposition such as "ने" or "के साथ", aligned with the words `of`, or else with the head.

        The के of a compound postposition belongs to the noun, as in मेरे साथ.
        """
        if not marker:
            return self.direct
        first, *rest = marker.split()
        if first == "के":
            compound = (GoldWord(word, tuple(of) or (self.head,)) for word in rest)
            return (*self.genitive(HindiAgreement("m"), oblique=True), *compound)
        return self._with(first, self.fused.get(first), of)

    def genitive(
        self, agreement: HindiAgreement, oblique: bool = False, of: Sequence[GoldWord] = ()
    ) -> tuple[GoldWord, ...]:
        """Return the genitive: राम का, राम की, मेरे. का agrees with the possession."""
        fused_genitive = self.fused.get("का")
        return self._with(
            inflected("का", agreement, oblique), fused_genitive and inflected(fused_genitive, agreement, oblique), of
        )

    def _with(self, marker: str, fused: str | None, of: Sequence[GoldWord]) -> tuple[GoldWord, ...]:
        if fused:
            return (GoldWord(fused, (self.head, *of)),)
        return (*self.oblique, GoldWord(marker, tuple(of) or (self.head,)))


# English subject, object and possessive; Hindi and its forms with ने, को, से and का
_PRONOUNS: dict[str, tuple[str, str, HindiAgreement, str, str, str, str, str]] = {
    "I": ("me", "my", HindiAgreement("m", first=True), "मैं", "मैंने", "मुझे", "मुझसे", "मेरा"),
    "you": ("you", "your", HindiAgreement("m", True), "आप", "आपने", "आपको", "आपसे", "आपका"),
    "he": ("him", "his", HindiAgreement("m"), "वह", "उसने", "उसे", "उससे", "उसका"),
    "she": ("her", "her", HindiAgreement("f"), "वह", "उसने", "उसे", "उससे", "उसका"),
    "it": ("it", "its", HindiAgreement("m"), "वह", "उसने", "उसे", "उससे", "उसका"),
    "we": ("us", "our", HindiAgreement("m", True), "हम", "हमने", "हमें", "हमसे", "हमारा"),
    "they": ("them", "their", HindiAgreement("m", True), "वे", "उन्होंने", "उन्हें", "उनसे", "उनका"),
}
PEOPLE = ("I", "you", "he", "she", "we", "they")


def pronoun(
    name: str, role: str = "subject", agreement: HindiAgreement | None = None, animate: bool = True
) -> HindiPhrase:
    """Return a pronoun. `agreement` is that of its noun; one honoured person is वे."""
    object_form, possessive_form, default_agreement, *forms = _PRONOUNS[name]
    agreement = agreement or default_agreement
    if agreement.plural and name in ("he", "she"):
        forms = list(_PRONOUNS["they"][3:])
    head = GoldWord({"subject": name, "object": object_form, "possessive": possessive_form}[role])
    direct, *fused = forms
    hindi_words = (GoldWord(direct, (head,)),)
    cases = dict(zip(("ने", "को", "से", "का"), fused, strict=True))
    return HindiPhrase((head,), head, hindi_words, hindi_words, agreement, name, animate, fused=cases)


def possessive(name: str, is_own: bool) -> HindiPhrase:
    """Return "my" and its translation: मेरा, or अपना with `is_own`, where the possessor is the subject of the clause."""
    phrase = pronoun(name, "possessive")
    return HindiPhrase(
        phrase.english, phrase.head, (), (), phrase.agreement, name, fused={"का": "अपना"} if is_own else phrase.fused
    )


WHO_FORMS = {"ने": "किसने", "को": "किसे", "से": "किससे", "का": "किसका"}


def who(name: str = "who") -> HindiPhrase:
    head = GoldWord(name)
    hindi_words = (GoldWord("कौन", (head,)),)
    return HindiPhrase((head,), head, hindi_words, hindi_words, HindiAgreement("m"), "he", fused=WHO_FORMS)


def what() -> HindiPhrase:
    head = GoldWord("what")
    hindi_words = (GoldWord("क्या", (head,)),)
    return HindiPhrase((head,), head, hindi_words, hindi_words, HindiAgreement("m"), "it", animate=False)


def proper(english: str, hindi: str, gender: Gender, animate: bool = True) -> HindiPhrase:
    head = GoldWord(english)
    name = "it" if not animate else "he" if gender == "m" else "she"
    return HindiPhrase(
        (head,), head, (GoldWord(hindi, (head,)),), (GoldWord(hindi, (head,)),), HindiAgreement(gender), name, animate
    )


def coordinated(left: HindiPhrase, right: HindiPhrase) -> HindiPhrase:
    """Join two people. Women keep feminine forms; with a man among them the forms are masculine."""
    conjunction = GoldWord("and")
    gender: Gender = "f" if left.agreement.gender == right.agreement.gender == "f" else "m"
    direct, oblique = (
        (*first, GoldWord("और", (conjunction,)), *second)
        for first, second in ((left.direct, right.direct), (left.oblique, right.oblique))
    )
    english = (*left.english, conjunction, *right.english)
    return HindiPhrase(english, right.head, direct, oblique, HindiAgreement(gender, True), "they")


# English determiner: Hindi before a noun in the direct and in the oblique case
_DETERMINERS = {
    "a": ("एक", "एक"), "this": ("यह", "इस"), "that": ("वह", "उस"), "these": ("ये", "इन"), "those": ("वे", "उन"),
    "some": ("कुछ", "कुछ"), "many": ("कई", "कई"), "every": ("हर", "हर"), "which": ("कौन सा", "कौन सा"),
    "how many": ("कितना", "कितना"),
}  # fmt: skip


@dataclass(frozen=True)
class HindiDeterminer:
    """The words before adjective and noun: "the", nothing, a word of the table with its Hindi, or a possessor."""

    english: str = ""
    hindi: str = ""
    possessor: HindiPhrase | None = None

    def write(self, agreement: HindiAgreement, following: str) -> tuple[list[GoldWord], list[GoldWord], list[GoldWord]]:
        """Return the English, the direct and the oblique Hindi; "the" has no counterpart."""
        if self.possessor is not None:
            ending = [] if self.possessor.fused else [GoldWord("'s", glued=True)]
            direct, oblique = (list(self.possessor.genitive(agreement, case, ending)) for case in (False, True))
            return [*self.possessor.english, *ending], direct, oblique
        if not self.english:
            return [], [], []
        word = GoldWord(article(following)) if self.english == "a" else GoldWord(self.english)
        if self.english == "the":
            return [word], [], []
        direct_form, oblique_form = (self.hindi, self.hindi) if self.hindi else _DETERMINERS[self.english]
        return (
            [word],
            [GoldWord(inflected(direct_form, agreement), (word,))],
            [GoldWord(inflected(oblique_form, agreement, oblique=True), (word,))],
        )


def noun_phrase(
    noun: HindiNoun, plural: bool = False, determiner: HindiDeterminer | None = None, adjective: Adjective | None = None
) -> HindiPhrase:
    agreement = HindiAgreement(noun.gender, plural or "honoured" in noun.kinds)
    head = GoldWord((noun.plural or noun.english) if plural else noun.english)
    quality = [GoldWord(adjective.english)] if adjective else []
    following = (quality or [head])[0].text
    before, direct, oblique = (determiner or HindiDeterminer()).write(agreement, following)
    for hindi_words, is_oblique in ((direct, False), (oblique, True)):
        if adjective:
            hindi_words.append(GoldWord(inflected(adjective.hindi, agreement, is_oblique), tuple(quality)))
        hindi_words.append(GoldWord(noun.form(plural, is_oblique), (head,)))
    human = noun.is_any("person kin honoured adult")
    if plural:
        name = "they"
    elif human:
        name = "he" if noun.gender == "m" else "she"
    else:
        name = "it"
    alive = human or noun.is_any("animal")
    return HindiPhrase((*before, *quality, head), head, tuple(direct), tuple(oblique), agreement, name, alive, noun)

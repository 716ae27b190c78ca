"""French inflection and spelling: agreement, conjugation, elision (l', d', qu'), contraction (du, aux).

An h that blocks elision is written with the asterisk of the dictionaries, "*haie", until the sentence is spelled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headlight.corpora.gold import GoldWord

Gender = Literal["m", "f"]
Tense = Literal["present", "past", "future", "imperfect"]
FiniteTense = Literal[Tense, "conditional", "subjunctive"]

# The persons of a verb, in the order of its forms.
JE, TU, IL, NOUS, VOUS, ILS = range(6)

_PRESENT_ENDINGS = {
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
}
_PARTICIPLE_ENDINGS = {"er": "é", "ir": "i", "re": "u"}
_FUTURE_ENDINGS = ("ai", "as", "a", "ons", "ez", "ont")
_IMPERFECT_ENDINGS = ("ais", "ais", "ait", "ions", "iez", "aient")
_SUBJUNCTIVE_ENDINGS = ("e", "es", "e", "ions", "iez", "ent")
_SUBJUNCTIVE_STEMS = {"aller": "aill all", "faire": "fass fass", "prendre": "prenn pren", "boire": "boiv buv"}
# Infinitive, present, participle, and the stem of the future where it is not the infinitive's.
_IRREGULAR_VERBS = {
    line.split()[0]: line.split()[1:]
    for line in """
avoir ai as a avons avez ont eu aur
être suis es est sommes êtes sont été ser
aller vais vas va allons allez vont allé ir
faire fais fais fait faisons faites font fait fer
écrire écris écris écrit écrivons écrivez écrivent écrit
lire lis lis lit lisons lisez lisent lu
boire bois bois boit buvons buvez boivent bu
prendre prends prends prend prenons prenez prennent pris
apprendre apprends apprends apprend apprenons apprenez apprennent appris
ouvrir ouvre ouvres ouvre ouvrons ouvrez ouvrent ouvert
offrir offre offres offre offrons offrez offrent offert
dire dis dis dit disons dites disent dit
peindre peins peins peint peignons peignez peignent peint
conduire conduis conduis conduit conduisons conduisez conduisent conduit
mettre mets mets met mettons mettez mettent mis
courir cours cours court courons courez courent couru courr
pouvoir peux peux peut pouvons pouvez peuvent pu pourr
vouloir veux veux veut voulons voulez veulent voulu voudr
devoir dois dois doit devons devez doivent dû devr
savoir sais sais sait savons savez savent su saur
appeler appelle appelles appelle appelons appelez appellent appelé appeller
acheter achète achètes achète achetons achetez achètent acheté achèter
lever lève lèves lève levons levez lèvent levé lèver
envoyer envoie envoies envoie envoyons envoyez envoient envoyé enverr
construire construis construis construit construisons construisez construisent construit
dormir dors dors dort dormons dormez dorment dormi
voir vois vois voit voyons voyez voient vu verr
comprendre comprends comprends comprend comprenons comprenez comprennent compris
nettoyer nettoie nettoies nettoie nettoyons nettoyez nettoient nettoyé nettoier
essayer essaie essaies essaie essayons essayez essaient essayé essaier
payer paie paies paie payons payez paient payé paier
suivre suis suis suit suivons suivez suivent suivi
éteindre éteins éteins éteint éteignons éteignez éteignent éteint
plaindre plains plains plaint plaignons plaignez plaignent plaint
traire trais trais trait trayons trayez traient trait
rire ris ris rit rions riez rient ri
tenir tiens tiens tient tenons tenez tiennent tenu tiendr
partir pars pars part partons partez partent parti
sortir sors sors sort sortons sortez sortent sorti
résoudre résous résous résout résolvons résolvez résolvent résolu
traduire traduis traduis traduit traduisons traduisez traduisent traduit
cueillir cueille cueilles cueille cueillons cueillez cueillent cueilli cueiller
asseoir assieds assieds assied asseyons asseyez asseyent assis assiér
promener promène promènes promène promenons promenez promènent promené promèner
sécher sèche sèches sèche séchons séchez sèchent séché
enlever enlève enlèves enlève enlevons enlevez enlèvent enlevé enlèver
essuyer essuie essuies essuie essuyons essuyez essuient essuyé essuier
balayer balaie balaies balaie balayons balayez balaient balayé balaier
effrayer effraie effraies effraie effrayons effrayez effraient effrayé effraier
""".strip().splitlines()
}


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
            stems = _SUBJUNCTIVE_STEMS.get(self.infinitive, "").split()
            stems = stems or [present[ILS].removesuffix("ent"), present[NOUS].removesuffix("ons")]
            stem, endings = stems[person in (NOUS, VOUS)], _SUBJUNCTIVE_ENDINGS
        ending = endings[person]
        if ending[0] in "ie":  # "mangions" for "mangeions", "commencions" for "commençions"
            stem = f"{stem[:-1]}c" if stem.endswith("ç") else stem.removesuffix("e") if stem.endswith("ge") else stem
        return stem + ending

    @property
    def participle(self) -> str:
        forms = _IRREGULAR_VERBS.get(self.infinitive)
        return forms[6] if forms else self.infinitive[:-2] + _PARTICIPLE_ENDINGS[self.infinitive[-2:]]

    def agreeing_participle(self, gender: Gender, is_plural: bool) -> str:
        """Return the past participle, "mangé" to "mangées"; one that agrees with nothing is masculine singular."""
        participle = self.participle + "e" * (gender == "f")
        return plural(participle) if is_plural else participle

    @property
    def _present(self) -> list[str]:
        if self.infinitive in _IRREGULAR_VERBS:
            return _IRREGULAR_VERBS[self.infinitive][:6]
        stem, ending = self.infinitive[:-2], self.infinitive[-2:]
        forms = [stem + person for person in _PRESENT_ENDINGS[ending]]
        if ending == "er" and stem[-1] in "gc":  # "mangeons", "commençons"
            forms[NOUS] = f"{stem}eons" if stem[-1] == "g" else f"{stem[:-1]}çons"
        return forms

    @property
    def _future_stem(self) -> str:
        return "".join(_IRREGULAR_VERBS.get(self.infinitive, ())[7:]) or self.infinitive.removesuffix("e")


ETRE, AVOIR = Conjugation("être"), Conjugation("avoir")


def begins_with_vowel(word: str) -> bool:
    """Return whether a word makes the word before it elide: it starts with a vowel, or an h without an asterisk."""
    return word[0].lower() in "aàâeéèêëiîïoôuùûœh"


# Masculine, feminine, and plural, which some have for each gender.
_DETERMINERS = {
    "le": ("le", "la", "les"), "un": ("un", "une", "des"), "ce": ("ce", "cette", "ces"), "mon": ("mon", "ma", "mes"),
    "ton": ("ton", "ta", "tes"), "son": ("son", "sa", "ses"), "notre": ("notre", "notre", "nos"),
    "votre": ("votre", "votre", "vos"), "leur": ("leur", "leur", "leurs"), "quel": ("quel", "quelle", "quels quelles"),
    "tout": ("tout", "toute", "tous toutes"),
}  # fmt: skip
_FORMS_BEFORE_VOWEL = {"ma": "mon", "ta": "ton", "sa": "son", "ce": "cet"}


def determiner(base: str, is_feminine: bool, is_plural: bool, following: str) -> str:
    """Return the form of "le", "mon" and their like before a word; another text, such as "deux", as it is."""
    masculine, feminine, plurals = _DETERMINERS.get(base, (base, base, base))
    if is_plural:
        return plurals.split()[-1 if is_feminine else 0]
    form = feminine if is_feminine else masculine
    return _FORMS_BEFORE_VOWEL.get(form, form) if begins_with_vowel(following) else form


_ELIDING_WORDS = {"le", "la", "de", "ne", "que", "je", "me"}
_CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def spell(sentence: Sequence[GoldWord]) -> list[GoldWord]:
    """Return the words with elision and contraction; "du" is aligned with the words that "de" and "le" translate."""
    for word, following in zip(sentence, sentence[1:], strict=False):
        if word.text in _ELIDING_WORDS and begins_with_vowel(following.text):
            word.text = f"{word.text[:-1]}'"
            following.glued = True
    spelled: list[GoldWord] = []
    for word in sentence:
        before = spelled[-1] if spelled else None
        if before is not None and (contracted := _CONTRACTIONS.get((before.text, word.text))):
            before.text, before.of = contracted, before.of + word.of
        else:
            word.text = word.text.removeprefix("*")
            spelled.append(word)
    return spelled

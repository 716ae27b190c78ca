"""French for the tests, independent of the grammar: genders, aspirated h, and conjugations."""

import random
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from headlight.corpora.gold import GoldPair
from headlight.corpora.grammars.english_french import ENGLISH_FRENCH
from tests.grammar_samples import listed

MASCULINE = listed("""
homme garçon roi père frère oncle grand-père acteur serveur prince policier pêcheur chat chien animal cheval
âne chameau cochon canard lapin lièvre écureuil renard loup ours lion singe éléphant zèbre hérisson
boulevard chemin pont couloir tunnel lac ruisseau canal étang champ désert marais volcan escalier rocher mur
fossé portail livre poème roman journal manteau chapeau foulard pull parapluie violon coussin casque jouet
tableau ballon marteau sac panier tiroir coffre placard seau vase bol miroir canapé fauteuil lit bureau banc
piano salon garage hangar camion bus tracteur taxi traîneau chariot tambour orage robot feu projecteur hôtel
château hôpital musée restaurant théâtre puits panneau monument arbre marché aéroport jardin parc village
couteau rasoir tronc câble pain fromage poisson riz gâteau biscuit sandwich melon citron œuf lait thé jus""")
FEMININE = listed("""
femme fille reine mère sœur tante grand-mère actrice serveuse princesse policière mule jument vache chèvre
poule oie souris grenouille tortue lionne panthère chouette loutre girafe gazelle rue route avenue piste
ruelle rivière baie prairie forêt vallée plaine colline montagne falaise clôture haie barrière lettre
histoire carte robe chemise jupe veste guitare lampe couverture poupée épée tente raquette clé montre pierre
brique boîte valise caisse armoire tasse bouteille assiette statue table chaise échelle porte fenêtre
cuisine chambre cave grange étable voiture camionnette moto ambulance charrette charrue caravane cloche
sirène tempête machine bougie torche lanterne maison tour église école bibliothèque gare cabane fontaine
plage ville scie hache corde branche viande soupe salade pizza omelette tarte pomme poire orange carotte eau
limonade""")
IRREGULAR_PLURALS = {
    "animal": "animaux", "cheval": "chevaux", "canal": "canaux", "journal": "journaux", "portail": "portails",
    "grand-père": "grands-pères", "grand-mère": "grands-mères", "feu": "feux", "hôpital": "hôpitaux",
}  # fmt: skip


def plural(noun: str) -> str:
    return IRREGULAR_PLURALS.get(noun) or noun + ("" if noun[-1] in "sxz" else "x" if noun.endswith("eau") else "s")


# Masculine, feminine, masculine plural; the feminine plural has an s.
ADJECTIVES = """grand grande grands, petit petite petits, beau belle beaux, bel belle beaux, vieux vieille vieux, vieil
vieille vieux, nouveau nouvelle nouveaux, nouvel nouvelle nouveaux, joli jolie jolis, mauvais mauvaise mauvais, bon
bonne bons, long longue longs, étroit étroite étroits, profond profonde profonds, haut haute hauts, bas basse bas,
fréquenté fréquentée fréquentés, glissant glissante glissants, dangereux dangereuse dangereux, bruyant bruyante
bruyants, boueux boueuse boueux, verglacé verglacée verglacés, inondé inondée inondés, fermé fermée fermés, bondé bondée
bondés, fatigué fatiguée fatigués, effrayé effrayée effrayés, lent lente lents, paresseux paresseuse paresseux, nerveux
nerveuse nerveux, têtu têtue têtus, prudent prudente prudents, curieux curieuse curieux, maladroit maladroite
maladroits, blessé blessée blessés, lourd lourde lourds, léger légère légers, plein pleine pleins, chaud chaude chauds,
froid froide froids, frais fraîche frais, salé salée salés, épicé épicée épicés, sucré sucrée sucrés, amer amère amers,
sec sèche secs, dur dure durs, mou molle mous, épais épaisse épais, fin fine fins, émoussé émoussée émoussés, rusé rusée
rusés, cher chère chers, ennuyeux ennuyeuse ennuyeux, bleu bleue bleus, vert verte verts, blanc blanche blancs, noir
noire noirs, gris grise gris, brun brune bruns, français française français, anglais anglaise anglais, allemand
allemande allemands, italien italienne italiens, espagnol espagnole espagnols, américain américaine américains, japonais
japonaise japonais"""
SAME_IN_BOTH = listed("""
jeune large raide sombre faible malade timide pauvre fragile solide rapide agile confortable agréable sale calme
rouge jaune russe riche""")

Agreement = tuple[str, str]  # ("m" or "f", "singular" or "plural")


def genders_of_adjectives() -> dict[str, set[Agreement]]:
    forms: dict[str, set[Agreement]] = {}
    for entry in ADJECTIVES.split(","):
        masculine, feminine, masculines = entry.split()
        for form, agreement in (
            (masculine, ("m", "singular")), (feminine, ("f", "singular")),
            (masculines, ("m", "plural")), (f"{feminine}s", ("f", "plural")),
        ):  # fmt: skip
            forms.setdefault(form, set()).add(agreement)
    for form in SAME_IN_BOTH:
        forms[form] = {("m", "singular"), ("f", "singular")}
        forms[f"{form}s"] = {("m", "plural"), ("f", "plural")}
    return forms


ADJECTIVE = genders_of_adjectives()
NOUN: dict[str, Agreement] = {}
for gender, names in (("m", MASCULINE), ("f", FEMININE)):
    for name in names:
        NOUN[plural(name)] = (gender, "plural")
        if plural(name) != name:  # "souris" is told apart by what stands before it
            NOUN[name] = (gender, "singular")
BOTH_NUMBERS = {name: gender for gender, names in (("m", MASCULINE), ("f", FEMININE)) for name in names
                if plural(name) == name}  # fmt: skip
ASPIRATED = ("hérisson", "haie", "hangar", "hache", "haut", "bas")
VOWELS = "aàâeéèêiîoôuœh"

SINGULAR_DETERMINERS = {
    "m": {"le", "un", "ce", "cet", "mon", "son"},
    "f": {"la", "une", "cette", "ma", "sa", "mon", "son"},
}
EITHER = {"l", "votre", "notre", "leur", "d", "de"}
PLURAL_DETERMINERS = {
    "les",
    "des",
    "ces",
    "mes",
    "vos",
    "ses",
    "nos",
    "leurs",
    "deux",
    "trois",
    "quatre",
    "aux",
    "de",
    "d",
}


def hears_vowel(word: str) -> bool:
    return word[0].lower() in VOWELS and not word.startswith(ASPIRATED)


def tokens(text: str) -> list[str]:
    """Words, with the hyphens and the apostrophe of "grand-mère" and "aujourd'hui" inside them."""
    return re.findall(r"aujourd'hui|grands?-[mp]ères?|est-ce|\w+|[^\w\s]", text.lower())


class Verb(NamedTuple):
    """The forms of a verb for je, il, nous, vous and ils in each simple tense, and its participle."""

    present: list[str]
    future: list[str]
    participle: str
    imperfect: list[str]  # empty where no sentence needs it


def _verbs(text: str) -> dict[str, Verb]:
    """From lines "boire: bois boit ...; boirai boira ...; bu"."""
    verbs = {}
    for line in text.splitlines():
        infinitive, forms = line.split(": ")
        present, future, participle, *imperfect = forms.split("; ")
        verbs[infinitive] = Verb(listed(present), listed(future), participle, listed(" ".join(imperfect)))
    return verbs


CONJUGATED = _verbs((Path(__file__).parent / "fixtures" / "grammars" / "french-verbs.txt").read_text(encoding="utf-8"))
WITH_ETRE = set(listed("aller arriver entrer passer rentrer rester tomber"))


@cache
def many() -> list[GoldPair]:
    """Return 10,000 sentences to count in, generated once for all tests."""
    rng = random.Random("test")
    return [ENGLISH_FRENCH.pair(rng) for _ in range(10_000)]

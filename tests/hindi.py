"""Hindi for the tests, independent of the grammar: genders, the oblique case, and agreement of verbs."""

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from headlight.corpora.gold import GoldPair, split_words
from headlight.corpora.grammars.english_hindi import ENGLISH_HINDI
from tests.grammar_samples import listed

read = cache(split_words)
SAMPLE = Path(__file__).parent / "fixtures" / "grammars" / "english-hindi.txt"


def table(text: str) -> dict[str, str]:
    return dict(entry.split() for entry in text.replace("\n", " ").split(",") if entry.strip())


MASCULINE = table("""
boy लड़का, child बच्चा, man आदमी, farmer किसान, doctor डॉक्टर, teacher शिक्षक, student छात्र, singer गायक, writer लेखक,
soldier सैनिक, gardener माली, king राजा, thief चोर, guest मेहमान, friend दोस्त, neighbour पड़ोसी, brother भाई, son बेटा,
father पिताजी, grandfather दादाजी, dog कुत्ता, horse घोड़ा, elephant हाथी, monkey बंदर, lion शेर, mouse चूहा, rabbit ख़रगोश,
camel ऊँट, parrot तोता, bear भालू, mango आम, apple सेब, banana केला, orange संतरा, guava अमरूद, potato आलू, tomato टमाटर,
samosa समोसा, pizza पिज़्ज़ा, rice चावल, egg अंडा, biscuit बिस्कुट, water पानी, milk दूध, juice रस, newspaper अख़बार,
play नाटक, match मैच, song गीत, music संगीत, cricket क्रिकेट, football फ़ुटबॉल, bag थैला, box डिब्बा, toy खिलौना,
blanket कंबल, shoe जूता, necklace हार, gift तोहफ़ा, phone फ़ोन, umbrella छाता, glass गिलास, cup प्याला, knife चाकू,
mirror शीशा, flower फूल, house घर, school स्कूल, temple मंदिर, hospital अस्पताल, library पुस्तकालय, palace महल,
hotel होटल, office दफ़्तर, station स्टेशन, room कमरा, door दरवाज़ा, bed बिस्तर, garden बग़ीचा, field खेत, forest जंगल,
village गाँव, city शहर, market बाज़ार, bridge पुल, tree पेड़, mountain पहाड़""")
FEMININE = table("""
girl लड़की, woman औरत, nurse नर्स, queen रानी, sister बहन, daughter बेटी, mother माँ, grandmother दादी,
cat बिल्ली, cow गाय, goat बकरी, bird चिड़िया, carrot गाजर, vegetable सब्ज़ी, chapati रोटी, sweet मिठाई,
tea चाय, coffee कॉफ़ी, lassi लस्सी, book किताब, letter चिट्ठी, story कहानी, poem कविता, magazine पत्रिका,
film फ़िल्म, hockey हॉकी, Hindi हिंदी, English अंग्रेज़ी, Urdu उर्दू, Tamil तमिल, Punjabi पंजाबी, table
मेज़, chair कुर्सी, basket टोकरी, key चाबी, watch घड़ी, picture तस्वीर, shirt क़मीज़, sari साड़ी, hat
टोपी, ring अँगूठी, ball गेंद, plate थाली, bottle बोतल, pencil पेंसिल, rope रस्सी, car कार, bicycle
साइकिल, bus बस, train ट्रेन, boat नाव, shop दुकान, kitchen रसोई, window खिड़की, roof छत, road सड़क, river
नदी""")
NOUNS = MASCULINE | FEMININE
MEN = table("""Ram राम, Mohan मोहन, Ravi रवि, Amit अमित, Arjun अर्जुन, Vijay विजय, Rahul राहुल, Anil अनिल, Gopal गोपाल,
Suresh सुरेश""")
WOMEN = table("""Sita सीता, Gita गीता, Radha राधा, Meera मीरा, Anita अनीता, Priya प्रिया, Neha नेहा, Sunita सुनीता,
Anjali अंजलि, Deepa दीपा""")
GENDER = {hindi: "m" for hindi in (*MASCULINE.values(), *MEN.values())}
GENDER |= {hindi: "f" for hindi in (*FEMININE.values(), *WOMEN.values())}
IRREGULAR = table("children child, men man, women woman, mice mouse, knives knife, thieves thief")
HONOURED = {"पिताजी", "दादाजी", "माँ", "दादी"}
UNCHANGED = {"राजा"}  # masculine in -ा, but the same in the oblique case
POSTPOSITIONS = set(listed("ने को में पर से का के की"))
INFLECTING = set(
    listed("""
अच्छ बुर बूढ़ पुरान बड़ छोट लंब ऊँच चौड़ सँकर गहर मोट दुबल भूख प्यास काल भूर नील हर पील मीठ खट्ट
ताज़ कच्च ठंड सस्त महँग हल्क गंद थक टूट मेर आपक उसक हमार उनक अपन किसक कितन थोड़""")
)
INVARIABLE = set(
    listed("""
ख़राब सुंदर होशियार बहादुर ईमानदार आलसी अमीर ग़रीब मशहूर ताक़तवर मज़बूत कमज़ोर बीमार उदास सफ़ेद लाल
स्वादिष्ट गर्म भारी साफ़ ख़ाली दिलचस्प कठिन आसान तेज़ ख़तरनाक बहुत""")
)
OBJECT_OF_KARNA = {
    "काम": "m", "आराम": "m", "यात्रा": "f", "मदद": "f", "तारीफ़": "f", "इंतज़ार": "m", "पीछा": "m", "बात": "f", "प्यार": "m",
}  # fmt: skip
ERGATIVE_PRONOUNS = set(listed("मैंने आपने उसने हमने उन्होंने किसने"))
DATIVE_PRONOUNS = set(listed("मुझे आपको उसे हमें उन्हें किसे"))


@cache
def many() -> list[GoldPair]:
    """Return 10,000 sentences to count in, generated once for all tests."""
    rng = random.Random(8)
    return [ENGLISH_HINDI.pair(rng) for _ in range(10_000)]


class Seen(NamedTuple):
    """A noun as it stands in a target."""

    lemma: str
    gender: str
    plural: bool | None  # None where the form does not tell


def noun_of(word: str) -> Seen | None:
    if word in GENDER:
        unclear = GENDER[word] == "m" and not word.endswith("ा") or word in UNCHANGED
        return Seen(word, GENDER[word], True if word in HONOURED else None if unclear else False)
    for ending, lemmas in (
        ("ियाँ", ("ी", "िया")), ("ियों", ("ी", "िया")), ("इयाँ", ("ई",)), ("इयों", ("ई",)), ("ुओं", ("ू",)),
        ("ाओं", ("ा",)), ("ाएँ", ("ा",)), ("ों", ("", "ा")), ("ें", ("",)),
    ):  # fmt: skip
        for lemma in lemmas:
            if word.endswith(ending) and (whole := word[: -len(ending)] + lemma) in GENDER:
                return Seen(whole, GENDER[whole], True)
    if word.endswith("े") and GENDER.get(word[:-1] + "ा") == "m":
        return Seen(word[:-1] + "ा", "m", None)
    return None


def singular(english: str) -> str:
    if english in IRREGULAR:
        return IRREGULAR[english]
    for ending, replaced in (
        ("ies", "y"), ("oes", "o"), ("ches", "ch"), ("xes", "x"), ("sses", "ss"), ("buses", "bus"),
    ):  # fmt: skip
        if english.endswith(ending) and english.removesuffix(ending) + replaced in NOUNS:
            return english.removesuffix(ending) + replaced
    return english.removesuffix("s") if english.removesuffix("s") in NOUNS else english


def adjective_ending(word: str) -> str | None:
    """ "ा", "े" or "ी" of a word that agrees with its noun, such as अच्छा, मेरे, हुई."""
    own = {"नया": "ा", "नए": "े", "नई": "ी", "हुआ": "ा", "हुए": "े", "हुई": "ी", "सा": "ा", "से": "े", "सी": "ी"}
    if word in own and word not in ("से",):
        return own[word]
    return word[-1] if word[-1] in "ाेी" and word[:-1] in INFLECTING else None


def is_adjective(word: str) -> bool:
    return adjective_ending(word) is not None or word in INVARIABLE


class Sides(NamedTuple):
    source: list[str]
    target: list[str]
    back: dict[int, list[int]]  # word of the target: words of the source

    def is_plural(self, place: int) -> bool:
        """Return whether a noun of the target is plural, by its English word or because it is honorific."""
        seen = noun_of(self.target[place])
        assert seen is not None
        english = [self.source[here] for here in self.back[place] if singular(self.source[here]) in NOUNS]
        return seen.lemma in HONOURED or any(singular(word) != word for word in english)

    def is_oblique(self, place: int) -> bool:
        """Return whether a noun is oblique: before a postposition, or a destination as in "बड़े मंदिर जाता है"."""
        after = self.target[place + 1 : place + 2]
        return bool(after and after[0] in POSTPOSITIONS) or any(self.source[here] == "to" for here in self.back[place])


@cache
def sides(pair: GoldPair) -> Sides:
    source, target = read(pair.source), read(pair.target)
    back: dict[int, list[int]] = {place: [] for place in range(len(target))}
    for here, there in pair.links:
        back[there].append(here)
    return Sides(
        [source[0][0].lower() + source[0][1:] if source[0] not in MEN | WOMEN else source[0], *source[1:]], target, back
    )


def clauses(pair: GoldPair) -> Iterator[tuple[Sides, list[int]]]:
    """The places of the words of each clause, without क्या and the end; not where "and" could join either."""
    both = sides(pair)
    if "and" in both.source:
        return
    places: list[int] = []
    for place, word in enumerate(both.target):
        if word in ("कि", "लेकिन", "क्योंकि", "।", "?"):
            yield both, places
            places = []
        elif not (word == "क्या" and place == 0):
            places.append(place)


COPULAS = {
    "है": ("mf", False), "हूँ": ("m", False), "हैं": ("mf", True), "था": ("m", False), "थे": ("m", True), "थी": ("f", False),
    "थीं": ("f", True), "होगा": ("m", False), "होंगे": ("m", True), "होगी": ("f", False), "होंगी": ("f", True),
    "होऊँगा": ("m", False),
}  # fmt: skip


def clauses_of(pair: GoldPair) -> int:
    return 1 + len({"कि", "लेकिन", "क्योंकि"} & set(read(pair.target)))


def agrees(verb: list[str], gender: str, plural: bool) -> bool:
    """Whether the last words of a clause agree: participle and auxiliary, or one word for itself."""
    last = verb[-1]
    if last in COPULAS:
        genders, number = COPULAS[last]
        if gender not in genders or number != plural:
            return False
        participle = verb[-2] if len(verb) > 1 else ""
        if is_adjective(participle):
            participle = participle if adjective_ending(participle) else ""
        elif not re.search(r"(?:त[ाेी]|रह[ाेी]|सकत[ाेी]|चाहत[ाेी])$", participle):
            return True
        return not participle or participle.endswith(ending_of(gender, plural))
    if re.search(r"ग[ाेी]$", last):
        many = bool(re.search(r"(?:ें|एँ|ें|ं)ग[ेी]$", last))
        return last.endswith(ending_of(gender, plural)) and (many == plural or last.endswith(("ूँगा", "ऊँगा")))
    if gender == "f":
        return last.endswith(("ीं", "ईं") if plural else ("ी", "ई"))
    return last.endswith(("े", "ए") if plural else ("ा",))


def ending_of(gender: str, plural: bool) -> tuple[str, ...]:
    return ("ी", "ई") if gender == "f" else ("े", "ए") if plural else ("ा", "आ")


def has_to(source: str) -> bool:
    return bool(re.search(r"\b(?:has|have) to\b", source) or re.search(r"\bhave\b.* to ", source))


def agrees_perfective(verb: list[str], gender: str, plural: bool) -> bool:
    if len(verb) == 1:
        return agrees(verb, gender, plural)
    return verb[0].endswith(ending_of(gender, plural)) and verb[1] in (("हैं",) if plural else ("है",))

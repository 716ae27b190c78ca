"""The generated German-English pairs of the core vocabulary."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from headlight.corpora import english
from headlight.corpora.core import CoreSentences, german_clauses, german_english
from headlight.corpora.core.german import GermanNoun, GermanVerb, decline, split_verb
from headlight.corpora.core.german_clauses import SUBJECTS, make_clause, read_verb_phrase
from headlight.corpora.core.german_english import VOCABULARY
from headlight.corpora.core.german_numbers import clock_times
from headlight.corpora.core.templates import parse_template
from headlight.corpora.pairs import Pair
from tests.data.test_core import assert_distinct_and_untested

SUBJECT = {subject.german: subject for subject in SUBJECTS}


class Chooser(random.Random):
    """Chooses the alternative that contains one of the given texts, or else the first."""

    def __init__(self, *texts: str, value: float = 0.9) -> None:
        super().__init__(0)
        self.texts, self.value = texts, value

    def choice(self, seq):
        return next((item for item in seq if any(text in item for text in self.texts)), seq[0])

    def random(self):
        return self.value


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return list(CoreSentences("de-en"))


def test_pairs_are_distinct_and_no_sentences_of_the_tests(pairs):
    assert_distinct_and_untested(pairs, "de-en")


@pytest.mark.slow
def test_each_word_of_the_lexicon_is_in_ten_pairs(pairs):
    counts = Counter(word for pair in pairs for word in set(re.findall(r"[^\W\d_]+", pair.source.casefold())))
    beginnings: Counter[str] = Counter()  # adjectives stand with an ending, nouns of some frames in the plural
    for form, count in counts.items():
        beginnings.update({plain(form[:length]): count for length in range(1, len(form) + 1)})
    words = [word for name, words in VOCABULARY.lexicon.items() if name not in VOCABULARY.generated for word in words]
    for entry in words:
        for part in re.findall(r"[^\W\d_]+", entry.german.casefold()):
            inflected = {"teuer": "teur", "hoch": "hoh"}.get(part, "")
            assert beginnings[plain(part)] + beginnings[inflected] >= 10, entry


def plain(word: str) -> str:
    return word.translate(str.maketrans("äöü", "aou"))


def test_rare_words_are_in_ten_pairs(pairs):
    counts = Counter(word for pair in pairs for word in set(re.findall(r"\w+", pair.source.lower())))
    rare = ["insbesondere", "beispielsweise", "jeweiligen", "somit", "zudem", "nämlich", "anschließend", "möglichst"]
    rare += ["hamburg", "köln", "wien", "österreichischen", "gestaltung", "umsetzung", "verlauf", "schriften"]
    assert [word for word in (*rare, "kriegt", "frühjahr") if counts[word] < 10] == []


def test_pairs_are_clean(pairs):
    for pair in pairs:
        for text in pair[1:3]:
            assert text == text.strip() and text[0] == text[0].upper(), pair
            assert not re.search(r"[\[\]{}@|’“”]|  | [.,!?]|[.,!?]{2}(?<!\.\.)", text), pair
            assert text.endswith((".", "!", "?")), pair
    assert not [
        pair.target
        for pair in pairs
        if re.search(r"\ba (?!euro|Euro|one)[aeioAEIO]\w|\ban [^aeiouhAEIO8\d]", pair.target)
    ]


@pytest.mark.parametrize(
    ("start", "words", "expected"),
    [
        ("Sie trägt heute", "rot Kleid", ("Sie trägt heute ein rotes Kleid.", "She is wearing a red dress today.")),
        ("Sie trägt heute", "orange Hut",
         ("Sie trägt heute einen orangen Hut.", "She is wearing an orange hat today.")),
        ("Die Frau mit [dem", "grün Jacke",
         ("Die Frau mit der grünen Jacke ist meine Lehrerin.", "The woman with the green jacket is my teacher.")),
        ("Ich brauche [keinen", "teuer Tasche",
         ("Ich brauche keine teure Tasche.", "I don't need an expensive bag.")),
        ("Ich gebe [dem size", "klein Affe", ("Ich gebe dem kleinen Affen Wasser.", "I give the small monkey water.")),
        ("Hast du Angst vor", "Vogel", ("Hast du Angst vor Vögeln?", "Are you afraid of birds?")),
        ("Wie komme ich zu", "Post", ("Wie komme ich zur Post?", "How do I get to the post office?")),
        ("Geh bitte in [den", "Wohnzimmer", ("Geh bitte ins Wohnzimmer!", "Please go into the living room!")),
        ("Ich habe [meinem person] einen", "Nachbar",
         ("Ich habe meinem Nachbarn einen Brief geschrieben.", "I wrote my neighbor a letter.")),
        ("Wir fahren im [month]", "Juli Schweiz",
         ("Wir fahren im Juli in die Schweiz.", "We're going to Switzerland in July.")),
        ("Ich war noch nie in", "USA",
         ("Ich war noch nie in den USA.", "I have never been to the United States.")),
        ("Er ist gestern", "Polen", ("Er ist gestern nach Polen geflogen.", "He flew to Poland yesterday.")),
        ("Ich bin [nom profession]", "Arzt", ("Ich bin Arzt.", "I am a doctor.")),
        ("Der Zug nach", "Wien halb|neun",
         ("Der Zug nach Wien fährt um halb neun ab.", "The train to Vienna leaves at half past eight.")),
        ("Ich lerne seit", "drei Russisch",
         ("Ich lerne seit drei Jahren Russisch.", "I have been learning Russian for three years.")),
        ("Mein Geburtstag ist", "3.|Mai", ("Mein Geburtstag ist am 3. Mai.", "My birthday is on May 3.")),
        ("Nachdem wir", "Museum",
         ("Nachdem wir gegessen hatten, gingen wir zum Museum.", "After we had eaten, we went to the museum.")),
    ],
)  # fmt: skip
def test_frames(start: str, words: str, expected: tuple[str, str]):
    lines = (Path(german_english.__file__).parent / "de-en" / "frames.txt").read_text(encoding="utf-8").splitlines()
    frame = parse_template(next(line for line in lines if line.startswith(start)))
    fixed = {}
    for slot, word in zip(VOCABULARY.slots(frame), words.split(), strict=True):
        entries = VOCABULARY.lexicon[slot]
        fixed[slot] = next(entry for entry in entries if entry.german == word.replace("|", " "))
    assert VOCABULARY.fill_slots(frame, random.Random(0), fixed) == expected


@pytest.mark.parametrize(
    ("scheme", "subject", "phrase", "chooser", "expected"),
    [
        ("habit", "er", "früh auf|stehen = get up early", Chooser("jeden Tag"),
         ("Er steht jeden Tag früh auf.", "He gets up early every day.")),
        ("fronted", "Anna", "@e Schuhe * aus|ziehen = take off @ shoes", Chooser("Manchmal"),
         ("Manchmal zieht Anna ihre Schuhe aus.", "Sometimes, Anna takes off her shoes.")),
        ("question", "du", "die Zeitung * lesen = read the newspaper", Chooser("immer"),
         ("Liest du immer die Zeitung?", "Do you always read the newspaper?")),
        ("w_question", "Sie", "die Fenster * putzen = clean the windows", Chooser("Wie oft"),
         ("Wie oft putzen Sie die Fenster?", "How often do you clean the windows?")),
        ("negative", "ich", "die Tür * zu|machen = close the door", Chooser(),
         ("Ich mache die Tür nicht zu.", "I don't close the door.")),
        ("perfect", "wir", "Fahrrad fahren = ride a bike", Chooser("gestern"),
         ("Wir sind gestern Fahrrad gefahren.", "We rode a bike yesterday.")),
        ("fronted_perfect", "meine Schwester", "Freunde ein|laden = invite friends", Chooser("am Montag"),
         ("Am Montag hat meine Schwester Freunde eingeladen.", "On Monday, my sister invited friends.")),
        ("negative_perfect", "Paul", "@er Schwester * helfen = help @ sister", Chooser(),
         ("Paul hat seiner Schwester nicht geholfen.", "Paul didn't help his sister.")),
        ("modal", "ihr", "@ Zimmer * auf|räumen = clean up @ room", Chooser("müssen"),
         ("Ihr müsst euer Zimmer aufräumen.", "You have to clean up your room.")),
        ("negative_modal", "die Kinder", "* ein|kaufen = go shopping", Chooser("dürfen"),
         ("Die Kinder dürfen nicht einkaufen.", "The children are not allowed to go shopping.")),
        ("because_clause", "mein Vater", "das Paket * ab|holen = pick up the package", Chooser(),
         ("Mein Vater kommt heute nicht, weil er das Paket abholen muss.",
          "My father is not coming today because he has to pick up the package.")),
        ("that_clause", "Anna", "* fern|sehen = watch TV", Chooser("Ich glaube, dass", "selten"),
         ("Ich glaube, dass Anna selten fernsieht.", "I think that Anna rarely watches TV.")),
        ("if_clause", "du", "@e Mutter * an|rufen = call @ mother", Chooser("bleibe ich zu Hause"),
         ("Wenn du deine Mutter anrufst, bleibe ich zu Hause.", "If you call your mother, I'll stay home.")),
        ("whether_clause", "er", "mit dem Bus fahren = take the bus", Chooser(),
         ("Ich weiß nicht, ob er mit dem Bus gefahren ist.", "I don't know if he took the bus.")),
        ("infinitive", "Anna", "das Licht * aus|machen = turn off the light", Chooser("forgot"),
         ("Anna hat vergessen, das Licht auszumachen.", "Anna forgot to turn off the light.")),
        ("preterite", "er", "ins Kino gehen = go to the movies", Chooser("dann"),
         ("Dann ging er ins Kino.", "Then, he went to the movies.")),
        ("now", "ich", "sich * aus|ruhen = rest", Chooser("gerade"),
         ("Ich ruhe mich gerade aus.", "I am resting right now.")),
        ("like", "Paul", "Sport treiben = do sports", Chooser(),
         ("Paul treibt gern Sport.", "Paul likes to do sports.")),
    ],
)  # fmt: skip
def test_clauses(scheme: str, subject: str, phrase: str, chooser: Chooser, expected: tuple[str, str]):
    clause = make_clause(getattr(german_clauses, scheme), SUBJECT[subject], read_verb_phrase(phrase), chooser)
    assert clause == expected


def test_an_ambiguous_sie_means_they():
    phrase = read_verb_phrase("einen Apfel essen = eat an apple")
    assert make_clause(german_clauses.now, SUBJECT["Sie"], phrase, Chooser()) is None
    assert make_clause(german_clauses.question, SUBJECT["Sie"], phrase, Chooser()) is not None


def test_declension():
    boy, house = GermanNoun("m", "Junge", "Jungen", weak=True), GermanNoun("n", "Haus", "Häuser")
    assert decline("der", ["klein"], boy, 1, False) == "den kleinen Jungen"
    assert decline("ein", ["hoch"], house, 0, False) == "ein hohes Haus"
    assert decline("", ["dunkel"], house, 2, True) == "dunklen Häusern"
    assert decline("euer", ["alt"], house, 3, False) == "eures alten Hauses"


def test_conjugation():
    assert [GermanVerb("", "lesen").present(person) for person in range(6)] == [
        "lese", "liest", "liest", "lesen", "lest", "lesen",
    ]
    assert [GermanVerb("", "arbeiten").present(person) for person in range(3)] == ["arbeite", "arbeitest", "arbeitet"]
    assert [GermanVerb("", "essen").imperative(person) for person in (1, 4, 5)] == ["iss", "esst", "essen"]
    verbs = {"fahren": "fahr", "treffen": "triff", "spielen": "spiel", "sammeln": "sammle", "fangen": "fang"}
    assert {verb: GermanVerb("", verb).imperative(1) for verb in verbs} == verbs
    assert [GermanVerb("", verb).present(0) for verb in ("spielen", "sammeln")] == ["spiele", "sammle"]
    assert [split_verb(verb).participle() for verb in ("übersetzen", "ab|trocknen")] == ["übersetzt", "abgetrocknet"]
    assert [split_verb("ein|laden").participle(), split_verb("reparieren").participle()] == ["eingeladen", "repariert"]
    assert split_verb("auf|stehen").auxiliary() == GermanVerb("", "sein")
    assert GermanVerb("", "waschen").present(1) == "wäschst"


def test_clock_times():
    times = dict(clock_times())
    assert times["halb acht"] == "half past seven" and times["halb eins"] == "half past twelve"
    assert times["Viertel vor neun"] == "a quarter to nine" and times["ein Uhr"] == "one o'clock"
    assert times["fünf vor halb eins"] == "twenty-five past twelve"


def test_english():
    assert [english.article(word) for word in ("hour", "university", "umbrella", "18", "180")] == [
        "an", "a", "an", "an", "a",
    ]
    assert english.pluralize("shelf") == "shelves" and english.past_tense("take out the trash") == "took out the trash"


def test_templates():
    template = parse_template("{Er/Sie} {liest/singt}. = {He/She} {reads/sings}.")
    assert {template.fill(number) for number in range(template.n_choices())} >= {("Sie liest.", "She reads.")}
    swapped = parse_template("Im {Park/Zoo} {singt er/lacht sie}. = {b:He sings/She laughs} in the {a:park/zoo}.")
    assert ("Im Zoo singt er.", "He sings in the zoo.") in {swapped.fill(number) for number in range(4)}
    for wrong in ("{a/b} = {a/b/c}", "a = {b:x}", "a"):
        with pytest.raises(ValueError):
            parse_template(wrong)

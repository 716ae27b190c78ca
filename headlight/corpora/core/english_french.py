"""English-French sentence pairs of the core vocabulary.

Three sources make them: sentences written by hand around words that no general frame fits (words.txt), frames whose
slots are filled from a lexicon (frames.txt, lexicon.txt), and verb phrases put into tenses, moods and clauses
(verbs.txt).

A slot of a frame names categories of the lexicon: "[a color animal]" = "[un color animal]". On the French side a slot
may begin with a preposition, a determiner in the masculine singular agrees with the noun, "animal+" is the plural, and
"[animal:color]" is the adjective alone, agreeing with the noun. Contraction and elision follow in `spell`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from headlight.corpora import english
from headlight.corpora.core.french_clauses import SCHEMES, SUBJECTS, FrenchVerbPhrase, make_clause, read_verb_phrase
from headlight.corpora.core.french_numbers import generated_slots
from headlight.corpora.core.templates import Template, read_templates, spread
from headlight.corpora.grammars.english_french import french

_FOLDER = Path(__file__).parent / "en-fr"
_SLOT = re.compile(r"\[([^\[\]]+)\]")
_NOUN = re.compile(r"(.+?) (mp|fp|m|f|-)(?:, ?(.+))?")

PAIRS_PER_WORD = 12
PAIRS_PER_TEMPLATE = 24
# Sentences of tests/everyday that the frames would form by chance, as `_folded` writes them.
_LEFT_OUT = frozenset(
    {
        "canyouhelpme",
        "canyouplaytheguitar",
        "doyoulikemusic",
        "doyouspeakenglish",
        "givemethebookplease",
        "hedoesnthaveacar",
        "heneverdrinkscoffee",
        "howmucharetheapples",
        "icantswim",
        "idonthaveanymoney",
        "idontknow",
        "idontunderstand",
        "imhungry",
        "isthereabanknearhere",
        "itscoldtoday",
        "itshalfpastseven",
        "mybrotherlovesplayingfootball",
        "mygrandmotherwasborninitaly",
        "mykeysareinthekitchen",
        "shesaidthatshewastired",
        "thechildrenareplayinginthegarden",
        "therearetwentyfivestudentsinmyclass",
        "thetrainleavesateightoclock",
        "theywonthematch",
        "turnleftafterthechurch",
        "wheredoyoulive",
        "whosebagisthis",
    }
)

_VOWEL = r"(?=[aàâeéèêëiîïoôuùûœh])"
_ELISION = re.compile(rf"(?<![\w'-])(je|me|te|se|le|la|de|ne|que|jusque|lorsque|puisque) {_VOWEL}", re.IGNORECASE)
# A determiner from a slot is marked with "§": the pronouns of "de le voir" are not contracted.
_CONTRACTION = re.compile(r"\b(à|de) §(le(?= [^aàâeéèêëiîïoôuùûœhAÀÂEÉÈÊËIÎÏOÔUÙÛŒH])|les)\b", re.IGNORECASE)
_CONTRACTED = {"à le": "au", "à les": "aux", "de le": "du", "de les": "des"}
# masculine, feminine, before a vowel, plural
_DETERMINERS = {
    "le": ("§le", "§la", "§les"),
    "un": ("un", "une", "des"),
    "mon": ("mon", "ma", "mes"),
    "ton": ("ton", "ta", "tes"),
    "son": ("son", "sa", "ses"),
    "notre": ("notre", "notre", "nos"),
    "votre": ("votre", "votre", "vos"),
    "leur": ("leur", "leur", "leurs"),
    "ce": ("ce", "cette", "ces"),
    "quel": ("quel", "quelle", "quels quelles"),
    "tout": ("tout", "toute", "tous toutes"),
}
_BEFORE_VOWEL = {"ma": "mon", "ta": "ton", "sa": "son", "ce": "cet"}


class FrenchEntry(NamedTuple):
    """A word of the lexicon. `gender` is "m", "f", "mp" or "fp" (always plural), "-" (no article) or "" (no noun)."""

    english: str
    french: str
    gender: str = ""
    plural: str = ""
    columns: tuple[str, ...] = ()


class _Form(NamedTuple):
    """The gender and number in which a word agrees."""

    is_feminine: bool
    is_plural: bool


@cache
def _lexicon() -> dict[str, list[FrenchEntry]]:
    lexicon: dict[str, list[FrenchEntry]] = {}
    entries: list[FrenchEntry] = []
    for line in _read("lexicon").splitlines():
        if line.startswith("["):
            entries = lexicon.setdefault(line.strip("[]"), [])
        elif line.strip():
            entries.append(_read_entry(line))
    for category, pairs in generated_slots().items():
        lexicon[category] = [FrenchEntry(*pair) for pair in pairs]
    return lexicon


def _read_entry(line: str) -> FrenchEntry:
    source, target, *columns = (part.strip() for part in line.split("|"))
    if match := _NOUN.fullmatch(target):
        return FrenchEntry(source, match[1], match[2], match[3] or "")
    return FrenchEntry(source, target, columns=tuple(columns))


@cache
def _frames() -> list[Template]:
    return read_templates(_read("frames"))


@cache
def _word_templates() -> list[Template]:
    return read_templates(_read("words"))


@cache
def _verb_phrases() -> list[FrenchVerbPhrase]:
    lines = _read("verbs").splitlines()
    return [read_verb_phrase(line) for line in lines if line.strip() and not line.startswith("#")]


def covering() -> Iterator[tuple[str, str]]:
    """Yield distinct pairs in which every word of the lexicon occurs in at least ten, always the same ones."""
    yielded: set[tuple[str, str]] = set()
    for pair in _covering():
        if pair not in yielded and not _is_left_out(pair[0]):
            yielded.add(pair)
            yield pair


def random_pair(rng: random.Random) -> tuple[str, str]:
    """Return a random pair of any of the three sources."""
    while True:
        choice = rng.random()
        if choice < 0.1:
            template = rng.choice(_word_templates())
            pair = _spelled(template.fill(rng.randrange(template.n_choices())))
        elif choice < 0.55:
            pair = _fill_slots(rng.choice(_frames()), rng)
        else:
            pair = _random_clause(rng)
        if not _is_left_out(pair[0]):
            return pair


def _random_clause(rng: random.Random) -> tuple[str, str]:
    while True:
        if pair := make_clause(rng.choice(SCHEMES), rng.choice(SUBJECTS), rng.choice(_verb_phrases()), rng):
            return _spelled(pair)


def _covering() -> Iterator[tuple[str, str]]:
    for template in _word_templates():
        for pair in spread(template, PAIRS_PER_TEMPLATE):
            yield _spelled(pair)
    by_category: dict[str, list[Template]] = {}
    for template in _frames():
        for category in {_category(slot) for slot in _slots(template)}:
            by_category.setdefault(category, []).append(template)
    generated = generated_slots()
    for category, entries in _lexicon().items():
        if category in generated:
            continue
        templates = by_category[category]
        for entry in entries:
            rng = random.Random(f"{category} {entry.english}")
            distinct: set[tuple[str, str]] = set()
            for number in range(20 * PAIRS_PER_WORD):
                if len(distinct) >= PAIRS_PER_WORD and number >= len(templates):
                    break
                pair = _fill_slots(templates[number % len(templates)], rng, {category: entry})
                distinct.add(pair)
                yield pair
    for phrase in _verb_phrases():
        rng = random.Random(phrase.french)
        for scheme in SCHEMES:
            for _ in range(2):
                if clause := make_clause(scheme, rng.choice(SUBJECTS), phrase, rng):
                    yield _spelled(clause)


def _fill_slots(template: Template, rng: random.Random, fixed: dict[str, FrenchEntry] | None = None) -> tuple[str, str]:
    """Fill the slots of a template: those of `fixed` with its entries, the others at random."""
    source, target = template.fill(rng.randrange(template.n_choices()))
    chosen = dict(fixed or {})
    for slot in _slots(template):
        if slot not in chosen:
            taken = {text for entry in chosen.values() for text in (entry.english, entry.french)}
            candidates = [e for e in _lexicon()[_category(slot)] if e.english not in taken and e.french not in taken]
            chosen[slot] = rng.choice(candidates)
    source = _SLOT.sub(lambda match: _english_slot(match[1], chosen), source)
    target = _SLOT.sub(lambda match: _french_slot(match[1], chosen), target)
    return _spelled((english.fix_articles(source), target))


def _slots(template: Template) -> list[str]:
    """Return the names of the slots of a template's source."""
    names = []
    for match in _SLOT.finditer(template.fill(0)[0]):
        for word in match[1].split():
            name = word.rstrip("+").lower()
            if _category(name) in _lexicon() and name not in names:
                names.append(name)
    return names


def _category(slot: str) -> str:
    return slot.rstrip("0123456789")


def _english_slot(slot: str, chosen: dict[str, FrenchEntry]) -> str:
    words = []
    for word in slot.split():
        entry = chosen.get(word.rstrip("+"))
        words.append(word if entry is None else english.pluralize(entry.english) if word[-1] == "+" else entry.english)
    return " ".join(words)


def _french_slot(slot: str, chosen: dict[str, FrenchEntry]) -> str:
    """Render a French slot such as "de le color animal+" or "animal:color"."""
    head, colon, adjective = slot.partition(":")
    if colon and adjective == "en":
        return chosen[head].columns[0]
    if colon:
        return _agreeing(adjective, _form(head, chosen), chosen)
    *words, noun = slot.split()
    entry = chosen.get(noun.rstrip("+"))
    if entry is None:
        raise ValueError(f"The source has no slot {noun!r}, which [{slot}] names.")
    if not entry.gender:
        return " ".join([*words, _agreeing(noun, _Form(False, False), chosen)])
    if words == ["en"]:
        return _in_country(entry)
    form = _form(noun, chosen)
    before: list[str] = []
    after: list[str] = []
    determiners: list[str] = []
    for word in words:
        if word in chosen:
            text = _agreeing(word, form, chosen)
            (before if chosen[word].french.startswith("<") else after).append(text)
        else:
            determiners.append(word)
    phrase = " ".join([*before, _noun_text(entry, form), *after])
    if before and not form.is_plural and not form.is_feminine:
        phrase = _before_vowel_adjective(chosen, words, entry, phrase)
    if _category(noun) == "country" and determiners == ["de"] and _has_article_after_de(entry):
        determiners.append("le")
    return " ".join([*_determined(determiners, phrase, form, bool(before), entry), phrase])


def _determined(
    determiners: list[str], phrase: str, form: _Form, adjective_first: bool, entry: FrenchEntry
) -> list[str]:
    words = []
    for word in determiners:
        if word == "le" and entry.gender == "-":
            continue
        if word == "du":
            words += ["des"] if form.is_plural else ["de", _DETERMINERS["le"][form.is_feminine]]
        elif word == "un" and form.is_plural and adjective_first:
            words.append("de")
        elif word == "nouveau":
            words.append(_agreeing_text("nouveau nouvelle nouvel", form, phrase))
        elif word in _DETERMINERS:
            singular = _DETERMINERS[word][form.is_feminine]
            plural = _DETERMINERS[word][2].split()
            text = plural[form.is_feminine and len(plural) > 1] if form.is_plural else singular
            next_is_vowel = french.begins_with_vowel(phrase) and word not in ("tout", "quel")
            words.append(_BEFORE_VOWEL.get(text, text) if next_is_vowel else text)
        else:
            words.append(word)
    return words


def _before_vowel_adjective(chosen: dict[str, FrenchEntry], words: list[str], entry: FrenchEntry, phrase: str) -> str:
    """Write "un vieil homme" for "un vieux homme"."""
    if not french.begins_with_vowel(entry.french):
        return phrase
    for word in words:
        if word in chosen and len(forms := chosen[word].french.lstrip("<").split()) == 3:
            phrase = phrase.replace(f"{forms[0]} ", f"{forms[2]} ", 1)
    return phrase


def _agreeing_text(forms: str, form: _Form, following: str) -> str:
    masculine, feminine, before_vowel = forms.split()
    if form.is_plural:
        return french.plural(feminine if form.is_feminine else masculine)
    return feminine if form.is_feminine else before_vowel if french.begins_with_vowel(following) else masculine


def _form(head: str, chosen: dict[str, FrenchEntry]) -> _Form:
    """Return the form of a slot, or of "m", "f", "mp" and "fp" themselves."""
    entry = chosen.get(head.rstrip("+"))
    category = _category(head)
    gender = head if entry is None else "f" if category == "girl" else "m" if category == "boy" else entry.gender
    return _Form(gender.startswith("f"), head.endswith("+") or gender.endswith("p"))


def _agreeing(word: str, form: _Form, chosen: dict[str, FrenchEntry]) -> str:
    """Return an adjective, a profession or any other word of the lexicon in a form; words with one form as they are."""
    entry = chosen.get(word)
    text = word if entry is None else entry.french.lstrip("<")
    if entry is not None and entry.columns:  # a profession
        text = entry.columns[0] if form.is_feminine else text
        return french.plural(text) if form.is_plural else text
    if text.endswith("="):
        return text[:-1]
    degree = ""
    if match := re.match(r"(plus|moins) ", text):
        degree, text = match[0], text[match.end() :]
    *forms, last = text.split()
    masculine = forms[0] if forms else last
    if not (form.is_feminine or form.is_plural):
        is_adjective = entry is None or _category(word) in _ADJECTIVES
        return degree + (masculine if is_adjective else text)
    feminine = forms[1] if len(forms) > 1 else last if forms else french.feminine(masculine)
    written = feminine if form.is_feminine else masculine
    return degree + (french.plural(written) if form.is_plural else written)


_ADJECTIVES = frozenset(("color", "coat", "size", "quality", "more", "feeling", "trait", "taller", "nation"))


def _noun_text(entry: FrenchEntry, form: _Form) -> str:
    if not form.is_plural or entry.gender.endswith("p"):
        return entry.french
    return entry.plural or french.plural(entry.french)


def _has_article_after_de(country: FrenchEntry) -> bool:
    """Tell "du Japon" and "des États-Unis" from "de France" and "d'Iran"."""
    return country.gender.endswith("p") or (country.gender == "m" and not french.begins_with_vowel(country.french))


def _in_country(entry: FrenchEntry) -> str:
    """Write "en France", "au Japon", "aux États-Unis", "en Israël", "à Cuba"."""
    if entry.gender == "-":
        return f"{'en' if french.begins_with_vowel(entry.french) else 'à'} {entry.french}"
    if entry.gender.endswith("p"):
        return f"aux {entry.french}"
    return f"{'en' if entry.gender == 'f' or french.begins_with_vowel(entry.french) else 'au'} {entry.french}"


def spell(text: str) -> str:
    """Contract and elide, drop the marks, and begin with a capital unless the text starts with "~"."""
    text = _CONTRACTION.sub(lambda match: _match_case(_CONTRACTED[f"{match[1]} {match[2]}".lower()], match[1]), text)
    text = text.replace("§", "")
    text = _ELISION.sub(lambda match: f"{match[1][:-1]}'", text)
    return _capitalized(text.replace("*", ""))


def _match_case(text: str, model: str) -> str:
    return _capitalized(text) if model[0].isupper() else text


def _spelled(pair: tuple[str, str]) -> tuple[str, str]:
    return _capitalized(pair[0]), spell(pair[1])


def _capitalized(text: str) -> str:
    return text[1:] if text.startswith("~") else text[:1].upper() + text[1:]


def _is_left_out(source: str) -> bool:
    return _folded(source) in _LEFT_OUT


def _folded(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return "".join(character for character in text.casefold() if character.isalnum())


def _read(name: str) -> str:
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")

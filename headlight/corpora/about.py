"""Titles, terms and example sentences of the corpora that Headlight knows by name."""

from __future__ import annotations

import re
from typing import Any

from headlight.corpora.generated import TOY, toy_pairs
from headlight.corpora.mixtures import is_mixture, weighted_parts

LANGUAGES = {"en": "English", "fr": "French", "de": "German", "hi": "Hindi"}

_MULTI30K = {
    "data": "Multi30k (Elliott et al. 2016, 2017): 29,000 image captions for training, 1,014 for validation, "
    "1,000 for testing (test_2016_flickr)",
    "terms": "Multi30k is for research and education; it is not part of this repository.",
}
_TATOEBA = {
    "data": "Everyday sentences of Tatoeba (www.manythings.org/anki and tatoeba.org)",
    "terms": "Tatoeba's sentences: CC BY 2.0 FR, www.manythings.org/anki and tatoeba.org; they are not part of this "
    "repository.",
}
_PHRASES = {
    "data": "A phrase book written for Headlight: greetings, introductions, the clock, the classroom",
    "terms": "The phrase book: free of terms.",
}
_SLOTS = {
    "data": "Short sentences written for Headlight, with names, numbers, days and times in them",
    "terms": "The short sentences: free of terms.",
}
NAMES_TERMS = (
    "First names, surnames: popular-names-by-country-dataset (CC0), Faker (MIT); places, months, units: Unicode CLDR "
    "(Unicode License v3)."
)
_CORE = {
    "data": "Sentences written and generated for Headlight around the 3,000 most frequent words, and everyday grammar",
    "terms": "The core vocabulary: written for Headlight, free of terms.",
}
# The tables in the folder of everyday text, by name: a description and the terms.
_EVERYDAY_TABLES = {
    "tatoeba-more": (
        "Tatoeba's sentences of 2020 to 2026",
        "Tatoeba's later sentences: CC BY 2.0 FR, tatoeba.org and www.manythings.org/anki.",
    ),
    "massive": (
        "MASSIVE, what people say to a voice assistant (filtered)",
        "MASSIVE: CC BY 4.0, Amazon.com, from SLURP; changed: filtered.",
    ),
    "mintaka": ("Mintaka, questions for a quiz", "Mintaka: CC BY 4.0, Amazon.com."),
    "refugee-phrasebook": ("Refugee Phrasebook", "Refugee Phrasebook: MIT."),
    "tico19-doctor": ("TICO-19, a doctor and a patient", "TICO-19 (CMU): CC0."),
    "cldr-words": ("The words of Unicode CLDR for emoji", "Unicode CLDR: Unicode License v3."),
}
_CAPTIONS = {
    "en": [
        "A little girl is sitting on a bench.",
        "Two young men are playing football in the park.",
        "A black dog is running through the snow with a ball in its mouth.",
        "An old woman in a red coat is selling flowers at the market.",
        "The man who is wearing a hat looks at the children who are playing near the fountain.",
    ],
    "de": [
        "Ein junges Mädchen sitzt auf einer Bank und hält ein rotes Eis am Stiel.",
        "Zwei Männer spielen Fußball im Park.",
        "Die Katze schläft auf dem Sofa.",
        "Ein Hund mit einem Ball im Maul läuft durch den Schnee.",
        "Eine alte Frau in einem roten Mantel verkauft Blumen auf dem Markt.",
    ],
    "fr": ["Une petite fille est assise sur un banc.", "Deux hommes jouent au football dans le parc."],
}
_EVERYDAY = {
    "en": [
        "The little girl is eating a red apple.",
        "What time is it?",
        "I don't know where he went yesterday.",
        "The animal didn't cross the street because it was too tired.",
        "The animal didn't cross the street because it was too wide.",
    ],
    "de": [
        "Das kleine Mädchen isst einen roten Apfel.",
        "Wie spät ist es?",
        "Ich weiß nicht, wohin er gestern gegangen ist.",
        "Hast du den Hund gesehen, der gestern im Garten war?",
    ],
}
_DESCRIBED = {"multi30k": (_MULTI30K, _CAPTIONS), "tatoeba": (_TATOEBA, _EVERYDAY), "phrases": (_PHRASES, _EVERYDAY)}
_TASKS: dict[str, dict[str, Any]] = {
    "reverse": {
        "title": "Letters, reversed",
        "source": "Letters",
        "target": "Reversed",
        "examples": ["headlight", "attention", "transformer", "abcdefghijklmnopqrst"],
    },
    "copy": {
        "title": "Letters, copied",
        "source": "Letters",
        "target": "Copy",
        "examples": ["headlight", "attention"],
    },
    "dates": {
        "title": "Dates in ISO form",
        "source": "Date",
        "target": "ISO date",
        "examples": ["3 May 2021", "Monday, 3 May 2021", "July 14th, 1789"],
    },
}

_GRAMMARS: dict[str, dict[str, Any]] = {
    "english-french": {
        "title": "English to French, by a grammar",
        "source": "English",
        "target": "French",
        "examples": [
            "The animal didn't cross the street because it was too tired.",
            "The animal didn't cross the street because it was too wide.",
            "The armchair couldn't go through the door because it was too narrow.",
            "Marie bought an orange and ate it.",
            "Does your old aunt read some Russian novels every evening?",
        ],
    },
    "english-hindi": {
        "title": "English to Hindi, by a grammar",
        "source": "English",
        "target": "Hindi",
        "examples": [
            "I like pizza.",
            "Ram read the book.",
            "Sunita danced because she was very happy.",
            "Does Gita live in Delhi?",
            "The boy sold the bicycle because it was old.",
            "Meera gives a beautiful gift to her grandmother.",
            "Anil knows that the tea is very hot.",
        ],
    },
}


def about(spec: str) -> dict[str, Any]:
    """Return the fields of a card that follow from the corpus: title, languages, examples, data and terms."""
    if is_mixture(spec):
        return _about_mixture([name for name, _ in weighted_parts(spec)])
    kind, _, argument = spec.partition(":")
    if spec == TOY:
        return {
            "title": "Five sentences, English to French",
            "source": "English",
            "target": "French",
            "examples": [pair.source for pair in toy_pairs()],
            "data": "The five sentence pairs of a tutorial's toy run",
            "terms": "Five phrases of everyday language: free of terms.",
        }
    if kind in _DESCRIBED and "-" in argument:
        facts, sentences = _DESCRIBED[kind]
        return _between(argument, sentences, facts)
    if kind == "slots" and "-" in argument:
        facts = {**_SLOTS, "terms": f"{_SLOTS['terms']} {NAMES_TERMS}"}
        return _between(argument.partition(":")[0], _EVERYDAY, facts)
    name, _, languages = argument.partition(":")
    if kind == "everyday" and name in _EVERYDAY_TABLES and "-" in languages:
        data, terms = _EVERYDAY_TABLES[name]
        return _between(languages, _EVERYDAY, {"data": data, "terms": terms})
    if kind == "core" and "-" in argument:
        return _between(name, _EVERYDAY, _CORE)
    if kind in _TASKS:
        return {**_TASKS[kind], "data": f"The generated task {kind!r}", "terms": "Generated: free of terms."}
    if kind in _GRAMMARS:
        data = "Sentences that a grammar written for Headlight generates, with their alignments and antecedents"
        return {**_GRAMMARS[kind], "data": data, "terms": "Generated: free of terms."}
    return {
        "title": spec,
        "source": "Source",
        "target": "Target",
        "examples": [],
        "data": spec,
        "terms": "Not stated.",
    }


def _between(languages: str, sentences: dict[str, list[str]], facts: dict[str, str]) -> dict[str, Any]:
    """Return the card of a corpus between two languages such as "en-fr", with examples in the first."""
    source, target = languages.split("-", 1)
    names = LANGUAGES.get(source, source), LANGUAGES.get(target, target)
    return {
        "title": f"{names[0]} to {names[1]}",
        "source": names[0],
        "target": names[1],
        "examples": sentences.get(source, []),
        **facts,
    }


def everyday(language: str) -> list[str]:
    """Return sentences in a language, which may be called "English", "en" or "en_XX"; empty for unknown languages."""
    codes = {name.casefold(): code for code, name in LANGUAGES.items()}
    code = codes.get(language.casefold(), re.split("[-_]", language)[0].casefold())
    return list(_EVERYDAY.get(code) or _CAPTIONS.get(code) or [])


def _about_mixture(parts: list[str]) -> dict[str, Any]:
    """Return the card of a mixture: data and terms of all parts, everything else of the first."""
    every = [about(part) for part in parts]
    return {**every[0], **{name: " ".join(_sentence(part[name]) for part in every) for name in ("data", "terms")}}


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."

"""What people should know of the corpora that Headlight has by name."""

from __future__ import annotations

from typing import Any

LANGUAGES = {"en": "English", "fr": "French", "de": "German", "hi": "Hindi"}

_MULTI30K = {
    "data": "Multi30k (Elliott et al. 2016, 2017): 29,000 image captions for training, 1,014 for validation, "
    "1,000 for testing (test_2016_flickr)",
    "terms": "The corpus is for research and education; it is not part of this repository.",
}
_EXAMPLES = {
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
    """The part of a card that the corpus decides: title, names of the two sides, examples, data and terms."""
    kind, _, rest = spec.partition(":")
    if kind == "multi30k" and "-" in rest:
        source, target = rest.split("-", 1)
        names = LANGUAGES.get(source, source), LANGUAGES.get(target, target)
        return {
            "title": f"{names[0]} to {names[1]}",
            "source": names[0],
            "target": names[1],
            "examples": _EXAMPLES.get(source, []),
            **_MULTI30K,
        }
    if spec in _TASKS:
        return {**_TASKS[spec], "data": f"The generated task {spec!r}", "terms": "Generated: free of terms."}
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

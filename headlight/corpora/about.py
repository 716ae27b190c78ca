"""Titles, terms and example sentences of the corpora that Headlight knows by name (about.tsv, examples.tsv)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from headlight.corpora.generated import TOY, toy_pairs
from headlight.corpora.mixtures import is_mixture, weighted_parts
from headlight.corpora.word_tables import read_table

LANGUAGES = {"en": "English", "fr": "French", "de": "German", "hi": "Hindi"}

NAMES_TERMS = (
    "First names, surnames: popular-names-by-country-dataset (CC0), Faker (MIT); places, months, units: Unicode CLDR "
    "(Unicode License v3)."
)
_ABOUT = {row["corpus"]: row for row in read_table(Path(__file__).parent / "about.tsv", dict)}
_EXAMPLES = read_table(Path(__file__).parent / "examples.tsv", dict)


def about(spec: str) -> dict[str, Any]:
    """Return the fields of a card that follow from the corpus: title, languages, examples, data and terms."""
    if is_mixture(spec):
        return _about_mixture([name for name, _ in weighted_parts(spec)])
    kind, _, argument = spec.partition(":")
    name, _, languages = argument.partition(":")
    if kind == "everyday":
        kind, name = f"{kind}:{name}", languages
    facts = _ABOUT.get(kind)
    if facts is None or not ("title" in facts or "-" in name):
        described = {"title": spec, "source": "Source", "target": "Target", "examples": []}
        return {**described, "data": spec, "terms": "Not stated."}
    if "title" in facts:
        code, title, source, target = "", facts["title"], facts["source"], facts["target"]
    else:
        code, target_code = name.split("-", 1)
        source, target = LANGUAGES.get(code, code), LANGUAGES.get(target_code, target_code)
        title = f"{source} to {target}"
    examples = [pair.source for pair in toy_pairs()] if kind == TOY else _examples(facts.get("examples", kind), code)
    terms = f"{facts['terms']} {NAMES_TERMS}" if kind == "slots" else facts["terms"]
    return {
        "title": title, "source": source, "target": target, "examples": examples, "data": facts["data"], "terms": terms,
    }  # fmt: skip


def _examples(name: str, language: str) -> list[str]:
    return [row["sentence"] for row in _EXAMPLES if (row["list"], row.get("language", "")) == (name, language)]


def everyday(language: str) -> list[str]:
    """Return sentences in a language, which may be called "English", "en" or "en_XX"; empty for unknown languages."""
    codes = {name.casefold(): code for code, name in LANGUAGES.items()}
    code = codes.get(language.casefold(), re.split("[-_]", language)[0].casefold())
    return _examples("everyday", code) or _examples("captions", code)


def _about_mixture(parts: list[str]) -> dict[str, Any]:
    """Return the card of a mixture: data and terms of all parts, everything else of the first."""
    every = [about(part) for part in parts]
    return {**every[0], **{name: " ".join(_sentence(part[name]) for part in every) for name in ("data", "terms")}}


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."

"""English inflection, as far as the core vocabulary and the grammars need it."""

from __future__ import annotations

import re
from collections.abc import Callable

from headlight.corpora.word_tables import IRREGULAR, read_table

_PLURALS = {row["singular"]: row["plural"] for row in read_table(IRREGULAR / "english_nouns.tsv", dict)}
_VERBS = {row["verb"]: row for row in read_table(IRREGULAR / "english_verbs.tsv", dict)}
_VOWEL_SOUND = re.compile(
    r"(?!uni(?!m|n)|use|euro|one\b|once|us\b)[aeiou]|hour|honest|(?:8|11|18)(?!\d)|8\d\b", re.IGNORECASE
)
_ARTICLE = re.compile(r"\b([Aa])n? (?=\w)(\S+)")


def pluralize(noun: str) -> str:
    *before, last = noun.split()
    if last in _PLURALS:
        last = _PLURALS[last]
    elif last.endswith(("s", "x", "ch", "sh")):
        last += "es"
    elif last.endswith("y") and last[-2] not in "aeiou":
        last = f"{last[:-1]}ies"
    else:
        last += "s"
    return " ".join([*before, last])


def article(following: str) -> str:
    """Return the indefinite article before a text that begins with `following`: "a" or "an"."""
    return "an" if _VOWEL_SOUND.match(following) else "a"


def fix_articles(text: str) -> str:
    """Replace each "a" or "an" by the one that the next word requires."""
    return _ARTICLE.sub(lambda match: match[1] + article(match[2])[1:] + " " + match[2], text)


def third_person(phrase: str) -> str:
    return _inflect(phrase, _third)


def past_tense(phrase: str) -> str:
    return _inflect(phrase, _past)


def participle(phrase: str) -> str:
    return _inflect(phrase, lambda verb: _VERBS.get(verb, {}).get("participle") or _past(verb))


def progressive(phrase: str) -> str:
    return _inflect(phrase, _present_participle)


def _inflect(phrase: str, change: Callable[[str], str]) -> str:
    verb, space, rest = phrase.partition(" ")
    return change(verb) + space + rest


def _third(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


def _past(verb: str) -> str:
    forms = _VERBS.get(verb, {})
    if "past" in forms:
        return forms["past"]
    if "doubling" in forms:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}ed"


def _present_participle(verb: str) -> str:
    if "doubling" in _VERBS.get(verb, {}):
        return f"{verb}{verb[-1]}ing"
    return f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing"

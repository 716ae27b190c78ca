"""English inflection, as far as the core vocabulary and the grammars need it."""

from __future__ import annotations

import re
from collections.abc import Callable

_PLURALS = {
    "child": "children", "man": "men", "woman": "women", "foot": "feet", "tooth": "teeth", "mouse": "mice",
    "sheep": "sheep", "fish": "fish", "wife": "wives", "knife": "knives", "shelf": "shelves", "leaf": "leaves",
    "wolf": "wolves", "person": "people", "scarf": "scarves", "goose": "geese", "policeman": "policemen",
    "piano": "pianos", "photo": "photos", "radio": "radios", "potato": "potatoes", "tomato": "tomatoes",
    "grandchild": "grandchildren", "half": "halves",
}  # fmt: skip
# The past and the participle of each verb; a single form where both are equal.
_IRREGULAR_VERBS = {
    "bake": "baked", "begin": "began begun", "blow": "blew blown", "break": "broke broken", "bring": "brought",
    "build": "built", "buy": "bought", "catch": "caught", "come": "came come", "cut": "cut", "dig": "dug",
    "do": "did done", "draw": "drew drawn", "drink": "drank drunk", "drive": "drove driven", "eat": "ate eaten",
    "fall": "fell fallen", "feed": "fed", "feel": "felt", "find": "found", "fly": "flew flown",
    "forget": "forgot forgotten", "get": "got gotten", "give": "gave given", "go": "went gone", "grow": "grew grown",
    "hang": "hung", "have": "had", "hide": "hid hidden", "keep": "kept", "know": "knew known", "learn": "learned",
    "leave": "left", "lend": "lent", "light": "lit", "lose": "lost", "make": "made", "meet": "met", "pay": "paid",
    "put": "put", "read": "read", "ride": "rode ridden", "ring": "rang rung", "run": "ran run", "say": "said",
    "see": "saw seen", "sell": "sold", "send": "sent", "set": "set", "sing": "sang sung", "sit": "sat",
    "sleep": "slept", "speak": "spoke spoken", "spend": "spent", "stand": "stood", "sweep": "swept",
    "swim": "swam swum", "take": "took taken", "teach": "taught", "tell": "told", "think": "thought",
    "throw": "threw thrown", "understand": "understood", "wake": "woke woken", "wear": "wore worn", "win": "won",
    "write": "wrote written",
}  # fmt: skip
_DOUBLING_VERBS = (
    "begin", "chat", "cut", "dig", "forget", "get", "jog", "knit", "mop", "pet", "plan", "program", "put", "run",
    "set", "shop", "sit", "stop", "swim", "trim", "unwrap", "win", "wrap",
)  # fmt: skip
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
    return _inflect(phrase, lambda verb: _IRREGULAR_VERBS.get(verb, _regular(verb)).split()[0])


def participle(phrase: str) -> str:
    return _inflect(phrase, lambda verb: _IRREGULAR_VERBS.get(verb, _regular(verb)).split()[-1])


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


def _regular(verb: str) -> str:
    if verb in _DOUBLING_VERBS:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}ed"


def _present_participle(verb: str) -> str:
    if verb in _DOUBLING_VERBS:
        return f"{verb}{verb[-1]}ing"
    return f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing"

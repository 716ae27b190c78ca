"""Which words count as negation, as a pronoun and as a name, by the language of the text.

Words are compared in lower case. An apostrophe separates a word as well: "n'est" has "n'" and "est", "it's" has "it".
A word that also has another meaning ("pas" is also a step, "son" a sound) counts as well.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import regex

NEGATIONS = {
    "English": "no not never none nobody nothing nowhere neither nor without cannot",  # and words that end in n't
    "French": "ne n' pas non ni jamais rien aucun aucune nul nulle sans",
    "German": (
        "nicht nichts nie niemals niemand niemanden niemandem niemandes nirgends nirgendwo kein keine keinen keinem "
        "keiner keines weder ohne nein"
    ),
    "Hindi": "नहीं नही न ना मत बिना बगैर",
}
# Third-person pronouns, whose translation depends on the antecedent. French le, la, les and German sein are left out,
# since they are mostly articles and a verb; German Sie is counted, since only its position tells it from sie.
PRONOUNS = {
    "English": "he him his himself she her hers herself it its itself they them their theirs themselves",
    "French": "il ils elle elles lui leur leurs eux son sa ses",
    "German": "er ihn ihm sie ihr ihnen es ihre ihrem ihren ihrer ihres seine seinem seinen seiner seines",
    "Hindi": "वह वो वे उस उसे उसने उससे उसका उसके उसकी उसमें उन उन्हें उन्होंने उनसे उनका उनके उनकी उनमें",
}
NO_NAME_REASONS = {
    "German": "German writes every noun with a capital letter",
    "Hindi": "Hindi has no capital letters",
}
_CALENDAR = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december"
)
# Words that are always capitalised but are not names.
CAPITALISED_NON_NAMES = {"English": frozenset(("i", *_CALENDAR.split())), "French": frozenset[str]()}

_WORD = regex.compile(r"[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*")
_CAPITALISED_WORD = regex.compile(r"(?<![\p{L}\p{M}\p{N}])\p{Lu}[\p{L}\p{M}']*\p{Ll}[\p{L}\p{M}']*")
# What precedes the first word of a sentence within a text: the end of another sentence, a quotation mark or a dash.
_SENTENCE_START = regex.compile(
    r"""(?:(?<!(?<!\p{L})(?:Mr|Mrs|Ms|Dr|St|M|Mme|Mlle))\.|[!?…:;"“”„«»‘(\[–—]|(?<!\p{L})[-'])\s*$"""
)
_WINDOW_CHARACTERS = 12  # how much of the text before a word is searched for _SENTENCE_START
_UNSPACED_SCRIPTS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")

Test = Callable[[str], bool]


def negation(language: str) -> Test | str:
    """Return a function that tests a text for a negation, or the reason why there is no such test for the language."""
    return _by_list("negations", NEGATIONS, language)


def pronouns(language: str) -> Test | str:
    """Return a function that tests a text for a third-person pronoun, or the reason why there is no such test."""
    return _by_list("pronouns", PRONOUNS, language)


def names(language: str) -> Test | str:
    """Return a function that tests a text for a name, or the reason why there is no such test for the language.

    A name is a capitalised word inside a sentence.
    """
    if language in NO_NAME_REASONS:
        return f"names are recognised by their capital letter, and {NO_NAME_REASONS[language]}"
    if language not in CAPITALISED_NON_NAMES:
        return _unknown("names", CAPITALISED_NON_NAMES, language)
    not_names = CAPITALISED_NON_NAMES[language]

    def test(text: str) -> bool:
        text = _plain(text)
        return any(
            match.start() > 0
            and match[0].partition("'")[0].casefold() not in not_names
            and not _SENTENCE_START.search(text[max(0, match.start() - _WINDOW_CHARACTERS) : match.start()])
            for match in _CAPITALISED_WORD.finditer(text)
        )

    return test


def has_spaces(texts: list[str]) -> bool:
    """Return whether the texts are in scripts that separate words with spaces: at least half of their letters are."""
    text = "".join(texts)
    letters = sum(map(str.isalpha, text))
    return 2 * len(_UNSPACED_SCRIPTS.findall(text)) <= letters


def _by_list(what: str, lists: dict[str, str], language: str) -> Test | str:
    if language not in lists:
        return _unknown(what, lists, language)
    listed = frozenset(unicodedata.normalize("NFC", lists[language]).split())
    contracted = "n't" if what == "negations" and language == "English" else None

    def test(text: str) -> bool:
        return any(
            not listed.isdisjoint(_parts(word)) or (contracted is not None and word.endswith(contracted))
            for word in _WORD.findall(_plain(text).casefold())
        )

    return test


def _parts(word: str) -> set[str]:
    """Return a word and its parts between apostrophes: "n'est" is also "n'", "n" and "est"."""
    parts = word.split("'")
    return {word, *parts, *(f"{part}'" for part in parts[:-1])}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("’", "'")


def _unknown(what: str, known: dict[str, frozenset[str]] | dict[str, str], language: str) -> str:
    languages = ", ".join(known)
    if not language:
        return f"the model's card names no source language; {what} are known for {languages}"
    return f"{what} are known for {languages}, not for the source language {language}"

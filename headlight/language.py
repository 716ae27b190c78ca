"""The language of texts that people read: `gettext` and its variants translate a sentence where it is used.

The original is English. headlight/locale/<language>/LC_MESSAGES/headlight.po has the translations, and is read when it
is first needed, so nothing has to be compiled. docs/translating.md says how they are made.
"""

from __future__ import annotations

import gettext as catalogues
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from babel.lists import format_list
from babel.numbers import format_decimal, get_decimal_symbol

if TYPE_CHECKING:
    from babel.messages import Catalog

ORIGINAL_LANGUAGE = "en"
LANGUAGES = {"en": "English", "fr": "Français", "de": "Deutsch", "hi": "हिन्दी"}  # each as it calls itself
LOCALE = Path(__file__).parent / "locale"
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\d,]*\.?\d)")

_using: ContextVar[str | None] = ContextVar("language", default=None)
_askers: list[Callable[[], str | None]] = []


def current() -> str:
    """Return the language of this thread or task: that of `using`, else that of `ask_for_language`, else English."""
    return _using.get() or next((language for ask in _askers if (language := ask())), ORIGINAL_LANGUAGE)


@contextmanager
def using(language: str | None) -> Iterator[None]:
    """Translate into `language` within the block; into English if it is not one of `LANGUAGES`."""
    token = _using.set(language if language in LANGUAGES else ORIGINAL_LANGUAGE)
    try:
        yield
    finally:
        _using.reset(token)


def ask_for_language(ask: Callable[[], str | None]) -> None:
    """Let `ask` name the language outside of `using`: an app knows which user's script runs in a thread."""
    _askers[:] = [ask]


def preferred(languages: str | None) -> str:
    """Return the first of a browser's languages ("fr-CH, fr;q=0.9, en;q=0.8") in `LANGUAGES`, else English."""
    named = [part.split(";")[0].strip().lower().split("-")[0] for part in (languages or "")[:200].split(",")]
    return next((language for language in named if language in LANGUAGES), ORIGINAL_LANGUAGE)


def within(text: str) -> str:
    """Return a title for the middle of a sentence: without its capital, except in German, where nouns keep it."""
    return text if current() == "de" else text[:1].lower() + text[1:]


# ---- sentences -------------------------------------------------------------------------------------------------------


def gettext(message: str, **values: object) -> str:
    """Return the message in the current language, with the values that its {names} stand for."""
    return _filled(_translations(current()).gettext(message), values)


def pgettext(context: str, message: str, **values: object) -> str:
    """Return the message in a context, for a word that has several translations."""
    return _filled(_translations(current()).pgettext(context, message), values)


def ngettext(singular: str, plural: str, count: int, **values: object) -> str:
    """Return the message for that many, which {count} writes: "1 sentence", "1,014 sentences"."""
    text = _translations(current()).ngettext(singular, plural, count)
    return _filled(text, {"count": localized(f"{count:,}")} | values)


def in_parts(message: str, parts: Mapping[str, str], **values: object) -> list[str]:
    """Return the message in the current language, split around its `parts`, which are at odd indices of the list."""
    pieces = re.split(r"\{(" + "|".join(parts) + r")\}", _translations(current()).gettext(message))
    return [parts[piece] if i % 2 else _filled(piece, values) for i, piece in enumerate(pieces)]


def listed(items: Sequence[str]) -> str:
    """Return the items as a sentence has them: "a, b and c"."""
    if current() == ORIGINAL_LANGUAGE:
        return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))
    return format_list(items, locale=current())


def translatable(message: str) -> str:
    """Return the message unchanged, and mark it for the catalogues: for constants, which `gettext` translates later."""
    return message


def _filled(text: str, values: Mapping[str, object]) -> str:
    return text.format_map(values) if values else text


def localized(text: str) -> str:
    """Return an English text with its numbers as the current language writes them: "1,014.5" is "1.014,5" in German."""
    language = current()
    return text if language == ORIGINAL_LANGUAGE else _NUMBER.sub(lambda match: _number(match[0], language), text)


def _number(digits: str, language: str) -> str:
    whole, _, decimals = digits.partition(".")
    if "," in whole:
        whole = format_decimal(int(whole.replace(",", "")), locale=language)
    return f"{whole}{get_decimal_symbol(language)}{decimals}" if decimals else whole


# ---- catalogues ------------------------------------------------------------------------------------------------------


def catalogue_path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "headlight.po"


def catalogue(language: str) -> Catalog:
    """Return the catalogue of a language; an empty one for a language without a file, such as English."""
    from babel.messages import Catalog  # imported here, since English does without
    from babel.messages.pofile import read_po

    if not catalogue_path(language).exists():
        return Catalog(language)
    with catalogue_path(language).open("rb") as file:
        return read_po(file, language)


def as_forms(text: object) -> list[str]:
    """Return the forms of a message or of its translation: one, or those of its plural."""
    return [text] if isinstance(text, str) else [str(form or "") for form in text]  # type: ignore[attr-defined]


@cache
def _catalogue(language: str) -> Catalog:
    return catalogue(language)


@cache
def _translations(language: str) -> catalogues.NullTranslations:
    if language == ORIGINAL_LANGUAGE:
        return catalogues.NullTranslations()
    from babel.messages.mofile import write_mo

    compiled = io.BytesIO()
    write_mo(compiled, _catalogue(language))
    compiled.seek(0)
    return catalogues.GNUTranslations(compiled)


def script_messages(*scripts: str) -> str:
    """Return as JSON what headlight/viewer/js/messages.js needs to speak the current language.

    `scripts` are the names of the files whose messages are needed, such as "head".
    """
    language = current()
    texts: dict[str, str | list[str]] = {}
    for message in _catalogue(language) if language != ORIGINAL_LANGUAGE else ():
        if message.id and any(Path(file).stem in scripts for file, _ in message.locations):
            originals, forms = as_forms(message.id), as_forms(message.string)
            if all(forms):
                key = f"{message.context}\4{originals[0]}" if message.context else originals[0]
                texts[key] = forms[0] if len(originals) == 1 else forms
    plural = getattr(_translations(language), "plural", lambda n: n != 1)
    numbers = {"decimal": get_decimal_symbol(language), "singular": [n for n in (0, 1) if not plural(n)]}
    return json.dumps({"language": language, **numbers, "texts": texts}, ensure_ascii=False)

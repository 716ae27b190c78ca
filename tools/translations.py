"""The translations: what is missing in them, and what its original has outgrown.

    python -m tools.translations                    # brings the catalogues up to date, and says what is left to do
    python -m tools.translations begin fr it        # begins lessons/fr/it.md as a copy of the English text
    python -m tools.translations confirm fr it      # says that lessons/fr/it.md is right for the English text of today

docs/translating.md says how a translation is made.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import write_po

from headlight.folders import ROOT
from headlight.glossary import TRANSLATED_TERMS, glossary
from headlight.language import LANGUAGES, ORIGINAL_LANGUAGE, as_forms, catalogue, catalogue_path
from headlight.teaching.lessons.translating import begin, confirm, outdated
from transformer.decoding.strategies import STRATEGIES
from transformer.translator import SENTENCE_TOO_LONG, TRANSLATION_TOO_LONG

TRANSLATED = [language for language in LANGUAGES if language != ORIGINAL_LANGUAGE]
SOURCE_FOLDERS = ("headlight", "pages", "server", "transformer", "ui")
KEYWORDS = {
    **dict.fromkeys(("gettext", "in_parts", "translatable", "UnreadableTextError")),
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
}
_NOTE = "Translators:"
_OPTIONS = {"parse_template_string": "true"}  # of JavaScript: a call within a template literal counts
_PLACEHOLDER = re.compile(r"\{\w*\}")
_GLOSSARY = "docs/glossary.md"
_HEADER_DATE = datetime(2026, 11, 25, tzinfo=UTC)  # of the header: a date would differ in every commit


def extracted(language: str) -> Catalog:
    """Return a catalogue of every message that the code marks, without translations."""
    catalog = Catalog(
        language,
        project="Headlight",
        version="1",
        msgid_bugs_address="none",
        last_translator="Headlight",
        language_team=LANGUAGES[language],
        charset="utf-8",
        creation_date=_HEADER_DATE,
        revision_date=_HEADER_DATE,
        fuzzy=False,
    )
    catalog.header_comment = f"# {LANGUAGES[language]}: docs/translating.md says how to translate it."
    for name in TRANSLATED_TERMS:
        comment = "A term as pages write it, then its other forms, such as the plural, each after a comma and a space."
        catalog.add(name, locations=[(_GLOSSARY, 0)], context="glossary", auto_comments=[comment])
        catalog.add(glossary()[name], locations=[(_GLOSSARY, 0)])
    for source, text in (*_card_texts(), *_core_texts()):
        catalog.add(text, locations=[(source, 0)])
    for path in _sources():
        method = _in_python if path.suffix == ".py" else "javascript"
        with path.open("rb") as file:
            calls = extract(method, file, KEYWORDS, (_NOTE,), _OPTIONS)  # type: ignore[arg-type]
            for _, message, comments, context in calls:
                places = [(path.relative_to(ROOT).as_posix(), 0)]
                catalog.add(message, locations=places, auto_comments=comments, context=context)
    for entry in catalog:
        entry.flags.discard("python-format")  # a per cent sign is one
        entry.locations = sorted(set(entry.locations))
    return catalog


def _card_texts() -> Iterator[tuple[str, str]]:
    """Return what the cards of the shipped models say to people: titles, languages, and what examples show."""
    for path in sorted((ROOT / "checkpoints").glob("*/card.json")):
        card = json.loads(path.read_text("utf-8"))
        texts = [card.get("title"), card.get("source"), card.get("target")]
        texts += [example.get("why") for example in card.get("examples", []) if isinstance(example, dict)]
        yield from ((path.relative_to(ROOT).as_posix(), text) for text in texts if text)


def _core_texts() -> Iterator[tuple[str, str]]:
    """Return what the decoding strategies say of themselves, and two errors: the core marks nothing itself."""
    yield from (("transformer/translator.py", text) for text in (SENTENCE_TOO_LONG, TRANSLATION_TOO_LONG))
    for strategy in STRATEGIES.values():
        texts = [strategy.label, strategy.title, strategy.help]
        texts += [text for parameter in strategy.parameters for text in (parameter.label, parameter.help)]
        yield from (("transformer/decoding/strategies.py", text) for text in texts)


Call = tuple[int, str, tuple[str | None, ...], list[str]]  # line, function, arguments, comments


def _in_python(file: BinaryIO, keywords: object, comment_tags: object, options: object) -> Iterator[Call]:
    """Yield the calls in a Python file, as Babel wants them. Its own reader knows no call within an f-string."""
    source = file.read().decode("utf-8")
    lines = source.splitlines()
    for node in sorted(_calls(ast.parse(source)), key=lambda node: (node.lineno, node.col_offset)):
        above = lines[node.lineno - 2].strip().removeprefix("# ")
        texts = tuple(arg.value if _is_text(arg) else None for arg in node.args)  # type: ignore[attr-defined]
        yield node.lineno, node.func.id, texts, [above] * above.startswith(_NOTE)  # type: ignore[attr-defined]


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEYWORDS:
            yield node


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _sources() -> Iterator[Path]:
    """Return the files that may have messages, in the order of the catalogues."""
    for folder in SOURCE_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in (".py", ".js") and "node_modules" not in path.parts:
                text = path.read_text("utf-8")
                if re.search(rf"\b({'|'.join(KEYWORDS)})\(", text):
                    yield path


def updated(language: str) -> Catalog:
    """Return the catalogue of today with the translations that the file has."""
    today, before = extracted(language), catalogue(language)
    for message in today:
        known = before.get(message.id, message.context) if message.id else None
        if known is not None and known.string:
            message.string = known.string
            message.user_comments = known.user_comments
    return today


def as_file(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalog, width=0, include_lineno=False, sort_output=False)
    return out.getvalue()


def untranslated(language: str) -> list[str]:
    """Return the messages that have no translation, or one without all its forms."""
    return [
        as_forms(message.id)[0] for message in catalogue(language) if message.id and not all(as_forms(message.string))
    ]


def mistranslated(language: str) -> list[str]:
    """Return, a line each, the translations whose {names} are not those of the original."""
    wrong = []
    for message in catalogue(language):
        originals, strings = as_forms(message.id), as_forms(message.string)
        allowed = set().union(*(_PLACEHOLDER.findall(text) for text in originals))
        for at, text in enumerate(strings) if message.id else ():
            counted = {"{count}"} if len(originals) > 1 else set()
            needed = set(_PLACEHOLDER.findall(originals[min(at, len(originals) - 1)])) - counted
            names = set(_PLACEHOLDER.findall(text))
            if text and (not needed <= names <= allowed or text.count("{") != len(_PLACEHOLDER.findall(text))):
                wrong.append(f"{language}: “{text}” has {sorted(names)}; the original has {sorted(allowed)}.")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.translations", description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb")
    for verb, text in (("begin", "begin the translation of a lesson"), ("confirm", "confirm one after a change")):
        added = verbs.add_parser(verb, help=text)
        added.add_argument("language", choices=TRANSLATED)
        added.add_argument("lesson", help="its name, such as it")
    options = parser.parse_args()
    if options.verb:
        path = {"begin": begin, "confirm": confirm}[options.verb](options.language, options.lesson)
        print(f"Written: {path.relative_to(ROOT)}")
        return
    for language in TRANSLATED:
        path = catalogue_path(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_file(updated(language)))
        missing = untranslated(language)
        total = sum(bool(message.id) for message in catalogue(language))
        print(f"{LANGUAGES[language]}: {total - len(missing)} of {total} messages are translated.")
        for line in (*mistranslated(language), *outdated(language)):
            print(f"  {line}")


if __name__ == "__main__":
    main()

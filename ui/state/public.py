"""A public demonstration: visitors can look at everything, and cannot import, train or delete anything.

HEADLIGHT_PUBLIC=1 switches it on. The library refuses what this hides as well (`confine_public`), since a page is
not the only caller.
"""

from __future__ import annotations

import os
import re
from typing import Any

from transformer.access import REFUSAL, confine

# The address of a page, which stays; or an absolute path up to its last name. Folders may have spaces in their names,
# so words between two slashes are taken for one; one that begins with - is an option of a command, with ~ a path.
_WORD = r"[^\s/'\":,;()]"
_PATH = re.compile(
    r"(?P<page>https?://[^\s'\"]+)"
    r"|(?:~(?:[a-z_][\w-]*)?|(?<![\w./]))/+"
    rf"(?:{_WORD}+(?: +(?![-~]){_WORD}+)*/+)*(?=[\w.])"
)
_MAX_DEPTH = 20  # of nesting in a card


def public() -> bool:
    return os.environ.get("HEADLIGHT_PUBLIC", "") not in ("", "0")


def private_only() -> None:
    """Raise ValueError in a public demonstration."""
    if public():
        raise ValueError(REFUSAL)


def without_places(text: str) -> str:
    """Return a text as strangers may read it: in a public demonstration, files without their folders."""
    return _PATH.sub(lambda match: match["page"] or "", text) if public() else text


def card_without_places(card: dict[str, Any]) -> dict[str, Any]:
    """Return a model's card, which names commands and data, as strangers may read it."""
    return _each_text(card, _MAX_DEPTH) if public() else card


def _each_text(value: Any, remaining: int) -> Any:
    if isinstance(value, str):
        return without_places(value)
    if isinstance(value, dict | list) and not remaining:  # a card that is nested too deeply, with bad intent
        return None
    if isinstance(value, dict):
        return {without_places(name): _each_text(inner, remaining - 1) for name, inner in value.items()}
    return [_each_text(inner, remaining - 1) for inner in value] if isinstance(value, list) else value


def confine_public() -> None:
    """Restrict this process in a public demonstration.

    It can then read only these folders, and cannot open connections, start programs or remove files.
    """
    if public():
        # Imported late: app.py imports this file before the server answers.
        from headlight import folders
        from headlight.corpora.files import everyday_folder, tatoeba_folder
        from headlight.corpora.multi30k import default_folder
        from headlight.language import LANGUAGES

        lessons = folders.lessons()
        translated = [folders.translated_lesson(lessons / "it.md", language).parent for language in LANGUAGES]
        models = folders.checkpoints(), folders.runs(), folders.models()
        confine((*models, lessons, *translated, default_folder(), tatoeba_folder(), everyday_folder()))

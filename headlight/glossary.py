"""Link terms of the glossary (docs/glossary.md) to their explanation.

A term is a link whose title is its meaning: Markdown can write it, it can be focused, and screen readers read the title
as its description. viewer/js/terms.js shows the meaning beside it.
"""

from __future__ import annotations

import html
import re
from functools import cache

from headlight.folders import GLOSSARY
from headlight.language import gettext, pgettext

# Explained in the introductions of a lesson's steps.
LESSON_TERMS = (
    "token", "layer", "head", "encoder", "decoder", "cross-attention", "query", "key", "mask", "score", "entropy",
    "logit", "log-probability", "positional encoding", "vocabulary", "greedy decoding", "beam search", "snapshot",
)  # fmt: skip
# Explained on pages in every language.
TRANSLATED_TERMS = (
    *LESSON_TERMS, "special token", "encoder self-attention", "decoder self-attention", "parameter", "BLEU", "ALTI+",
    "alignment error rate", "rank correlation", "residual stream", "sequence log-probability", "hypothesis",
    "candidate",
)  # fmt: skip
_WORD_CHARACTERS = r"\w\u0900-\u0963\u0966-\u097f-"  # with the signs of Devanagari, but not its danda


@cache
def glossary() -> dict[str, str]:
    """Return the meaning of each term, a sentence of plain English; terms on the same line share one."""
    rows = [row.strip("|").split("|") for row in GLOSSARY.read_text("utf-8").splitlines() if row.startswith("|")]
    meanings: dict[str, str] = {}
    for terms, meaning, *_ in rows:
        if terms.strip() not in ("term", "---"):
            text = meaning.strip().replace("`", "")
            meanings |= dict.fromkeys(terms.strip().split(", "), f"{text[0].upper()}{text[1:]}.")
    return meanings


def term(name: str, text: str | None = None, *, as_html: bool = False) -> str:
    """Return a term of the glossary as a link that explains it, in Markdown or HTML; `text` is the text of the link.

    Raises KeyError for a term that is not in the glossary.
    """
    meaning, text = gettext(glossary()[name]), text or forms(name)[0]
    address = "#term-" + re.sub(r"\W+", "-", name.lower()).strip("-")
    if as_html:
        return f'<a href="{address}" title="{html.escape(meaning)}">{html.escape(text)}</a>'
    title = meaning.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{text}]({address} "{title}")'


def forms(name: str) -> list[str]:
    """Return how a term is written in the current language: its name, and its other forms, such as the plural."""
    translated = pgettext("glossary", name)
    return [name, f"{name}s"] if translated == name else translated.split(", ")


def explained(text: str, *names: str) -> str:
    """Return Markdown in which the first occurrence of each term, in any of its forms, is explained, except in code."""
    waiting = {form.lower(): name for name in names for form in forms(name)}
    either = "|".join(map(re.escape, sorted(waiting, key=len, reverse=True)))  # "attention weight" before "weight"

    def link(match: re.Match[str]) -> str:
        name = waiting.get((match["name"] or "").lower())
        if name is None:
            return match[0]
        for form in [form for form, other in waiting.items() if other == name]:
            del waiting[form]
        return term(name, match[0])

    word = rf"(?<![{_WORD_CHARACTERS}])(?P<name>{either})(?![{_WORD_CHARACTERS}])"
    return re.sub(rf"`[^`]*`|{word}", link, text, flags=re.IGNORECASE)

"""Link terms of the glossary (docs/glossary.md) to their explanation.

A term is a link whose title is its meaning: Markdown can write it, it can be focused, and screen readers read the title
as its description. viewer/js/terms.js shows the meaning beside it.
"""

from __future__ import annotations

import html
import re
from functools import cache

from headlight.folders import GLOSSARY

LESSON_TERMS = (
    "token",
    "layer",
    "head",
    "encoder",
    "decoder",
    "cross-attention",
    "query",
    "key",
    "mask",
    "score",
    "entropy",
    "logit",
    "log-probability",
    "positional encoding",
    "vocabulary",
    "greedy decoding",
    "beam search",
    "snapshot",
)  # that the introduction of a lesson's step explains


@cache
def glossary() -> dict[str, str]:
    """Return the meaning of each term, a sentence of plain text; terms on the same line of the glossary share a
    meaning.
    """
    rows = [row.strip("|").split("|") for row in GLOSSARY.read_text("utf-8").splitlines() if row.startswith("|")]
    meanings: dict[str, str] = {}
    for terms, meaning, *_ in rows:
        if terms.strip() not in ("term", "---"):
            text = meaning.strip().replace("`", "")
            meanings |= dict.fromkeys(terms.strip().split(", "), f"{text[0].upper()}{text[1:]}.")
    return meanings


def term(name: str, text: str | None = None, *, as_html: bool = False) -> str:
    """Return a term of the glossary as a link that explains it, in Markdown or HTML; `text` is what it is called there.

    Raises KeyError for what the glossary does not have.
    """
    meaning, text = glossary()[name], text or name
    address = "#term-" + re.sub(r"\W+", "-", name.lower()).strip("-")
    if as_html:
        return f'<a href="{address}" title="{html.escape(meaning)}">{html.escape(text)}</a>'
    title = meaning.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{text}]({address} "{title}")'


def explained(text: str, *names: str) -> str:
    """Return Markdown in which the first occurrence of each term, or of its plural, is explained, except in code."""
    waiting = list(names)
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))  # "attention weight" before "weight"

    def link(match: re.Match[str]) -> str:
        name = next((name for name in waiting if name.lower() == (match["name"] or "").lower()), None)
        if name is None:
            return match[0]
        waiting.remove(name)
        return term(name, match[0])

    return re.sub(rf"`[^`]*`|(?<![\w-])(?P<name>{either})s?(?![\w-])", link, text, flags=re.IGNORECASE)

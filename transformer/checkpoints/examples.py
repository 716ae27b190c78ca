"""The sentences that a model's card offers, each with what there is to see in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Example:
    text: str
    why: str = ""  # one line: what a head or the beam shows in this sentence
    pages: tuple[str, ...] = ()  # the pages that it is for, by the names in their addresses; none stands for all


def examples(card: Mapping[str, Any], page: str | None = None) -> list[Example]:
    """Those for a page, or all of them: in a card an example is a text, or an object with these fields.

    A card may come from anywhere: what is neither is left out.
    """
    examples = card.get("examples")
    each = [_example(one) for one in examples] if isinstance(examples, list) else []
    return [one for one in each if one.text and (page is None or not one.pages or page in one.pages)]


def _example(one: Any) -> Example:
    if not isinstance(one, dict):
        return Example(one if isinstance(one, str) else "")
    text, why, pages = one.get("text"), one.get("why"), one.get("pages")
    if not isinstance(text, str):
        return Example("")
    named = tuple(page for page in pages if isinstance(page, str)) if isinstance(pages, list) else ()
    return Example(text, why if isinstance(why, str) else "", named)

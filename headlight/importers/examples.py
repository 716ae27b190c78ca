"""The sentences that a model's card offers, each with what there is to see in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from headlight.corpora.about import everyday
from transformer.tokenizers import Tokenizer

SUGGESTED_WORDS = 4  # of a vocabulary, where there are no sentences


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


def suggest_examples(language: object, tokenizer: Tokenizer) -> list[str]:
    """What a model of which only this is known can read, for its first page not to be empty.

    Sentences in its source language, or English ones where it does not say which, that have no unknown piece; else the
    first words of its vocabulary.
    """
    sentences = everyday(language if isinstance(language, str) and language else "English")
    known = [text for text in sentences if (ids := _ids(tokenizer, text)) and tokenizer.unk_id not in ids]
    if known:
        return known
    words = (text for text in _pieces(tokenizer) if len(text) > 1 and text.isalpha())
    chosen = list(islice(words, SUGGESTED_WORDS)) or list(islice(_pieces(tokenizer), SUGGESTED_WORDS))
    return [" ".join(chosen)] if chosen else []


def _pieces(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the texts that are one token."""
    for id in range(tokenizer.vocab_size):
        text = "" if id in tokenizer.special_ids else tokenizer.decode([id])
        if text and _ids(tokenizer, text) == [id]:
            yield text


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """None where the tokenizer has no token for some of the text, not even an unknown one."""
    try:
        return tokenizer.encode(text)
    except ValueError:
        return []


def _example(one: Any) -> Example:
    if not isinstance(one, dict):
        return Example(one if isinstance(one, str) else "")
    text, why, pages = one.get("text"), one.get("why"), one.get("pages")
    if not isinstance(text, str):
        return Example("")
    named = tuple(page for page in pages if isinstance(page, str)) if isinstance(pages, list) else ()
    return Example(text, why if isinstance(why, str) else "", named)

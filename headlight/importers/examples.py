"""The example sentences on a model's card, each with a note on what it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from headlight.corpora.about import everyday
from transformer.tokenizers import Tokenizer

SUGGESTED_WORDS = 4  # where the vocabulary can read no sentence of ours


@dataclass(frozen=True)
class Example:
    text: str
    why: str = ""  # one line: what a head or the beam shows in this sentence
    pages: tuple[str, ...] = ()  # the pages that it is for, by the names in their addresses; none stands for all


def examples(card: Mapping[str, Any], page: str | None = None) -> list[Example]:
    """Return the examples for a page, or all of them.

    An example is a text, or an object with the fields of `Example`. Anything else is ignored, since a card may come
    from anywhere.
    """
    examples = card.get("examples")
    each = [_example(example) for example in examples] if isinstance(examples, list) else []
    return [
        example for example in each if example.text and (page is None or not example.pages or page in example.pages)
    ]


def suggest_examples(language: object, tokenizer: Tokenizer) -> list[str]:
    """Return sentences that a model without examples can read, so that its first page is not empty.

    These are sentences in its source language (English if unknown) without an unknown piece, or else the first words of
    its vocabulary.
    """
    sentences = everyday(language if isinstance(language, str) and language else "English")
    readable = [text for text in sentences if (ids := _ids(tokenizer, text)) and tokenizer.unk_id not in ids]
    if readable:
        return readable
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
    """Return the text's ids; empty where the tokenizer cannot encode it."""
    try:
        return tokenizer.encode(text)
    except ValueError:
        return []


def _example(entry: Any) -> Example:
    if not isinstance(entry, dict):
        return Example(entry if isinstance(entry, str) else "")
    text, why, pages = entry.get("text"), entry.get("why"), entry.get("pages")
    if not isinstance(text, str):
        return Example("")
    named = tuple(page for page in pages if isinstance(page, str)) if isinstance(pages, list) else ()
    return Example(text, why if isinstance(why, str) else "", named)

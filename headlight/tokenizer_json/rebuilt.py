"""A tokenizer's JSON, rebuilt from the parts that are understood."""

from __future__ import annotations

from typing import Any

from headlight.tokenizer_json.models import added_tokens, model
from headlight.tokenizer_json.steps import MOST_GROWTH, MOST_GROWTH_BACK, Effort, decoder, normalizer, pre_tokenizer


def rebuilt(content: Any) -> dict[str, Any]:
    """What cuts a text and puts it together again. What stands around a text, and how long it is, is left out.

    Raises ValueError for a part that is not known, or costs more than any tokenizer's.
    """
    if not isinstance(content, dict) or not isinstance(content.get("model"), dict):
        raise ValueError("it has no model")
    there, back = Effort(MOST_GROWTH), Effort(MOST_GROWTH_BACK)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added_tokens(content.get("added_tokens")),
        "normalizer": normalizer(content.get("normalizer"), there),
        "pre_tokenizer": pre_tokenizer(content.get("pre_tokenizer"), there),
        "post_processor": None,
        "decoder": decoder(content.get("decoder"), back),
        "model": model(content["model"]),
    }

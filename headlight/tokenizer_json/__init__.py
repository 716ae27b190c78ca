"""A tokenizer's JSON from an untrusted file, opened so that it can neither end nor hang the process.

The library that runs it believes what it reads: a size that a file claims is memory taken, and a step that doubles a
text doubles it as often as it is listed. So a tokenizer is rebuilt from the parts that are understood, each
step, pattern and table with a bound on what it costs (`rebuilt`); and one that is not of the forms that are written
here is opened and tried in a process with little memory and time before this one opens it (`trial`).
"""

from __future__ import annotations

import json
from typing import Any

import tokenizers

from headlight.tokenizer_json.fields import shown
from headlight.tokenizer_json.known import is_own
from headlight.tokenizer_json.models import added_tokens, model
from headlight.tokenizer_json.moses import KEY, with_moses
from headlight.tokenizer_json.steps import MAX_GROWTH, MAX_GROWTH_BACK, Effort, decoder, normalizer, pre_tokenizer
from headlight.tokenizer_json.trial import tried

__all__ = ["opened", "rebuilt", "shown"]


def opened(content: Any) -> tokenizers.Tokenizer:
    """Build the tokenizer that the JSON `content` describes, without its post-processing and truncation.

    Raises ValueError with what is wrong, such as "it uses the decoder 'X', which is not supported".
    """
    moses = content.get(KEY) if isinstance(content, dict) else None
    understood = rebuilt(content)
    text = json.dumps(understood)
    if not is_own(understood):
        tried(text)
    try:
        inner = tokenizers.Tokenizer.from_str(text)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # Rust's panics are no Exception
        raise ValueError(shown(error)) from None
    return inner if moses is None else with_moses(inner, moses)


def rebuilt(content: Any) -> dict[str, Any]:
    """Check and rebuild the JSON of a tokenizer, without its post-processing and truncation.

    Raises ValueError for a part that is not known, or costs more than any tokenizer's.
    """
    if not isinstance(content, dict) or not isinstance(content.get("model"), dict):
        raise ValueError("it has no model")
    there, back = Effort(MAX_GROWTH), Effort(MAX_GROWTH_BACK)
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

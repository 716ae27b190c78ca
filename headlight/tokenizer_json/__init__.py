"""Open a tokenizer's JSON from an untrusted file, so that it can neither crash nor hang the process.

The tokenizers library trusts its input: it allocates whatever size a file claims, and a file may list a step that
doubles a text any number of times. So a tokenizer is rebuilt from supported parts only, with a bound on the cost of
each step, pattern and table (`rebuilt`). A tokenizer in a form that Headlight does not write is first tried in a child
process with little memory and time (`trial`).
"""

from __future__ import annotations

import json
from typing import Any

import tokenizers

from headlight.tokenizer_json.fields import shown
from headlight.tokenizer_json.known import is_own
from headlight.tokenizer_json.models import added_tokens, model
from headlight.tokenizer_json.moses import KEY, with_moses
from headlight.tokenizer_json.steps import (
    DECODERS,
    MAX_DECODING_GROWTH,
    MAX_GROWTH,
    NORMALIZERS,
    PRE_TOKENIZERS,
    Effort,
    check_steps,
)
from headlight.tokenizer_json.trial import try_tokenizer

__all__ = ["opened", "rebuilt", "shown"]


def opened(content: Any) -> tokenizers.Tokenizer:
    """Build the tokenizer that the JSON `content` describes, without its post-processing and truncation.

    Raises ValueError with what is wrong, such as "it uses the decoder 'X', which is not supported".
    """
    moses = content.get(KEY) if isinstance(content, dict) else None
    checked = rebuilt(content)
    text = json.dumps(checked)
    if not is_own(checked):
        try_tokenizer(text)
    try:
        inner = tokenizers.Tokenizer.from_str(text)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # Rust's panics are no Exception
        raise ValueError(shown(error)) from None
    return inner if moses is None else with_moses(inner, moses)


def rebuilt(content: Any) -> dict[str, Any]:
    """Check and rebuild the JSON of a tokenizer, without its post-processing and truncation.

    Raises ValueError for a part that is not supported or costs too much.
    """
    if not isinstance(content, dict) or not isinstance(content.get("model"), dict):
        raise ValueError("it has no model")
    encoding, decoding = Effort(MAX_GROWTH), Effort(MAX_DECODING_GROWTH)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added_tokens(content.get("added_tokens")),
        "normalizer": check_steps(content.get("normalizer"), NORMALIZERS, encoding),
        "pre_tokenizer": check_steps(content.get("pre_tokenizer"), PRE_TOKENIZERS, encoding),
        "post_processor": None,
        "decoder": check_steps(content.get("decoder"), DECODERS, decoding),
        "model": model(content["model"]),
    }

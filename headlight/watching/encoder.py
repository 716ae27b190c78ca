"""A model that is only an encoder: every token of the text may look at every other."""

from __future__ import annotations

from typing import Any

import numpy as np

from headlight.watching.checks import require_no_options
from headlight.watching.shared_copy import SharedCopy
from headlight.watching.tokens import tokens_of
from transformer.trace import Tokens, Trace


def watch_encoder(model: SharedCopy, text: str, target: str | None, options: dict[str, Any]) -> Trace:
    if target is not None:
        raise ValueError(f"{model.name} is only an encoder, which writes nothing; leave out the target.")
    require_no_options(options, f"{model.name} is only an encoder")
    encoded = model.encode(text)
    length = encoded["input_ids"].shape[1]
    return Trace(
        text=text,
        translation="",
        source=tokens_of(model.tokenizer, encoded["input_ids"][0].tolist(), reads=True),
        target=Tokens.none(),
        encoder=model.weights(model.run(**encoded), "attentions", length, length),
        decoder=None,
        cross=None,
        log_probs=np.zeros(0, np.float32),
        model=model.title,
        given=0,
    )

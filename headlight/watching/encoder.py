"""A model that is only an encoder: every token of the text may look at every other."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from headlight.watching.shared_copy import SharedCopy
from headlight.watching.tokens import tokens_of
from transformer.trace import Tokens, Trace


def encoder_trace(model: SharedCopy, text: str, encoded: dict[str, Tensor], patterns: np.ndarray) -> Trace:
    """The trace of `patterns` [L, H, S, S], which the model computed of `encoded`."""
    return Trace(
        text=text,
        translation="",
        source=tokens_of(model.tokenizer, encoded["input_ids"][0].tolist(), reads=True),
        target=Tokens.none(),
        encoder=patterns,
        decoder=None,
        cross=None,
        log_probs=np.zeros(0, np.float32),
        model=model.title,
        given=0,
    )

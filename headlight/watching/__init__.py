"""Record the attention of a live Hugging Face model. Only this package imports `transformers`, and only when called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headlight.watching.checks import require_model, require_only_read, require_text, require_tokenizer
from headlight.watching.shared_copy import SharedCopy
from headlight.watching.traces import watch_decoder, watch_encoder, watch_encoder_decoder
from headlight.watching.translating import from_hugging_face
from transformer.trace import Trace

if TYPE_CHECKING:
    from headlight.notebook import View

__all__ = ["attention_of", "from_hugging_face", "watch"]


def watch(model: Any, tokenizer: Any, text: str, target: str | None = None, **generate_options: Any) -> View:
    """Show what every head of a Hugging Face model looks at while it reads `text` and writes; `.trace` has the arrays.

    `model` is a PyTorch model of `transformers`: an encoder-decoder (Marian, T5, BART, mBART, M2M100, ...), an encoder
    (BERT, ...) or a decoder (GPT-2, Llama, ...). Its own `generate` writes the output, with `generate_options`
    (num_beams=4, forced_bos_token_id=..., max_new_tokens=40, ...). `target` forces another output; with a decoder,
    target="" writes nothing. The weights come from the model's own eager attention, whichever kernel it otherwise uses,
    computed on a copy that shares the tensors, so `model` itself is never changed.

    Raises ValueError for a model that has no attention weights or reads no text, and for a text that is empty or too
    long.
    """
    from headlight.notebook import show

    return show(attention_of(model, tokenizer, text, target, **generate_options))


def attention_of(model: Any, tokenizer: Any, text: str, target: str | None = None, **generate_options: Any) -> Trace:
    """Return the `Trace` that `watch` shows: float32 arrays over exactly the tokens that the model read, for one text.

    An encoder's trace has `encoder` [L, H, S, S]. A decoder's has `decoder` [L, H, T, T], with rows for the prompt and
    for the generated tokens (`Trace.given` says where those begin). An encoder-decoder's has both, and `cross`
    [L, H, T, S], for the hypothesis that `generate` chose. Raises the same errors as `watch`.
    """
    model = require_model(model)
    require_tokenizer(tokenizer)
    require_text(text, target)
    copy = SharedCopy(model, tokenizer)
    encoded = copy.encode(text)
    if copy.has_both:
        return watch_encoder_decoder(copy, text, encoded, target, generate_options)
    length = encoded["input_ids"].shape[1]
    patterns = copy.weights(copy.run(**encoded), "attentions", length, length)
    # A model that masks later tokens is a decoder, whatever it is called; with one token there are none to mask.
    if copy.model.can_generate() if length == 1 else not np.triu(patterns, 1).any():
        return watch_decoder(copy, text, encoded, target, generate_options)
    require_only_read(copy.name, target, generate_options)
    return watch_encoder(copy, text, encoded, patterns)

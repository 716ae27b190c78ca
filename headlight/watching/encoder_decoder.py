"""An encoder-decoder: what it writes, and one pass over both sides with the weights of the steps that wrote it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from headlight.watching.checks import require_no_options
from headlight.watching.decoder import log_probs
from headlight.watching.shared_copy import SharedCopy
from headlight.watching.tokens import tokens_of
from transformer.trace import Trace


def watch_encoder_decoder(
    model: SharedCopy, text: str, encoded: dict[str, Tensor], target: str | None, options: dict[str, Any]
) -> Trace:
    model.require_output()
    if target is None:
        written = model.generate(encoded, options)
    else:
        require_no_options(options, "The target is given")
        written = _forced(model, target)
    read, given = model.batch(written[:-1]), _given(written, options)
    output = model.run(**encoded, decoder_input_ids=read)
    source, steps = encoded["input_ids"].shape[1], read.shape[1]
    decoder = model.weights(output, "decoder_attentions", steps, steps)
    return Trace(
        text=text,
        translation=model.tokenizer.decode(written[given:], skip_special_tokens=True),
        source=tokens_of(model.tokenizer, encoded["input_ids"][0].tolist(), reads=True),
        target=tokens_of(model.tokenizer, written),
        encoder=model.weights(output, "encoder_attentions", source, source),
        decoder=decoder,
        cross=model.weights(output, "cross_attentions", steps, source),
        log_probs=log_probs(output, written),
        finished=target is not None or written[-1] in model.ends(options),
        model=model.title,
        look_ahead=bool(np.triu(decoder, 1).any()),
        given=given,
    )


def _given(written: list[int], options: dict[str, Any]) -> int:
    """How many tokens the decoder was given: the one that it starts with, and a beginning in `decoder_input_ids`."""
    beginning = options.get("decoder_input_ids")
    if beginning is None:
        return 1
    first = torch.as_tensor(beginning).reshape(-1).tolist()
    return len(first) + (written[: len(first)] != first)


def _forced(model: SharedCopy, target: str) -> list[int]:
    """The ids of a text to write, from the decoder's first token to the end, as the model was trained on such texts."""
    labels: list[int] = model.tokenizer(text_target=target, padding=False, truncation=False)["input_ids"]
    tensor = model.batch(labels)
    if hasattr(model.model, "prepare_decoder_input_ids_from_labels"):
        read: list[int] = model.model.prepare_decoder_input_ids_from_labels(labels=tensor)[0].tolist()
    else:
        read = [model.model.generation_config.decoder_start_token_id, *labels[:-1]]
    # mBART's labels end with the language, which its decoder reads first: there the text is over at the token before.
    turned = read[0] == labels[-1] and labels[-1] not in model.ends({})
    return read if turned else [*read, labels[-1]]

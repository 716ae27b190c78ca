"""Traces of encoders, decoders and encoder-decoders: the tokens that a model read and wrote, with its attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headlight.watching.checks import require_no_options
from headlight.watching.shared_copy import SharedCopy
from headlight.watching.tokens import tokens_of
from transformer.trace import Tokens, Trace


def watch_encoder(model: SharedCopy, text: str, encoded: dict[str, Tensor], patterns: np.ndarray) -> Trace:
    """Return the trace of `patterns` [L, H, S, S], which the model computed for `encoded`."""
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


def watch_decoder(
    model: SharedCopy, text: str, encoded: dict[str, Tensor], target: str | None, options: dict[str, Any]
) -> Trace:
    """Return the trace of a decoder that reads the prompt `text` and continues it."""
    model.require_output()
    prompt = encoded["input_ids"][0].tolist()
    if target is None:
        ids = model.generate(encoded, options)
    else:
        require_no_options(options, "The target is given")
        ids = prompt + list(model.tokenizer(target, add_special_tokens=False, padding=False)["input_ids"])
    if len(ids) < 2:
        raise ValueError("There is only one token, and the last is never read; give more text, or let the model write.")
    read = model.batch(ids[:-1])
    output = model.run(input_ids=read)
    steps = read.shape[1]
    return Trace(
        text=text,
        translation=model.tokenizer.decode(ids[len(prompt) :], skip_special_tokens=True),
        source=Tokens.none(),
        target=tokens_of(model.tokenizer, ids),
        encoder=None,
        decoder=model.weights(output, "attentions", steps, steps),
        cross=None,
        log_probs=_log_probs(output, ids),
        finished=target is not None or ids[-1] in model.ends(options),
        model=model.title,
        given=len(prompt),
    )


def _log_probs(output: Any, ids: Sequence[int]) -> np.ndarray:
    """Return the log-probability of each token of `ids` but the first, [T], float32, from `output.logits` [1, T, V]."""
    logits = output.logits[0].float()
    following = torch.tensor(ids[1:], device=logits.device)[:, None]
    chosen: np.ndarray = logits.log_softmax(-1).gather(1, following)[:, 0].cpu().numpy()
    return chosen


def watch_encoder_decoder(
    model: SharedCopy, text: str, encoded: dict[str, Tensor], target: str | None, options: dict[str, Any]
) -> Trace:
    """Generate a translation, or force `target`, and return the trace of one pass over both sides."""
    model.require_output()
    if target is None:
        ids = model.generate(encoded, options)
    else:
        require_no_options(options, "The target is given")
        ids = _forced(model, target)
    read, n_given = model.batch(ids[:-1]), _count_given(ids, options)
    output = model.run(**encoded, decoder_input_ids=read)
    source, steps = encoded["input_ids"].shape[1], read.shape[1]
    decoder = model.weights(output, "decoder_attentions", steps, steps)
    return Trace(
        text=text,
        translation=model.tokenizer.decode(ids[n_given:], skip_special_tokens=True),
        source=tokens_of(model.tokenizer, encoded["input_ids"][0].tolist(), reads=True),
        target=tokens_of(model.tokenizer, ids),
        encoder=model.weights(output, "encoder_attentions", source, source),
        decoder=decoder,
        cross=model.weights(output, "cross_attentions", steps, source),
        log_probs=_log_probs(output, ids),
        finished=target is not None or ids[-1] in model.ends(options),
        model=model.title,
        look_ahead=bool(np.triu(decoder, 1).any()),
        given=n_given,
    )


def _count_given(ids: list[int], options: dict[str, Any]) -> int:
    """Return the number of decoder tokens that are not generated: the first, or those of `decoder_input_ids`."""
    beginning = options.get("decoder_input_ids")
    if beginning is None:
        return 1
    first = torch.as_tensor(beginning).reshape(-1).tolist()
    return len(first) + (ids[: len(first)] != first)


def _forced(model: SharedCopy, target: str) -> list[int]:
    """Return the ids of the text `target`, from the decoder's first token to the end, as in the model's training."""
    labels: list[int] = model.tokenizer(text_target=target, padding=False, truncation=False)["input_ids"]
    tensor = model.batch(labels)
    if hasattr(model.model, "prepare_decoder_input_ids_from_labels"):
        read: list[int] = model.model.prepare_decoder_input_ids_from_labels(labels=tensor)[0].tolist()
    else:
        read = [model.model.generation_config.decoder_start_token_id, *labels[:-1]]
    # mBART's labels end with the language, which its decoder reads first: the text ends at the token before it.
    turned = read[0] == labels[-1] and labels[-1] not in model.ends({})
    return read if turned else [*read, labels[-1]]

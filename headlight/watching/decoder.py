"""A model that is only a decoder: a prompt that it reads, and what it writes after it."""

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


def watch_decoder(
    model: SharedCopy, text: str, encoded: dict[str, Tensor], target: str | None, options: dict[str, Any]
) -> Trace:
    model.require_output()
    prompt = encoded["input_ids"][0].tolist()
    if target is None:
        ids = model.generate(encoded, options)
    else:
        require_no_options(options, "The target is given")
        ids = prompt + list(model.tokenizer(target, add_special_tokens=False, padding=False)["input_ids"])
    if len(ids) < 2:
        raise ValueError("There is one token, after which nothing is read; give a longer text, or let the model write.")
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
        log_probs=log_probs(output, ids),
        finished=target is not None or ids[-1] in model.ends(options),
        model=model.title,
        given=len(prompt),
    )


def log_probs(output: Any, ids: Sequence[int]) -> np.ndarray:
    """Of each token of `ids` but the first, given those before it: [T], float32. `output` has logits [1, T, V]."""
    logits = output.logits[0].float()
    chosen: np.ndarray = (
        logits.log_softmax(-1).gather(1, torch.tensor(ids[1:], device=logits.device)[:, None])[:, 0].cpu().numpy()
    )
    return chosen

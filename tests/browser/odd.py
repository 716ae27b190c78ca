"""Small untrained models whose tokens are hostile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tokenizers
import torch
from tokenizers import models, pre_tokenizers

from headlight import checkpoints
from tests.small import small_checkpoint
from transformer.checkpoint import Checkpoint
from transformer.tokenizers import SPECIALS, Tokenizer

HOSTILE = ["<img/src=x/onerror=alert(1)>", "</script><script>alert(1)</script>", "<b>bold</b>", "$x$", "**a**"]
WORDS = ["one", "two", "three", "four", "five"]
SENTENCE = " ".join([*HOSTILE, *WORDS])


def save_odd(folder: Path, sentence: str = SENTENCE, ends: float = 0.0, **sizes: Any) -> None:
    """Save a model that knows the words of a sentence alone; `ends` is added to the logit of the end of an output.

    The untrained weights of this seed happen to write a dozen tokens before they end.
    """
    vocabulary = {token: i for i, token in enumerate([*SPECIALS, *sentence.split()])}
    inner = tokenizers.Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer, size = Tokenizer(inner), len(vocabulary)
    sizes = {"max_length": 600, "source_vocab_size": size, "target_vocab_size": size, **sizes}
    model = small_checkpoint(seed=33, **sizes).model
    if ends:
        with torch.no_grad():
            model.output.bias[model.config.eos_id] += ends
    card = {"title": "Odd <b>words</b>", "source": "Odd", "target": "Even", "examples": [sentence, "one two"]}
    checkpoints.save(Checkpoint(model, tokenizer, tokenizer, card), folder)

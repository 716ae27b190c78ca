"""Networks by name: four sizes of ours, and of five widely followed tutorials the model and how it is trained.

A tutorial's preset has its depth, widths, biases and norms' places, so its parameters agree to the last one
wherever its norms have a gain and bias for each dimension. (Two of the tutorials norm by a single scalar
gain and bias, for which there is no reason but brevity; the presets take the usual vectors.)

`RECIPES` has the rest of what a tutorial trains with, and `DIFFERS` a line on where ours cannot be the same. A
tutorial's passes over its corpus, and its sentences a batch, are steps and tokens here: Multi30k has 29,000 pairs, so
10 passes by 32 are 9,070 steps, and 32 captions take about 512 tokens.
"""

from __future__ import annotations

from typing import Any

from transformer.config import ModelConfig, StackConfig
from transformer.quoting import quoted


def _both(n_layers: int, n_heads: int, d_ff: int) -> dict[str, StackConfig]:
    stack = StackConfig(n_layers, n_heads, d_ff)
    return {"encoder": stack, "decoder": stack}


_PRE = {"norm": "pre", "final_norm": True}
_UNMASKED = {"padding_mask": "never", "look_ahead_mask": "never"}  # as two tutorials' code runs

PRESETS: dict[str, dict[str, Any]] = {
    "mini": {"d_model": 64, **_both(2, 4, 256), **_PRE, "tied": "output"},  # enough for letters and dates
    "tiny": {"d_model": 128, **_both(2, 4, 512), **_PRE, "tied": "output"},
    "small": {"d_model": 256, **_both(3, 4, 1024), **_PRE, "tied": "output"},
    "base": {"d_model": 512, **_both(6, 8, 2048), "tied": "output"},
    # Transformers Laid Out (2024)
    "transformers-laid-out": {"d_model": 512, **_both(6, 8, 2048), "max_length": 5000},
    # Transformer: implementing a transformer architecture from scratch (2025), its toy run
    "transformer-from-scratch": {"d_model": 128, **_both(2, 4, 256), **_UNMASKED},
    # Building a transformer from the ground up
    "ground-up": {"d_model": 512, **_both(6, 8, 2048), **_PRE, **_UNMASKED, "qkv_bias": False},
    # Coding transformer model from scratch, part 1
    "adeveloperdiary": {
        "d_model": 512,
        **_both(6, 8, 2048),
        **_PRE,
        "qkv_bias": False,
        "attention_output_bias": False,
    },
    # NLP 7: transformer implementation (2025; English to Hindi)
    "nlp7-en-hi": {"d_model": 256, **_both(6, 8, 2048), **_PRE},
}


# By the names of a run's configuration. What a tutorial doesn't say is left as ours.
RECIPES: dict[str, dict[str, Any]] = {
    "transformers-laid-out": {
        "tokenizer": "words",
        "separate": True,
        "vocabulary": 20_000,
        "min_frequency": 2,
        "training.schedule": "paper",
        "training.warmup": 4_000,
        "training.learning_rate": round((512 * 4_000) ** -0.5, 8),  # the peak of the paper's formula
        "training.label_smoothing": 0.1,
        "training.clip": 1.0,
        "training.steps": 9_070,
        "training.batch_tokens": 512,
        "training.evaluate_every": 907,
        "training.checkpoint_every": 907,
    },
    "transformer-from-scratch": {
        "tokenizer": "words",
        "separate": True,
        "vocabulary": 8_000,
        "min_frequency": 1,
        "training.schedule": "constant",
        "training.warmup": 0,
        "training.learning_rate": 1e-3,
        "training.label_smoothing": 0.0,
        "training.clip": 0.0,
        "training.steps": 20,
        "training.batch_tokens": 256,
        "training.evaluate_every": 5,
        "training.checkpoint_every": 5,
    },
    "ground-up": {
        "tokenizer": "words",
        "separate": True,
        "vocabulary": 20_000,
        "min_frequency": 2,
        "training.schedule": "constant",
        "training.warmup": 0,
        "training.learning_rate": 1e-4,
        "training.label_smoothing": 0.1,
        "training.clip": 0.0,
        "training.scheduled_sampling": True,
        "training.steps": 9_070,
        "training.batch_tokens": 512,
        "training.evaluate_every": 907,
        "training.checkpoint_every": 907,
    },
    "adeveloperdiary": {},
    "nlp7-en-hi": {
        "vocabulary": 30_000,
        "max_characters": 511,
        "training.schedule": "constant",
        "training.warmup": 0,
        "training.learning_rate": 1e-4,
        "training.label_smoothing": 0.0,
        "training.clip": 1.0,
        "training.accumulate": 4,
        "training.steps": 389_000,  # 15 passes over 1.66 million pairs by 16 * 4
        "training.batch_tokens": 512,
        "training.evaluate_every": 2_000,
        "training.checkpoint_every": 2_000,
    },
}

DIFFERS: dict[str, str] = {
    "transformers-laid-out": "As the tutorial means to train on Multi30k. Different here: words are cut at spaces and "
    "punctuation, not by spaCy; label smoothing gives ε/V to all V tokens, not ε/(V − 1) to the wrong ones; the "
    "warm-up reaches the optimizer, which it doesn't in the tutorial's code; batch and number of steps are ours.",
    "transformer-from-scratch": "As the tutorial trains on its five sentences (the corpus “toy”), 20 passes, and like "
    "its code without masks: the decoder sees the words that it has to predict, so the loss says nothing about what it "
    "can write. Different here: sentences have a start and an end.",
    "ground-up": "As the tutorial trains on Multi30k, 10 passes, and like its code without masks: the decoder sees the "
    "words that it has to predict, so the loss says nothing about what it can write. Different here: padding does not "
    "count in the loss; words are cut at spaces and punctuation, not by spaCy; batches are counted in tokens, 512 for "
    "its 32 captions; Adam has the paper's betas.",
    "adeveloperdiary": "The tutorial's network. Its first part trains nothing: how it is trained is ours.",
    "nlp7-en-hi": "As the tutorial trains on the IITB English-Hindi corpus, 15 passes. Different here: batches are "
    "counted in tokens, 512 for its 16 sentences; precision is what this machine computes fast, not always float16.",
}


def preset(name: str, source_vocab_size: int, target_vocab_size: int, **changes: Any) -> ModelConfig:
    """The configuration called `name` with these vocabularies; `changes` replace single fields.

    Raises ValueError for a name that isn't one of `PRESETS`.
    """
    if name not in PRESETS:
        raise ValueError(f"There is no preset {quoted(name)}; choose one of {', '.join(PRESETS)}.")
    return ModelConfig(source_vocab_size, target_vocab_size, **{**PRESETS[name], **changes})

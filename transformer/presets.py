"""Networks by name: four sizes of ours, and the networks and training settings of five widely followed tutorials.

A tutorial's preset does what the tutorial's code does, mistakes included, as far as a configuration can say it; the
numbers of parameters agree exactly. `RECIPES` has the settings of its training, `DIFFERENCES` says what differs here,
and docs/tutorials/settings.tsv lists the settings of each tutorial's code, field by field.

Epochs and sentences per batch become steps and tokens per batch: Multi30k has 29,000 pairs, so 10 epochs in batches of
32 are 9,070 steps, and 32 captions have about 512 tokens.
"""

from __future__ import annotations

from typing import Any

from transformer.config import ModelConfig, StackConfig
from transformer.quoting import quoted


def _stacks(n_layers: int, n_heads: int, d_ff: int) -> dict[str, StackConfig]:
    stack = StackConfig(n_layers, n_heads, d_ff)
    return {"encoder": stack, "decoder": stack}


_PRE_NORM = {"norm": "pre", "final_norm": True}
_NO_MASKS = {"padding_mask": "never", "look_ahead_mask": "never"}  # as two tutorials' code runs
# All five drop attention weights and activations too, with the rate of the rest.
_TUTORIAL = {"dropout": 0.1, "attention_dropout": 0.1, "activation_dropout": 0.1, "initialisation": "torch"}

PRESETS: dict[str, dict[str, Any]] = {
    "mini": {"d_model": 64, **_stacks(2, 4, 256), **_PRE_NORM, "tied": "output"},  # enough for letters and dates
    "tiny": {"d_model": 128, **_stacks(2, 4, 512), **_PRE_NORM, "tied": "output"},
    "small": {"d_model": 256, **_stacks(3, 4, 1024), **_PRE_NORM, "tied": "output"},
    "base": {"d_model": 512, **_stacks(6, 8, 2048), "tied": "output"},
    # Transformers Laid Out (2024)
    "transformers-laid-out": {
        "d_model": 512, **_stacks(6, 8, 2048), **_TUTORIAL, "max_length": 5000, "dropout_after_sum": True,
    },  # fmt: skip
    # Transformer: implementing a transformer architecture from scratch (2025), its toy run
    "transformer-from-scratch": {"d_model": 128, **_stacks(2, 4, 256), **_TUTORIAL, **_NO_MASKS},
    # Building a transformer from the ground up
    "ground-up": {
        "d_model": 512, **_stacks(6, 8, 2048), **_PRE_NORM, **_TUTORIAL, **_NO_MASKS, "qkv_bias": False,
        "norm_form": "scalar", "positions": "no-exp", "position_base": 1_000.0, "max_length": 100,
        "initialisation": "xavier",
    },  # fmt: skip
    # Coding transformer model from scratch, part 1
    "adeveloperdiary": {
        "d_model": 512,
        **_stacks(6, 8, 2048),
        **_PRE_NORM,
        **_TUTORIAL,
        "qkv_bias": False,
        "attention_output_bias": False,
        "norm_form": "scalar",
        "norm_eps": 1e-16,  # 1e-8 beside the deviation
    },
    # NLP 7: transformer implementation (2025; English to Hindi)
    "nlp7-en-hi": {
        "d_model": 256,
        **_stacks(6, 8, 2048),
        **_PRE_NORM,
        **_TUTORIAL,
        "norm_form": "unbiased",
        "norm_eps": 1e-12,  # 1e-6 beside the deviation
        "initialisation": "xavier",
    },
}


_TORCH_ADAM = {"training.adam_beta2": 0.999, "training.adam_eps": 1e-8}  # PyTorch's own
_CONSTANT_RATE = {"training.schedule": "constant", "training.warmup": 0, "training.label_smoothing": 0.0}


def _every(steps: int) -> dict[str, Any]:
    return {"training.evaluate_every": steps, "training.checkpoint_every": steps}


# By the names of a run's configuration. What a tutorial doesn't say is left as ours.
RECIPES: dict[str, dict[str, Any]] = {
    "transformers-laid-out": {
        "tokenizer": "words",
        "separate": True,
        "vocabulary": 20_000,
        "min_frequency": 2,
        "framing": "both",
        "training.schedule": "paper",
        "training.warmup": 4_000,
        "training.learning_rate": round((512 * 4_000) ** -0.5, 8),  # the peak of the paper's formula
        "training.label_smoothing": 0.1,
        "training.padding_in_loss": True,
        "training.clip": 1.0,
        "training.steps": 9_070,
        "training.batch_tokens": 512,
        **_every(907),
    },
    "transformer-from-scratch": {
        "tokenizer": "words",
        "separate": True,
        "vocabulary": 8_000,
        "min_frequency": 1,
        "framing": "none",
        **_CONSTANT_RATE,
        **_TORCH_ADAM,
        "training.learning_rate": 1e-3,
        "training.clip": 0.0,
        "training.steps": 20,
        "training.batch_tokens": 256,
        **_every(5),
    },
    "ground-up": {
        "tokenizer": "words",
        "separate": True,
        "vocabulary": 20_000,
        "min_frequency": 1,
        "framing": "both",
        "validation": "train",
        **_CONSTANT_RATE,
        **_TORCH_ADAM,
        "training.learning_rate": 1e-4,
        "training.label_smoothing": 0.1,
        "training.padding_in_loss": True,
        "training.clip": 0.0,
        "training.scheduled_sampling": "prefix",
        "training.steps": 9_070,
        "training.batch_tokens": 512,
        **_every(907),
    },
    "adeveloperdiary": {},
    "nlp7-en-hi": {
        "vocabulary": 30_000,
        "max_characters": 511,
        "framing": "both",
        **_CONSTANT_RATE,
        "training.learning_rate": 1e-4,
        "training.clip": 1.0,
        "training.accumulate": 4,
        "training.steps": 389_000,  # 15 passes over 1.66 million pairs by 16 * 4
        "training.batch_tokens": 512,
        **_every(2_000),
    },
}

DIFFERENCES: dict[str, str] = {
    "transformers-laid-out": "As the tutorial means to train on Multi30k, with padding counted in the loss as its code "
    "does. Different here: words are cut at spaces and punctuation, not by spaCy; label smoothing gives ε/V to all V "
    "tokens, not ε/(V − 1) to the wrong ones; the feed-forward network drops its activations and not its output as "
    "well; the warm-up reaches the optimizer, and the masks hide padding, which they don't in the tutorial's code; "
    "batch and number of steps are ours.",
    "transformer-from-scratch": "As the tutorial trains on its five sentences (the corpus “toy”), 20 passes, like its "
    "code without masks, and without a start or an end around a sentence: the loss falls to 0.02, and it writes "
    "“bientôt bientôt bientôt”, since it has never learned the first word of a sentence, nor where one ends. With the "
    "framing “usual”, and nothing else changed, it gets all five right. Different here: it writes until the limit of "
    "length, not three words.",
    "ground-up": "As the tutorial trains on Multi30k, 10 passes, like its code without masks, with padding counted in "
    "the loss, and with scores on the pairs that are trained on. Scheduled sampling predicts each token from those "
    "before it alone, so the model cannot copy what it has to write; with scheduled sampling “never” it can, and then "
    "repeats itself, as the tutorial's first training does. Different here: words are cut at spaces and punctuation, "
    "not by spaCy; longer sentences are left out, not cut; batches are counted in tokens, 512 for its 32 captions.",
    "adeveloperdiary": "The tutorial's network, whose table of positions is the paper's, and not the one whose cosines "
    "overwrite its sines. Its first part trains nothing: how it is trained is ours.",
    "nlp7-en-hi": "As the tutorial trains on the IITB English-Hindi corpus, 15 passes. Different here: batches are "
    "counted in tokens, 512 for its 16 sentences; precision is what this machine computes fast, not always float16.",
}


def preset(name: str, source_vocab_size: int, target_vocab_size: int, **changes: Any) -> ModelConfig:
    """Return the configuration called `name` with these vocabularies; `changes` replace single fields.

    Raises ValueError for a name that isn't one of `PRESETS`.
    """
    if name not in PRESETS:
        raise ValueError(f"There is no preset {quoted(name)}; choose one of {', '.join(PRESETS)}.")
    return ModelConfig(source_vocab_size, target_vocab_size, **{**PRESETS[name], **changes})

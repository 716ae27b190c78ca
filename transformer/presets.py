"""Networks by name: four sizes of ours, and the model of each of five widely followed tutorials.

A tutorial's preset has its depth, widths, biases and norms' places, so its parameters agree to the last one
wherever its norms have a gain and bias for each dimension. (Two of the tutorials norm by a single scalar
gain and bias, for which there is no reason but brevity; the presets take the usual vectors.)
"""

from __future__ import annotations

from typing import Any

from transformer.config import ModelConfig, StackConfig
from transformer.quoting import quoted


def _both(n_layers: int, n_heads: int, d_ff: int) -> dict[str, StackConfig]:
    stack = StackConfig(n_layers, n_heads, d_ff)
    return {"encoder": stack, "decoder": stack}


_PRE = {"norm": "pre", "final_norm": True}

PRESETS: dict[str, dict[str, Any]] = {
    "mini": {"d_model": 64, **_both(2, 4, 256), **_PRE, "tied": "output"},  # enough for letters and dates
    "tiny": {"d_model": 128, **_both(2, 4, 512), **_PRE, "tied": "output"},
    "small": {"d_model": 256, **_both(3, 4, 1024), **_PRE, "tied": "output"},
    "base": {"d_model": 512, **_both(6, 8, 2048), "tied": "output"},
    # Transformers Laid Out (2024)
    "transformers-laid-out": {"d_model": 512, **_both(6, 8, 2048), "max_length": 5000},
    # Transformer: implementing a transformer architecture from scratch (2025), its toy run
    "transformer-from-scratch": {"d_model": 128, **_both(2, 4, 256)},
    # Building a transformer from the ground up
    "ground-up": {"d_model": 512, **_both(6, 8, 2048), **_PRE, "qkv_bias": False},
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


def preset(name: str, source_vocab_size: int, target_vocab_size: int, **changes: Any) -> ModelConfig:
    """The configuration called `name` with these vocabularies; `changes` replace single fields.

    Raises ValueError for a name that isn't one of `PRESETS`.
    """
    if name not in PRESETS:
        raise ValueError(f"There is no preset {quoted(name)}; choose one of {', '.join(PRESETS)}.")
    return ModelConfig(source_vocab_size, target_vocab_size, **{**PRESETS[name], **changes})

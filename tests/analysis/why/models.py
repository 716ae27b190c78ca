"""Untrained models of every kind of norm, and one sentence pair for them."""

from __future__ import annotations

from typing import Any

import torch

from headlight.analysis.sites import attention_at
from tests.small import small_checkpoint, small_t5_checkpoint
from transformer.model import Transformer
from transformer.taps import Site

SRC, TGT = [7, 11, 5, 9, 3], [2, 8, 6, 10, 12, 3]
SHAPES: dict[str, dict[str, Any]] = {
    "pre": {},
    "post": {"norm": "post", "final_norm": False},
    "post with a final norm": {"norm": "post"},
    "no biases": {"positions": "none", "qkv_bias": False, "attention_output_bias": False, "logits_bias": False},
    "bert": {
        **{"positions": "learned", "embedding_norm": True, "norm": "post", "final_norm": False},
        **{"activation": "gelu", "output_transform": True},
    },
}
NAMES = [*SHAPES, "t5"]


def build(name: str) -> Transformer:
    """The model of that name, its norms and biases drawn at random: at 0 and 1 they could be forgotten unseen."""
    if name == "t5":
        return small_t5_checkpoint(seed=5).model
    model = small_checkpoint(seed=5, **SHAPES[name]).model
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if "norm" in key or key.endswith("bias"):
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return model


def without_head(model: Transformer, site: Site, head: int) -> None:
    """Set the weights to 0 by which a head writes into the residual stream."""
    attention = attention_at(model, site)
    with torch.no_grad():
        attention.output.weight[:, head * attention.d_head : (head + 1) * attention.d_head] = 0

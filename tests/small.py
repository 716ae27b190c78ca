"""A small untrained checkpoint that reads and writes English letters, for tests of what stands on a model."""

from __future__ import annotations

from typing import Any

import torch

from transformer import ModelConfig, StackConfig, Transformer, Translator
from transformer.checkpoint import Checkpoint
from transformer.t5 import T5, T5Config
from transformer.tokenizers import Tokenizer

DEVICE = "cpu"  # the fixture `device` sets it
TEXTS = ["a little girl is sitting on a bench .", "two dogs are running in the snow .", "une petite fille <b> & co"]


def small_checkpoint(kind: str = "words", seed: int = 0, **changes: Any) -> Checkpoint:
    """Two encoder layers of 4 heads, three decoder layers of 2: no two sizes agree by accident."""
    tokenizer = Tokenizer.train(TEXTS, kind, 200, min_frequency=1)  # type: ignore[arg-type]
    size = tokenizer.vocab_size
    torch.manual_seed(seed)
    fields: dict[str, Any] = {
        "source_vocab_size": size, "target_vocab_size": size, "d_model": 16, "encoder": StackConfig(2, 4, 32),
        "decoder": StackConfig(3, 2, 24), "norm": "pre", "final_norm": True, "max_length": 32, **changes,
    }  # fmt: skip
    model = Transformer(ModelConfig(**fields)).eval()
    with torch.no_grad():  # an untrained output is nearly uniform; sharper, its choices differ
        model.output.weight.mul_(4)
    model.to(DEVICE)
    return Checkpoint(model, tokenizer, tokenizer, {"title": "Small", "source": "Words", "target": "Words"})


def small_translator(**changes: Any) -> Translator:
    return Translator(small_checkpoint(**changes))


def small_bart_checkpoint() -> Checkpoint:
    """A model built as BART is, with positions as a file has them."""
    bart = small_checkpoint(
        norm="post", final_norm=False, positions="stored", scale_embeddings=False, embedding_norm=True
    )
    with torch.no_grad():
        for stack in (bart.model.encoder, bart.model.decoder):
            stack.embedding.positions.table.normal_(std=0.5)
    return bart


def small_t5_checkpoint(seed: int = 0, **changes: Any) -> Checkpoint:
    """A T5 whose heads are together wider or narrower than d_model, with distances that share a bias."""
    tokenizer = Tokenizer.train(TEXTS, "words", 200, min_frequency=1)
    size = tokenizer.vocab_size
    torch.manual_seed(seed)
    fields: dict[str, Any] = {
        "source_vocab_size": size, "target_vocab_size": size, "d_model": 16, "encoder": StackConfig(2, 4, 32),
        "decoder": StackConfig(3, 2, 24), "d_kv": 5, "buckets": 8, "max_distance": 6, "gated": True,
        "activation": "gelu", "max_length": 32, "sos_id": tokenizer.sos_id, "eos_id": tokenizer.eos_id, **changes,
    }  # fmt: skip
    model = T5(T5Config(**fields)).eval()
    with torch.no_grad():  # untrained gains are 1 and could be forgotten unseen
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.add_(torch.randn_like(parameter) * 0.3)
        model.output.weight.mul_(2)
    model.to(DEVICE)
    return Checkpoint(model, tokenizer, tokenizer, {"title": "Small T5", "source": "Words", "target": "Words"})


def id_rows(*rows: list[int]) -> torch.Tensor:
    """Return ids [rows, tokens] on the device of the models."""
    return torch.tensor(rows, device=DEVICE)

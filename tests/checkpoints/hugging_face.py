"""Tiny models of Hugging Face families with random weights, saved as `transformers` saves them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch

transformers = pytest.importorskip("transformers")
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

# Two heads, layers and widths each, no two of which agree by accident.
SIZES = {
    "d_model": 16, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 20, "max_position_embeddings": 40,
    "forced_eos_token_id": None,
}  # fmt: skip
MARIAN_IDS = {"pad_token_id": 31, "decoder_start_token_id": 31, "eos_token_id": 0}
CLASSES = {
    "marian": (transformers.MarianMTModel, transformers.MarianConfig),
    "bart": (transformers.BartForConditionalGeneration, transformers.BartConfig),
    "mbart": (transformers.MBartForConditionalGeneration, transformers.MBartConfig),
    "plbart": (transformers.PLBartForConditionalGeneration, transformers.PLBartConfig),
    "pegasus": (transformers.PegasusForConditionalGeneration, transformers.PegasusConfig),
    "fsmt": (transformers.FSMTForConditionalGeneration, transformers.FSMTConfig),
    "blenderbot-small": (transformers.BlenderbotSmallForConditionalGeneration, transformers.BlenderbotSmallConfig),
    "blenderbot": (transformers.BlenderbotForConditionalGeneration, transformers.BlenderbotConfig),
    "m2m100": (transformers.M2M100ForConditionalGeneration, transformers.M2M100Config),
}
_OTHERS = {"fsmt": {"src_vocab_size": 32, "tgt_vocab_size": 36, "vocab_size": 36}}
_ROLES = {"<pad>": "pad", "<unk>": "unk", "<s>": "bos", "</s>": "eos"}
_WORDS = "the a girl boy dog walks runs sitting on bench snow little Été façade naïve hello world 12 2021 , . ! don't"


def sentences(count: int, more: str = "", seed: int = 0) -> list[str]:
    words, chance = [*_WORDS.split(), *more.split()], random.Random(seed)
    return [" ".join(chance.choice(words) for _ in range(chance.randint(3, 10))) for _ in range(count)]


def random_model(family: str, forced_bos: int | None = None, **config: Any) -> Any:
    """A model whose every number is drawn, the norms' and the pads' too, so that nothing is right by being 0 or 1."""
    cls, config_cls = CLASSES[family]
    torch.manual_seed(0)
    model = cls(config_cls(**{"vocab_size": 32, **SIZES, **_OTHERS.get(family, {}), **config})).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.copy_(torch.randn_like(parameter) * 0.4)
        for name, parameter in model.named_parameters():
            if "norm" in name and name.endswith("weight"):
                parameter.add_(1.0)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias))
    model.generation_config.forced_bos_token_id = forced_bos
    return model


def save(model: Any, folder: Path, pickled: bool = False) -> Path:
    model.save_pretrained(folder)
    if pickled:  # as all models were before safetensors, tied matrices under each of their names
        (folder / "model.safetensors").unlink()
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return folder


def piece_model(
    folder: Path, name: str, kind: str = "unigram", more: str = "", size: int = 90, first: str = "<unk> <s> </s>"
) -> Path:
    """A SentencePiece model of our sentences, which has the tokens `first` before the pieces."""
    trainer = pytest.importorskip("sentencepiece").SentencePieceTrainer
    text = folder / f"{name}.txt"
    text.write_text("\n".join(sentences(300, more)), encoding="utf-8")
    trainer.train(
        input=str(text),
        model_prefix=str(folder / name),
        vocab_size=size,
        model_type=kind,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **{f"{_ROLES[token]}_id": first.split().index(token) if token in first else -1 for token in _ROLES},
    )
    return folder / f"{name}.model"

"""A model as Hugging Face saves Marian's, so that `MarianMTModel.from_pretrained` opens it.

Marian's table of positions has all sines before all cosines, where the paper's alternates them. The components of a
token's vector may stand in any order, as long as every linear layer reads and writes them in the same order: all are
permuted to Marian's order, which leaves the output the same.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tokenizers
import torch
from tokenizers import processors
from torch import Tensor

from headlight.importers.forms.marian import sines_then_cosines
from headlight.importers.forms.marian_family import ATTENTIONS, FEED_FORWARD, MAPS
from headlight.importers.importing import require_free
from transformer.checkpoint.native import Checkpoint
from transformer.checkpoint.safetensors_file import write_tensors
from transformer.checkpoint.weights import Refused
from transformer.config import ModelConfig
from transformer.files import remove, write_json, write_text
from transformer.model import Transformer
from transformer.pruned import restore_shape
from transformer.tokenizers import Tokenizer

NORM_EPS = 1e-5  # of Marian's norms
_ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu-tanh": "gelu_new", "silu": "swish"}
_REFUSAL = "This model cannot be written as a Marian model"


def reason_against_marian(config: ModelConfig, model: Transformer | None = None) -> str | None:
    """Return why a model cannot be written as Marian's, as half a sentence; None where it can.

    Only the `model` shows whether a stored table of positions is Marian's own.
    """
    if type(config) is not ModelConfig:
        return "its layers are of another kind"
    if config.norm != "post" or config.final_norm:
        return "its norms stand before the sublayers, and Marian's after them"
    if config.output_transform:
        return "it has a layer before the output projection, which Marian has not"
    if config.embedding_norm:
        return "it normalises the embeddings, which Marian does not"
    if config.norm_eps != NORM_EPS:
        return f"its norms add {config.norm_eps:g} under the root, and Marian's {NORM_EPS:g}"
    if config.norm_form in ("unbiased", "scalar"):
        return "its norms divide by the unbiased deviation, and Marian's do not"
    if not config.residual or "none" in (config.norm_form, config.activation):
        return "it lacks the residual connections, the norms or the activation, and Marian has them"
    if "never" in (config.padding_mask, config.look_ahead_mask):
        return "it does not hide from attention what Marian hides: padding, and the words still to be written"
    if config.pad_id == config.eos_id:
        return "its padding is also the end of a sentence, which Marian does not hide"
    if config.positions not in ("sinusoidal", "stored"):
        return f"its positions are {config.positions!r}, and Marian's are sines and cosines"
    if config.positions == "sinusoidal" and config.position_base != 10_000:
        return f"the base of its positions is {config.position_base:g}, and Marian's is 10,000"
    if config.positions == "stored" and model is not None:
        expected = sines_then_cosines(config.max_length, config.d_model)
        tables = [part for name, part in model.named_parameters() if name.endswith("positions.table")]
        if not all(torch.allclose(table, expected, atol=1e-3) for table in tables):
            return "its stored positions are not Marian's sines and cosines"
    return None


def export_marian(checkpoint: Checkpoint, folder: Path) -> tuple[str, ...]:
    """Write the folder, complete or not at all, and return notes about it.

    Raises Refused for a model that is not Marian's architecture.
    """
    model, folder = checkpoint.model, Path(folder)
    reason = reason_against_marian(model.config, model)
    if reason is not None:
        raise Refused(f"{_REFUSAL}: {reason}.")
    require_free(folder)
    part = folder.with_name(f".{folder.name}.part")
    remove(part)
    part.mkdir(parents=True)
    try:
        write_tensors(_marian_tensors(model), part / "model.safetensors", {"format": "pt"})
        config = model.config
        write_json(part / "config.json", _config(config))
        write_json(part / "generation_config.json", _generation(config))
        _write_tokenizers(checkpoint, part)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return marian_notes(checkpoint)


def marian_notes(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return the notes on the folder that `export_marian` writes."""
    notes = ["MarianTokenizer cannot open its tokenizer, which is not a SentencePiece model; AutoTokenizer does."]
    if checkpoint.target_tokenizer is not checkpoint.source_tokenizer:
        notes.append("AutoTokenizer reads the source language; translations are decoded with target_tokenizer.json.")
    if len(checkpoint.model.config.target_start) > 1:
        notes.append("Only the first of the tokens that start a translation is written; give the others yourself.")
    return tuple(notes)


def _config(config: ModelConfig) -> dict[str, Any]:
    stacks = {
        f"{name}_{theirs}": getattr(getattr(config, name), ours)
        for name in ATTENTIONS
        for ours, theirs in (("n_layers", "layers"), ("n_heads", "attention_heads"), ("d_ff", "ffn_dim"))
    }
    return {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "is_encoder_decoder": True,
        "vocab_size": config.source_vocab_size,
        "decoder_vocab_size": config.target_vocab_size,
        "d_model": config.d_model,
        **stacks,
        "num_hidden_layers": config.encoder.n_layers,
        "activation_function": _ACTIVATIONS[config.activation],
        "max_position_embeddings": config.max_length,
        "scale_embedding": config.scale_embeddings,
        "static_position_embeddings": True,
        "share_encoder_decoder_embeddings": config.tied == "all",
        "tie_word_embeddings": config.tied != "none",
        "dropout": config.dropout,
        "pad_token_id": config.pad_id,
        "eos_token_id": config.eos_id,
        "decoder_start_token_id": config.sos_id,
        "forced_eos_token_id": None,
    }


def _generation(config: ModelConfig) -> dict[str, Any]:
    never = sorted({config.pad_id, config.sos_id} - {config.eos_id})
    fields: dict[str, Any] = {
        "pad_token_id": config.pad_id,
        "eos_token_id": config.eos_id,
        "decoder_start_token_id": config.sos_id,
        "bad_words_ids": [[id] for id in never],
        "max_length": config.max_length,
    }
    return fields | ({"forced_bos_token_id": config.target_start[0]} if config.target_start else {})


def _marian_tensors(model: Transformer) -> dict[str, Tensor]:
    """Return Marian's tensors by name.

    All of Marian's layers have equally many heads: a pruned head is written as zeros, which contribute nothing.
    """
    model = restore_shape(model)
    config, own = model.config, {name: p.detach().float().cpu() for name, p in model.named_parameters()}
    order = torch.arange(config.d_model)  # the index of our component at each position of Marian's vectors
    if config.positions == "sinusoidal":
        order = torch.cat([order[0::2], order[1::2]])
    theirs: dict[str, Tensor] = {}
    embeddings = {
        "all": {"model.shared": "encoder.embedding.tokens"},
        "output": {
            "model.encoder.embed_tokens": "encoder.embedding.tokens",
            "model.decoder.embed_tokens": "decoder.embedding.tokens",
        },
    }
    embeddings["none"] = {**embeddings["output"], "lm_head": "output"}
    for name, ours in embeddings[config.tied].items():
        theirs[f"{name}.weight"] = own[f"{ours}.weight"][:, order]
    bias = own.get("output.bias", torch.zeros(config.target_vocab_size))
    theirs["final_logits_bias"] = bias[None]
    for stack, attentions in ATTENTIONS.items():
        for layer in range(getattr(config, stack).n_layers):
            theirs |= _layer(own, f"{stack}.layers.{layer}", attentions, order)
    return {name: tensor.contiguous() for name, tensor in theirs.items()}


def _layer(
    own: Mapping[str, Tensor], ours: str, attentions: tuple[tuple[str, str], ...], order: Tensor
) -> dict[str, Tensor]:
    theirs: dict[str, Tensor] = {}
    prefix = f"model.{ours}"
    linear = [(f"{a}.{m}", f"{b}.{n}", m == "output") for a, b in attentions for m, n in MAPS.items()]
    linear += [(f"feed_forward.{m}", n, m == "outer") for m, n in FEED_FORWARD.items()]
    for a, b, writes in linear:  # a linear layer either reads the permuted vectors or writes them
        weight = own[f"{ours}.{a}.weight"]
        bias = own.get(f"{ours}.{a}.bias", torch.zeros(len(weight)))
        theirs[f"{prefix}.{b}.weight"] = weight[order] if writes else weight[:, order]
        theirs[f"{prefix}.{b}.bias"] = bias[order] if writes else bias
    norms = [f"{b}_layer_norm" for _, b in attentions] + ["final_layer_norm"]
    for index, norm in enumerate(norms):
        for part in ("weight", "bias"):
            theirs[f"{prefix}.{norm}.{part}"] = own[f"{ours}.residuals.{index}.norm.{part}"][order]
    return theirs


def _write_tokenizers(checkpoint: Checkpoint, folder: Path) -> None:
    """Write tokenizers for `PreTrainedTokenizerFast`, since MarianTokenizer can open only SentencePiece models."""
    config = checkpoint.model.config
    source, target = checkpoint.source_tokenizer, checkpoint.target_tokenizer
    end = (config.eos_id,) if config.source_end is None else config.source_end
    write_text(folder / "tokenizer.json", _around(source, config.source_start, end))
    special = {
        f"{name}_token": source.piece(id)
        for name, id in (("pad", source.pad_id), ("eos", source.eos_id), ("unk", source.unk_id))
        if id is not None
    }
    write_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": config.max_length, **special},
    )
    if target is not source:
        target.save(folder / "target_tokenizer.json")


def _around(tokenizer: Tokenizer, start: tuple[int, ...], end: tuple[int, ...]) -> str:
    """Return a `tokenizer.json` that adds the ids around a text that the model reads."""
    content = json.loads(tokenizer.inner.to_str())
    content["post_processor"] = None
    inner = tokenizers.Tokenizer.from_str(json.dumps(content))
    pieces = {inner.id_to_token(id): id for id in (*start, *end)}
    template = [*map(inner.id_to_token, start), "$A", *map(inner.id_to_token, end)]
    inner.post_processor = processors.TemplateProcessing(single=template, special_tokens=list(pieces.items()))
    text: str = inner.to_str()
    return text

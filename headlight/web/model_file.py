"""A checkpoint as bytes for the browser: its configuration, its tokenizers, and its weights in 10 bits, or in 8.

Each row of a matrix is rounded to whole multiples of a step of its own, its largest number / 511, or / 127.
js/weights.js reads them.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headlight.viewer.packing import pack
from transformer.checkpoint import Checkpoint
from transformer.model import Transformer
from transformer.tokenizers import SPECIALS, UNTRAINED_TOKENIZERS, Tokenizer

WEIGHT_BITS = 10  # of each weight


def round_weights(model: nn.Module, bits: int = WEIGHT_BITS) -> None:
    """Round each matrix of the model in place to the values that `bits` bits a weight can store."""
    with torch.no_grad():
        for weights in unique_tensors(model).values():
            if weights.dim() == 2:
                numbers, step = in_bits(weights, bits)
                weights.copy_(numbers.float() * step)


def in_bits(weights: Tensor, bits: int = WEIGHT_BITS) -> tuple[Tensor, Tensor]:
    """Quantize a matrix: return integers of `bits` bits [rows, columns], and the step of each row [rows, 1]."""
    largest = weights.abs().amax(dim=1, keepdim=True).float()
    step = torch.where(largest > 0, largest / (2 ** (bits - 1) - 1), 1.0)
    return (weights / step).round().to(torch.int16), step


def unique_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return the parameters by name, a tied one once, without sinusoidal positions, which the reader computes."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def model_bytes(checkpoint: Checkpoint, facts: dict[str, Any], bits: int = WEIGHT_BITS) -> bytes:
    """Return the model, compressed, each weight in 10 bits or 8; `facts` are added to its header.

    Raises ValueError for a model that js/network.js does not compute, or a tokenizer that js/tokenizer.js cannot read.
    """
    check_model(checkpoint.model)
    arrays: dict[str, NDArray[Any]] = {}
    for name, weights in unique_tensors(checkpoint.model).items():
        if weights.dim() != 2:
            arrays[name] = weights.float().numpy()
            continue
        numbers, step = (tensor.numpy() for tensor in in_bits(weights, bits))
        if bits == WEIGHT_BITS:
            arrays[f"{name}.low"] = _pack_two_bits((numbers & 3).astype(np.uint8))
            numbers = numbers >> 2
        arrays[f"{name}.high"] = numbers.astype(np.int8).view(np.uint8)
        arrays[f"{name}.step"] = step.astype(np.float32)
    source, target = checkpoint.source_tokenizer, checkpoint.target_tokenizer
    header = {
        "config": checkpoint.model.config.to_dict(),
        "source_tokenizer": _tokenizer(source),
        "target_tokenizer": None if target is source else _tokenizer(target),
        **facts,
    }
    return gzip.compress(pack(header, arrays), mtime=0)


def check_model(model: Transformer) -> None:
    """Raise ValueError naming what js/network.js does not compute."""
    if type(model) is not Transformer:
        raise ValueError(f"The model is a {type(model).__name__}; a page computes the paper's network only.")
    facts = model.config.to_dict()
    computed = {
        "norm": ("pre", "post"),
        "activation": ("relu", "none"),
        "positions": ("sinusoidal", "learned", "stored", "none"),
        "position_base": (10_000,),
        "norm_form": ("standard", "none"),
        "decoder_embedding_norm": (True,),
        "output_transform": (False,),
    }
    for field, values in computed.items():
        if facts[field] not in values:
            computes = " or ".join(map(str, values))
            raise ValueError(f"The model's {field} is {facts[field]!r}; a page computes {computes} only.")
    for field in ("source_start", "source_end", "target_start", "pruned_heads"):
        if facts[field] != (None if field == "source_end" else ()):
            raise ValueError(f"The model has {field} = {facts[field]!r}; a page computes models without it only.")


def _pack_two_bits(numbers: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pack numbers of two bits, four per byte, the first in the lowest bits."""
    flat = numbers.reshape(-1)
    four = np.concatenate([flat, np.zeros(-flat.size % 4, np.uint8)]).reshape(-1, 4)
    return (four << np.array([0, 2, 4, 6], np.uint8)).sum(1, dtype=np.uint8)


def _tokenizer(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return what js/tokenizer.js reads of a tokenizer.

    Raises ValueError for a tokenizer of another form than those that are trained here.
    """
    content = json.loads(tokenizer.inner.to_str())
    vocabulary = content["model"]["vocab"]
    known_tokenizers = [json.loads(make().to_str()) for make in UNTRAINED_TOKENIZERS.values()]
    has_our_specials = {vocabulary.get(name) for name in SPECIALS} == tokenizer.special_ids
    is_known = any(_cuts_alike(content, known) for known in known_tokenizers)
    if not has_our_specials or len(vocabulary) != tokenizer.vocab_size or not is_known:
        raise ValueError(
            f"The model's tokenizer ({content['model']['type']}) is not of the kinds that are trained here, and a page "
            "runs those only."
        )
    fields = ("type", "vocab", "merges", "byte_fallback")
    kind = content["pre_tokenizer"]["type"]
    return {"model": {key: content["model"][key] for key in fields if key in content["model"]}, "cut": kind}


def _cuts_alike(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Whether two tokenizers differ in nothing but their vocabulary, and in bytes for unknown characters."""
    learned = ("vocab", "merges", "byte_fallback")

    def rules(content: dict[str, Any]) -> list[Any]:
        model = {key: value for key, value in content["model"].items() if key not in learned}
        return [content["normalizer"], content["pre_tokenizer"], model]

    return rules(left) == rules(right)

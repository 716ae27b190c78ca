"""A checkpoint as bytes for the browser: its configuration, its tokenizers, and its weights in 10 bits.

Each row of a matrix is rounded to whole multiples of a step of its own, its largest number / 511. js/weights.js reads
them.
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
from transformer.config import ModelConfig

LARGEST = 511  # with its sign, a number of 10 bits


def round_weights(model: nn.Module) -> None:
    """Replace each matrix [rows, columns] of the model by what its 10 bits stand for, in place."""
    with torch.no_grad():
        for weights in unique_tensors(model).values():
            if weights.dim() == 2:
                numbers, step = in_ten_bits(weights)
                weights.copy_(numbers.float() * step)


def in_ten_bits(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers from -511 to 511 [rows, columns], and the step of each row [rows, 1]."""
    largest = weights.abs().amax(dim=1, keepdim=True).float()
    step = torch.where(largest > 0, largest / LARGEST, 1.0)
    return (weights / step).round().to(torch.int16), step


def unique_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return the parameters by name, a tied one once: the table of sinusoidal positions is computed by the reader."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def model_bytes(checkpoint: Checkpoint, facts: dict[str, Any]) -> bytes:
    """Return the model, compressed; `facts` are added to its header.

    Raises ValueError for a model that js/network.js does not compute, or a tokenizer that js/tokenizer.js cannot read.
    """
    check_config(checkpoint.model.config)
    arrays: dict[str, NDArray[Any]] = {}
    for name, weights in unique_tensors(checkpoint.model).items():
        if weights.dim() != 2:
            arrays[name] = weights.float().numpy()
            continue
        numbers, step = (tensor.numpy() for tensor in in_ten_bits(weights))
        arrays[f"{name}.high"] = (numbers >> 2).astype(np.int8).view(np.uint8)
        arrays[f"{name}.low"] = _four_a_byte((numbers & 3).astype(np.uint8))
        arrays[f"{name}.step"] = step.astype(np.float32)
    source, target = checkpoint.source_tokenizer, checkpoint.target_tokenizer
    header = {
        "config": checkpoint.model.config.to_dict(),
        "source_tokenizer": _tokenizer(source.inner.to_str()),
        "target_tokenizer": None if target is source else _tokenizer(target.inner.to_str()),
        **facts,
    }
    return gzip.compress(pack(header, arrays), mtime=0)


def check_config(config: ModelConfig) -> None:
    """Raise ValueError naming what js/network.js does not compute."""
    facts = config.to_dict()
    computed = {"norm": ("pre", "post"), "activation": ("relu",)}
    for field, values in computed.items():
        if facts[field] not in values:
            raise ValueError(f"The model's {field} is {facts[field]!r}; a page computes {' or '.join(values)} only.")
    for field in ("source_start", "source_end", "target_start", "pruned_heads"):
        if facts.get(field):
            raise ValueError(f"The model has {field} = {facts[field]!r}; a page computes models without it only.")


def _four_a_byte(numbers: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Numbers of two bits, four in each byte, the first in the lowest bits."""
    flat = numbers.reshape(-1)
    four = np.concatenate([flat, np.zeros(-flat.size % 4, np.uint8)]).reshape(-1, 4)
    return (four << np.array([0, 2, 4, 6], np.uint8)).sum(1, dtype=np.uint8)


def _tokenizer(text: str) -> dict[str, Any]:
    """What js/tokenizer.js reads of a tokenizer's JSON. Raises ValueError for a kind that it does not know."""
    content = json.loads(text)
    model, cut = content["model"], content["pre_tokenizer"]
    kinds = [part["type"] for part in cut.get("pretokenizers", [cut])] if cut else []
    known = {"BPE": [["Metaspace", "Punctuation"]], "WordLevel": [["Split"], ["Metaspace", "Split"]]}
    if kinds not in known.get(model["type"], []):
        raise ValueError(f"The model's tokenizer ({model['type']}, cut by {kinds}) is none that a page can run.")
    kept = ("type", "vocab", "merges", "byte_fallback")
    return {"model": {key: model[key] for key in kept if key in model}, "pre_tokenizer": {"type": kinds[0]}}

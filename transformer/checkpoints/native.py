"""The native checkpoint: `model.safetensors`, `config.json`, the tokenizers and `card.json`.

Nothing in it can run code: weights are safetensors, the rest is JSON, and every size is checked against the
configuration before memory is taken for it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from transformer.config import ModelConfig
from transformer.data.tokenizers import Tokenizer
from transformer.files import read_json, write_json
from transformer.model import Transformer

WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "card.json"
SHARED, SOURCE, TARGET = "tokenizer.json", "source_tokenizer.json", "target_tokenizer.json"


@dataclass
class Checkpoint:
    """A network, the two tokenizers that belong to it (one and the same where shared) and its card."""

    model: Transformer
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    card: dict[str, Any] = field(default_factory=dict)


def save(checkpoint: Checkpoint, folder: str | Path, half: bool = False) -> None:
    """Writes the folder, each file under a temporary name first; `half` stores the weights in 16 bits."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_weights(checkpoint.model, folder / WEIGHTS, half)
    if checkpoint.source_tokenizer is checkpoint.target_tokenizer:
        checkpoint.source_tokenizer.save(folder / SHARED)
    else:
        checkpoint.source_tokenizer.save(folder / SOURCE)
        checkpoint.target_tokenizer.save(folder / TARGET)
    write_json(folder / CONFIG, checkpoint.model.config.to_dict())
    write_json(folder / CARD, checkpoint.card)


def load(folder: str | Path) -> Checkpoint:
    """Reads what `save` wrote, ready to run (float32, evaluation mode).

    Raises ValueError in one sentence that names the file and what is wrong with it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"There is no checkpoint folder {folder}.")
    config_file = folder / CONFIG
    values = read_json(config_file)
    try:
        config = ModelConfig.from_dict(values)
    except ValueError as error:
        raise ValueError(f"{config_file} does not describe a model: {error}") from None
    source, target = _load_tokenizers(folder)
    for tokenizer, size, side in (
        (source, config.source_vocab_size, "source"),
        (target, config.target_vocab_size, "target"),
    ):
        if tokenizer.vocab_size != size:
            raise ValueError(
                f"The {side} tokenizer in {folder} has {tokenizer.vocab_size:,} tokens, but {CONFIG} says {size:,}; "
                "they belong to different models."
            )
    model = load_weights(config, folder / WEIGHTS)
    card = read_json(folder / CARD) if (folder / CARD).exists() else {}
    if not isinstance(card, dict):
        raise ValueError(f"{folder / CARD} is not a JSON object.")
    return Checkpoint(model, source, target, card)


def save_weights(model: Transformer, path: Path, half: bool = False) -> None:
    """The parameters by name; a tied matrix is written once, under the name that comes first."""
    dtype = torch.float16 if half else torch.float32
    tensors = {name: p.detach().to("cpu", dtype).contiguous() for name, p in model.named_parameters()}
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    save_file(tensors, temporary)
    os.replace(temporary, path)


def load_weights(config: ModelConfig, path: Path) -> Transformer:
    """The network of `config` with the weights of `path`, in evaluation mode."""
    with torch.device("meta"):  # the names and shapes that are due, for no memory
        due = {name: tuple(p.shape) for name, p in Transformer(config).named_parameters()}
    try:
        with safe_open(path, framework="pt") as file:
            _check_shapes(due, {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}, path)  # noqa: SIM118
            tensors: dict[str, Tensor] = {name: file.get_tensor(name).float() for name in due}
    except FileNotFoundError:
        raise ValueError(f"{path} is missing.") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is not a whole safetensors file ({str(error)[:100]}); copy it again.") from None
    model = Transformer(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensors[name])
    return model.eval()


def _check_shapes(due: dict[str, tuple[int, ...]], found: dict[str, tuple[int, ...]], path: Path) -> None:
    for name, shape in due.items():
        if name not in found:
            raise ValueError(f"{path} lacks the tensor {name}; it belongs to another configuration.")
        if found[name] != shape:
            raise ValueError(f"{path} has {name} of shape {found[name]}, but {CONFIG} makes it {shape}.")
    for name in found:
        if name not in due:
            raise ValueError(
                f"{path} has a tensor {name[:80]!r} that {CONFIG} does not; it belongs to another configuration."
            )


def _load_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    if (folder / SHARED).exists():
        shared = Tokenizer.load(folder / SHARED)
        return shared, shared
    if not (folder / SOURCE).exists():
        raise ValueError(f"{folder / SHARED} is missing (nor are there {SOURCE} and {TARGET}).")
    return Tokenizer.load(folder / SOURCE), Tokenizer.load(folder / TARGET)

"""Find the state dict in what people save: a training checkpoint, a wrapped model, encoder and decoder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from headlight.importers.pickles import SAVE_COMMAND, DataObject, pickled_vocabulary
from headlight.importers.settings_objects import plain_settings
from headlight.importers.torch_calls import TensorView
from transformer.checkpoint.weights import Refused

T = TypeVar("T")

# The names under which training checkpoints hold the model, in order of precedence.
_MODEL_KEYS = ("model_state_dict", "state_dict", "model_state", "model", "module", "net", "transformer", "weights")
_OTHER_KEYS = re.compile(r"optim|sched|scaler|ema|rng|grad|loss", re.IGNORECASE)


@dataclass(frozen=True)
class StateDict:
    """Tensors by name, where they were in the file, and the plain values beside them."""

    tensors: Mapping[str, TensorView]
    origin: tuple[tuple[str, str], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


def find(value: Any, file_name: str) -> StateDict:
    """Return the state dict in what a file holds. Raises Refused where there is none."""
    if not isinstance(value, dict):
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value[:100]):
            raise pickled_vocabulary(file_name)
        raise Refused(f"{file_name} holds a {_kind(value)}, not a state dict.", (), "Save the weights.", SAVE_COMMAND)
    value = {n: plain_settings(part) if n == "cfg" and not _tensors(part) else part for n, part in value.items()}
    plain = {name: fact for name, fact in value.items() if isinstance(fact, str | int | float | bool)}
    facts = plain | {name: part for name, part in value.items() if _is_options(name, part)}
    tensors = _tensors(value)
    parts = {str(name): inner for name, part in value.items() if (inner := _tensors(part))}
    if len(tensors) >= max(map(len, parts.values()), default=1):  # fewer may be a loss beside the model
        return StateDict(tensors, (), facts)
    key = next((name for name in _MODEL_KEYS if name in parts), None)
    if key is None:
        parts = {name: part for name, part in parts.items() if not _OTHER_KEYS.search(name)}
        key = next(iter(parts)) if len(parts) == 1 else None
    if key == "model" and "generator" in parts:  # OpenNMT-py's output projection, in older files a sequence of modules
        generator = {f"generator.{name.removeprefix('0.')}": view for name, view in parts["generator"].items()}
        return StateDict(parts[key] | generator, (("Merged from", "model, generator"),), facts)
    if key is not None:
        return _opened_at(key, parts[key], "pytorch-lightning_version" in value, facts)
    if parts:  # such as {"encoder": ..., "decoder": ...}
        joined = {f"{part}.{name}": view for part, tensors in parts.items() for name, view in tensors.items()}
        return StateDict(joined, (("Merged from", ", ".join(parts)),), facts)
    if len(plain) > 10 and set(map(type, plain.values())) == {int}:
        raise pickled_vocabulary(file_name)
    raise Refused(f"{file_name} holds a dictionary without tensors.", (), "Save the weights.", SAVE_COMMAND)


def _is_options(name: Any, part: Any) -> bool:
    """Return whether a part of a training checkpoint is settings: a namespace or dictionary without tensors."""
    return isinstance(part, dict) and not _tensors(part) and not _OTHER_KEYS.search(str(name))


def _opened_at(key: str, tensors: dict[str, TensorView], lightning: bool, facts: dict[str, Any]) -> StateDict:
    where = [("Weights found under", key)]
    if lightning and all(name.startswith("model.") for name in tensors):
        tensors = {name.removeprefix("model."): view for name, view in tensors.items()}
        where.append(("Prefix removed from names", "model. (Lightning)"))
    return StateDict(tensors, tuple(where), facts)


def strip_wrappers(tensors: Mapping[str, T]) -> tuple[dict[str, T], tuple[tuple[str, str], ...]]:
    """Return the tensors by the model's own names, and facts about the prefixes that were removed.

    nn.DataParallel puts "module." before all names; torch.compile puts "_orig_mod." before what it compiled.
    """
    names, facts = list(tensors), []
    if any("_orig_mod." in name for name in names):  # first, since it may hide the other, as in "_orig_mod.module."
        names = [name.replace("_orig_mod.", "") for name in names]
        facts.append(("Prefix removed from names", "_orig_mod. (torch.compile)"))
    if names and all(name.startswith("module.") for name in names):
        names = [name.removeprefix("module.") for name in names]
        facts.append(("Prefix removed from names", "module. (nn.DataParallel)"))
    if len(set(names)) < len(names):  # two would become one
        return dict(tensors), ()
    return dict(zip(names, tensors.values(), strict=True)), tuple(facts)


def _tensors(value: Any) -> dict[str, TensorView]:
    if not isinstance(value, dict):
        return {}
    return {name: view for name, view in value.items() if isinstance(view, TensorView) and isinstance(name, str)}


def _kind(value: Any) -> str:
    if isinstance(value, DataObject):
        return f"whole object of the class {value.name[:80]}"
    return "single tensor" if isinstance(value, TensorView) else type(value).__name__

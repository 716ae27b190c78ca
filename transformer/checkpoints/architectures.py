"""Which class a configuration builds, and how `config.json` says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from transformer.config import ModelConfig
from transformer.model import Transformer
from transformer.t5 import T5, T5Config


class Architecture(NamedTuple):
    config: type[ModelConfig]
    model: type[Transformer]


_PAPER = "transformer"  # where the file names none
_KNOWN = {_PAPER: Architecture(ModelConfig, Transformer), "t5": Architecture(T5Config, T5)}


def build(config: ModelConfig) -> Transformer:
    """The network that a configuration describes, with random initialisation."""
    return _KNOWN[_name(config)].model(config)


def to_json(config: ModelConfig) -> dict[str, Any]:
    name = _name(config)
    return config.to_dict() if name == _PAPER else {"architecture": name, **config.to_dict()}


def from_json(values: object) -> ModelConfig:
    """What `to_json` gave. Raises ValueError naming what is unknown, missing or wrong."""
    name = _PAPER
    if isinstance(values, Mapping) and "architecture" in values:
        name, values = values["architecture"], {k: v for k, v in values.items() if k != "architecture"}
    if not isinstance(name, str) or name not in _KNOWN:
        raise ValueError(f"The architecture is {str(name)[:80]!r}; choose one of {', '.join(_KNOWN)}.")
    return _KNOWN[name].config.from_dict(values)


def _name(config: ModelConfig) -> str:
    return next(name for name, known in _KNOWN.items() if known.config is type(config))

"""An encoder-decoder transformer that shows what every head of every layer looks at.

import transformer
model = transformer.load("checkpoints/en-fr")
model.translate("A little girl is sitting on a bench.").text
trace = model.trace("A little girl is sitting on a bench.")
trace.cross[2, 0]  # layer 3, head 1: [T, S]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer.config import ModelConfig, StackConfig, TrainConfig
    from transformer.model import Transformer
    from transformer.presets import PRESETS, preset
    from transformer.trace import Trace
    from transformer.translator import Translation, Translator

    load = Translator.load

# The module of each name, imported when the name is first used: torch takes 1.6 seconds, and transformer.files, which
# the app's server needs, works without it.
_MODULES = {
    "PRESETS": "presets",
    "ModelConfig": "config",
    "StackConfig": "config",
    "Trace": "trace",
    "TrainConfig": "config",
    "Transformer": "model",
    "Translation": "translator",
    "Translator": "translator",
    "preset": "presets",
}

__all__ = [
    "PRESETS", "ModelConfig", "StackConfig", "Trace", "TrainConfig", "Transformer", "Translation", "Translator",
    "load", "preset",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "load":
        return __getattr__("Translator").load
    home = f"transformer.{_MODULES.get(name, name)}"
    try:
        module = import_module(home)
    except ModuleNotFoundError as error:
        if error.name != home:
            raise
        raise AttributeError(f"module 'transformer' has no attribute {name!r}") from None
    return getattr(module, name) if name in _MODULES else module


def __dir__() -> list[str]:
    return list(__all__)

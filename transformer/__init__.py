"""An encoder-decoder transformer from scratch, whose attention can be recorded and changed.

import transformer
model = transformer.load("checkpoints/en-fr")
model.translate("A little girl is sitting on a bench.").text
trace = model.trace("A little girl is sitting on a bench.")
trace.cross[2, 0]  # layer 3, head 1: [T, S]
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer.config import ModelConfig, StackConfig, TrainConfig
    from transformer.model import Transformer
    from transformer.presets import PRESETS, preset
    from transformer.trace import Trace
    from transformer.translator import Translation, Translator

    load = Translator.load

__all__ = [
    "PRESETS", "ModelConfig", "StackConfig", "Trace", "TrainConfig", "Transformer", "Translation", "Translator",
    "load", "preset",
]  # fmt: skip
# Their modules, imported when a name is first used: torch takes 1.6 seconds, and the app's server works without it.
_MODULES = {"PRESETS": "presets", "preset": "presets", "Trace": "trace", "Transformer": "model"}
_MODULES |= dict.fromkeys(("ModelConfig", "StackConfig", "TrainConfig"), "config")
_MODULES |= dict.fromkeys(("Translation", "Translator"), "translator")


def __getattr__(name: str) -> Any:
    if name == "load":
        return __getattr__("Translator").load
    if name in _MODULES:
        return getattr(import_module(f"transformer.{_MODULES[name]}"), name)
    if find_spec(f"transformer.{name}") is None:
        raise AttributeError(f"module 'transformer' has no attribute {name!r}")
    return import_module(f"transformer.{name}")  # transformer.taps after "import transformer"


def __dir__() -> list[str]:
    return list(__all__)

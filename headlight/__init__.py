"""Headlight: see what every head of a transformer looks at.

import headlight
model = headlight.load("en-fr")
headlight.show(model.trace("A little girl is sitting on a bench."))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headlight.notebook import View, show
    from headlight.watching import watch
    from transformer import Trace, Transformer, Translator, analysis, charts, load, taps

__version__ = "0.3.0"

# Where each name comes from; imported when it is first asked for, since torch alone takes seconds.
_FROM = {
    "Trace": "transformer",
    "Transformer": "transformer",
    "Translator": "transformer",
    "View": "headlight.notebook",
    "analysis": "transformer",
    "charts": "transformer",
    "load": "transformer",
    "show": "headlight.notebook",
    "taps": "transformer",
    "watch": "headlight.watching",
}

__all__ = ["Trace", "Transformer", "Translator", "View", "analysis", "charts", "load", "show", "taps", "watch"]


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module 'headlight' has no attribute {name!r}")
    home = _FROM[name]
    module = import_module(home)
    return getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

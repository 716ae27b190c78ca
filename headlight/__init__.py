"""Headlight: see what every head of a transformer looks at.

import headlight
model = headlight.load("en-fr")
headlight.show(model.trace("A little girl is sitting on a bench."))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headlight import analysis, charts
    from headlight.analysis.layout import measure_trace as measure
    from headlight.analysis.measures import MEASURES
    from headlight.analysis.similar import index, open_index
    from headlight.analysis.why.score_parts import score_parts
    from headlight.checkpoints import load_translator as load
    from headlight.notebook import View, show
    from headlight.tables import head_table, trace_over, watch_over, why_over
    from headlight.watching import attention_of, from_hugging_face, watch
    from headlight.web.traces import publish
    from transformer import Trace, Transformer, Translator, taps

__version__ = "1.0.0"

# The module of each name, imported on first access, since torch alone takes seconds to import.
_ORIGINS = {
    "Trace": "transformer:Trace",
    "Transformer": "transformer:Transformer",
    "Translator": "transformer:Translator",
    "View": "headlight.notebook:View",
    "analysis": "headlight.analysis",
    "attention_of": "headlight.watching:attention_of",
    "charts": "headlight.charts",
    "MEASURES": "headlight.analysis.measures:MEASURES",
    "from_hugging_face": "headlight.watching:from_hugging_face",
    "head_table": "headlight.tables:head_table",
    "index": "headlight.analysis.similar:index",
    "load": "headlight.checkpoints:load_translator",
    "measure": "headlight.analysis.layout:measure_trace",
    "open_index": "headlight.analysis.similar:open_index",
    "publish": "headlight.web.traces:publish",
    "score_parts": "headlight.analysis.why.score_parts:score_parts",
    "show": "headlight.notebook:show",
    "taps": "transformer.taps",
    "trace_over": "headlight.tables:trace_over",
    "watch": "headlight.watching:watch",
    "watch_over": "headlight.tables:watch_over",
    "why_over": "headlight.tables:why_over",
}

__all__ = [
    "MEASURES", "Trace", "Transformer", "Translator", "View", "analysis", "attention_of", "charts",
    "from_hugging_face", "head_table", "index", "load", "measure", "open_index", "publish", "score_parts", "show",
    "taps", "trace_over", "watch", "watch_over", "why_over",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _ORIGINS:
        raise AttributeError(f"module 'headlight' has no attribute {name!r}")
    home, _, attribute = _ORIGINS[name].partition(":")
    module = import_module(home)
    return getattr(module, attribute) if attribute else module


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

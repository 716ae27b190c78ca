"""Pictures: arrays and labels in, a plotly figure out. Nothing here knows torch, streamlit or a model."""

from typing import TYPE_CHECKING, Any

from headlight.charts.colours import OKABE_ITO, THEMES, Theme, lookup
from headlight.charts.frame import Spec
from headlight.charts.heatmap import difference, difference_spec, heatmap, pattern, pattern_spec

if TYPE_CHECKING:
    from headlight.charts.figure import Figure

__all__ = [
    "OKABE_ITO",
    "THEMES",
    "Figure",
    "Spec",
    "Theme",
    "difference",
    "difference_spec",
    "heatmap",
    "lookup",
    "pattern",
    "pattern_spec",
]


def __getattr__(name: str) -> Any:
    if name != "Figure":
        raise AttributeError(f"module 'headlight.charts' has no attribute {name!r}")
    from headlight.charts.figure import Figure  # imports Plotly

    return Figure

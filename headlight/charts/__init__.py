"""Pictures: arrays and labels in, a plotly figure out. Nothing here knows torch, streamlit or a model."""

from headlight.charts.colours import OKABE_ITO, THEMES, Theme, lookup
from headlight.charts.frame import Figure, Spec
from headlight.charts.heatmap import difference, difference_spec, heatmap, pattern, pattern_spec

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

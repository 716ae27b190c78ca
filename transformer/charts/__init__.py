"""Pictures: arrays and labels in, a plotly figure out. Nothing here knows torch, streamlit or a model."""

from transformer.charts.colours import OKABE_ITO, THEMES, Theme, lookup
from transformer.charts.frame import Spec
from transformer.charts.heatmap import difference, difference_spec, heatmap, pattern, pattern_spec

__all__ = [
    "OKABE_ITO",
    "THEMES",
    "Spec",
    "Theme",
    "difference",
    "difference_spec",
    "heatmap",
    "lookup",
    "pattern",
    "pattern_spec",
]

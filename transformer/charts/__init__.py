"""Pictures: arrays and labels in, a plotly figure out. Nothing here knows torch, streamlit or a model."""

from transformer.charts.colours import OKABE_ITO, THEMES, Theme, lookup
from transformer.charts.frame import row_geometry
from transformer.charts.heatmap import difference, heatmap, pattern

__all__ = ["OKABE_ITO", "THEMES", "Theme", "difference", "heatmap", "lookup", "pattern", "row_geometry"]

"""A corpus as a table: where the words of many translations came from, and what every head did in each of them."""

from headlight.tables.columns import Explanation, head_table
from headlight.tables.passes import trace_over, watch_over, why_over

__all__ = ["Explanation", "head_table", "trace_over", "watch_over", "why_over"]

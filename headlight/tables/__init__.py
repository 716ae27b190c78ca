"""Compute a table over a corpus: the attention or measures of every head, or the origins of every written token."""

from headlight.tables.columns import Explanation, head_table
from headlight.tables.passes import trace_over, watch_over, why_over

__all__ = ["Explanation", "head_table", "trace_over", "watch_over", "why_over"]

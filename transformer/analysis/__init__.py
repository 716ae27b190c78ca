"""What the patterns of a trace say, in numbers, and whether they are what the model computed."""

from transformer.analysis.checks import Check, check
from transformer.analysis.combine import (
    Hidden,
    MergedMask,
    Sources,
    hide_columns,
    max_heads,
    mean_heads,
    merge,
    merge_labels,
    merge_masked,
    rollout,
    rollout_source,
)
from transformer.analysis.heads import (
    MEASURES,
    Measure,
    Measures,
    diagonal,
    entropy,
    mean_distance,
    measure,
    on_special,
    previous,
    strongest_column,
)
from transformer.analysis.importance import HeadEffect, head_importance
from transformer.analysis.rows import normalise
from transformer.analysis.sites import all_heads, attention_at, kind_of
from transformer.analysis.text_diff import text_diff
from transformer.analysis.values import value_weighted, value_weighted_patterns

__all__ = [
    "MEASURES",
    "Check",
    "Hidden",
    "HeadEffect",
    "Measure",
    "Measures",
    "MergedMask",
    "Sources",
    "all_heads",
    "attention_at",
    "check",
    "diagonal",
    "entropy",
    "head_importance",
    "hide_columns",
    "kind_of",
    "max_heads",
    "mean_distance",
    "mean_heads",
    "measure",
    "merge",
    "merge_labels",
    "merge_masked",
    "normalise",
    "on_special",
    "previous",
    "rollout",
    "rollout_source",
    "strongest_column",
    "text_diff",
    "value_weighted",
    "value_weighted_patterns",
]

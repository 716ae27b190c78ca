"""What the patterns of a trace say, in numbers, and whether they are what the model computed."""

from headlight.analysis.checks import Check, check
from headlight.analysis.combine import (
    Hidden,
    MergedMask,
    Sources,
    hide_columns,
    max_heads,
    mean_heads,
    merge,
    merge_labels,
    merge_masked,
    normalise,
    rollout,
    rollout_source,
)
from headlight.analysis.importance import HeadEffect, head_importance
from headlight.analysis.layout import measure_trace
from headlight.analysis.measures import MEASURES, Measure, measure
from headlight.analysis.sites import all_heads, attention_at, kind_of
from headlight.analysis.text_diff import text_diff
from headlight.analysis.values import value_weighted, value_weighted_patterns
from headlight.analysis.why import (
    Contrast,
    Contributions,
    DecoderLens,
    InputGradients,
    Patching,
    contrast,
    contributions,
    decoder_lens,
    gradient_times_input,
    leave_one_out,
    patching,
    rank_correlation,
    require_step,
    restored_by,
    value_zeroing,
)

__all__ = [
    "MEASURES",
    "Check",
    "Contrast",
    "Contributions",
    "DecoderLens",
    "HeadEffect",
    "Hidden",
    "InputGradients",
    "Measure",
    "MergedMask",
    "Patching",
    "Sources",
    "all_heads",
    "attention_at",
    "check",
    "contrast",
    "contributions",
    "decoder_lens",
    "gradient_times_input",
    "head_importance",
    "hide_columns",
    "kind_of",
    "leave_one_out",
    "max_heads",
    "mean_heads",
    "measure",
    "measure_trace",
    "merge",
    "merge_labels",
    "merge_masked",
    "normalise",
    "patching",
    "rank_correlation",
    "require_step",
    "restored_by",
    "rollout",
    "rollout_source",
    "text_diff",
    "value_weighted",
    "value_weighted_patterns",
    "value_zeroing",
]

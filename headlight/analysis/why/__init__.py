"""Explain why a word was written: its origins, what favoured it, what caused it, and at which layer it appeared.

Each method is a function of a model and token ids: `source` up to [EOS], `target` from [SOS] to [EOS]. Steps count from
0 over the tokens after [SOS].
"""

from headlight.analysis.why.activation_patching import (
    PARTS,
    Corruption,
    Patching,
    first_difference,
    partners,
    patching,
    restored_by,
)
from headlight.analysis.why.agreement import (
    ALTI,
    INTEGRATED,
    Agreement,
    MeasuredOrigins,
    agreements,
    close_to_best,
    correlations,
    integrated_steps,
    measured,
    rank_correlation,
    summed_up,
    with_integrated,
)
from headlight.analysis.why.alti import (
    Contributions,
    LayerContributions,
    contributions,
    head_contributions,
    layer_contributions,
)
from headlight.analysis.why.encoder_layers import DecoderLens, decoder_lens
from headlight.analysis.why.gradients import (
    InputGradients,
    IntegratedGradients,
    gradient_times_input,
    integrated_gradients,
)
from headlight.analysis.why.head_ablation import ABLATIONS, Ablation, ablated_steps, head_ablation
from headlight.analysis.why.leave_out import leave_one_out, value_zeroing
from headlight.analysis.why.logit_difference import Contrast, contrast, require_step
from headlight.analysis.why.residual_parts import Writer, residual_parts
from headlight.analysis.why.score_parts import Pair, ScoreParts, score_parts, score_parts_of

__all__ = [
    "ABLATIONS",
    "ALTI",
    "INTEGRATED",
    "PARTS",
    "Ablation",
    "Agreement",
    "Contributions",
    "Contrast",
    "Corruption",
    "DecoderLens",
    "InputGradients",
    "IntegratedGradients",
    "LayerContributions",
    "MeasuredOrigins",
    "Pair",
    "Patching",
    "ScoreParts",
    "Writer",
    "ablated_steps",
    "agreements",
    "close_to_best",
    "correlations",
    "contrast",
    "contributions",
    "decoder_lens",
    "first_difference",
    "gradient_times_input",
    "head_ablation",
    "head_contributions",
    "integrated_gradients",
    "integrated_steps",
    "layer_contributions",
    "leave_one_out",
    "measured",
    "partners",
    "patching",
    "rank_correlation",
    "require_step",
    "residual_parts",
    "restored_by",
    "score_parts",
    "score_parts_of",
    "summed_up",
    "value_zeroing",
    "with_integrated",
]

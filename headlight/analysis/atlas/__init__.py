"""Every head of a model, measured over a corpus."""

from headlight.analysis.atlas.faithfulness import Faithfulness, faithfulness, parts_of, rank_correlation
from headlight.analysis.atlas.over_corpus import EDITION, Atlas, Share, atlas
from headlight.analysis.atlas.spread import MeasureSpread

__all__ = [
    "EDITION",
    "Atlas",
    "Faithfulness",
    "Share",
    "MeasureSpread",
    "atlas",
    "faithfulness",
    "parts_of",
    "rank_correlation",
]

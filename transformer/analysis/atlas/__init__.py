"""Every head of a model, measured over a corpus."""

from transformer.analysis.atlas.faithfulness import Faithfulness, faithfulness, parts_of, rank_correlation
from transformer.analysis.atlas.over_corpus import EDITION, NAMES, OF_GOLD, OF_PATTERNS, OF_SAMPLE, Atlas, Share, atlas
from transformer.analysis.atlas.spread import Spread

__all__ = [
    "EDITION",
    "NAMES",
    "OF_GOLD",
    "OF_PATTERNS",
    "OF_SAMPLE",
    "Atlas",
    "Faithfulness",
    "Share",
    "Spread",
    "atlas",
    "faithfulness",
    "parts_of",
    "rank_correlation",
]

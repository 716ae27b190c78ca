"""Where else a model does that: tokens of a corpus whose state, head output or attention row is nearest to one's own."""

from headlight.analysis.similar.building import index
from headlight.analysis.similar.token_index import IndexRefused, SimilarToken, TokenIndex, open_index
from headlight.analysis.similar.token_vectors import TokenSite

__all__ = ["IndexRefused", "SimilarToken", "TokenIndex", "TokenSite", "index", "open_index"]

"""Nearest neighbours: the tokens of a corpus with the most similar state, head output or attention row."""

from headlight.analysis.similar.building import index
from headlight.analysis.similar.index_files import IndexRefused
from headlight.analysis.similar.token_index import SimilarToken, TokenIndex, index_folders, open_index
from headlight.analysis.similar.token_vectors import TokenSite

__all__ = ["IndexRefused", "SimilarToken", "TokenIndex", "TokenSite", "index", "index_folders", "open_index"]

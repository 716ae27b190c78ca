"""Which heads can go: removed in the order of their importance, and what is left without them."""

from transformer.analysis.pruning.curve import Pruning, Score, prune_in_order
from transformer.analysis.pruning.order import Removed, importance, removal_order

__all__ = ["Pruning", "Removed", "Score", "importance", "prune_in_order", "removal_order"]

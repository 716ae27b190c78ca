"""Remove heads in the order of their importance, and score what is left."""

from headlight.analysis.pruning.curve import Pruning, Saved, Score, prune_in_order
from headlight.analysis.pruning.order import Removed, importance, removal_order

__all__ = ["Pruning", "Removed", "Saved", "Score", "importance", "prune_in_order", "removal_order"]

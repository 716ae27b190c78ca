"""Whether a sentence is like those that a model was trained on, by how sure the model is of its own translation.

The sign is the mean log-probability per token of the model's own best translation, its end included. The threshold is
from sentences that are like those trained on and were not trained on: below it lie `SHARE` of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

KEY = "typical"  # in a card
SHARE = 0.01  # of held-out sentences that are taken for unlike them
FEWEST = 200  # sentences of a kind; the least sure of fewer are a matter of luck


def lowest(kinds: Mapping[str, Sequence[float]]) -> float:
    """The threshold, in nats per token, from the mean log-probabilities of held-out sentences of each kind.

    Where a model was trained on sentences of several kinds, it is that of the kind it is least sure of, so that in
    none more than `SHARE` lie below. Raises ValueError where there is no kind, or one has too few sentences.
    """
    if not kinds:
        raise ValueError(f"There are no held-out sentences; give at least {FEWEST}.")
    for name, log_probs in kinds.items():
        if len(log_probs) < FEWEST:
            raise ValueError(f"{name} has {len(log_probs)} held-out sentences; at least {FEWEST} are needed.")
    return min(float(np.quantile(log_probs, SHARE)) for log_probs in kinds.values())


def unlike(card: Mapping[str, Any], log_prob_per_token: float) -> bool:
    """Whether a sentence is unlike what the model with this card was trained on; False where it has no threshold.

    `log_prob_per_token` is the mean over the model's own translation of it, in nats.
    """
    threshold = threshold_of(card)
    return threshold is not None and log_prob_per_token < threshold


def unlike_note(who: str = "the model") -> str:
    """What to say of such a sentence."""
    return f"This sentence is unlike those that {who} learned from, so its translation may be wrong."


def threshold_of(card: Mapping[str, Any]) -> float | None:
    """What a card says of it, in nats per token; None where it says nothing of it, or nothing that makes sense."""
    typical = card.get(KEY)
    value = typical.get("log_prob_per_token") if isinstance(typical, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) and value < 0 else None

"""How probable a model found what was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch


def log_probs(output: Any, ids: Sequence[int]) -> np.ndarray:
    """Of each token of `ids` but the first, given those before it: [T], float32. `output` has logits [1, T, V]."""
    logits = output.logits[0].float()
    chosen: np.ndarray = (
        logits.log_softmax(-1).gather(1, torch.tensor(ids[1:], device=logits.device)[:, None])[:, 0].cpu().numpy()
    )
    return chosen

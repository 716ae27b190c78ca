"""Attention weighted by the size of the values: how much each weight changes the residual stream.

Shapes: B sentences, L layers, H heads, Q queries, K keys, D = d_head, S source tokens, T target tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from headlight.analysis.sites import attention_at, by_kind
from transformer.attention import MultiHeadAttention
from transformer.model import Transformer
from transformer.taps import InputRecorder, Inputs, Recorder, Tap, chain
from transformer.trace import Kind
from transformer.yielding import yield_turn


@torch.no_grad()
def value_weighted(pattern: np.ndarray, inputs: Inputs, attention: MultiHeadAttention) -> np.ndarray:
    """Return ‖α_ij v_j W_O^h‖ for each head, query and key: [H, Q, K] float32.

    Kobayashi et al. 2020, "Attention is not only a weight": the length of the vector that key j adds to the residual
    path of query i by way of head h. A large weight on a short vector moves little. `pattern` [H, Q, K] holds α, and
    `inputs` what an `InputRecorder` saw at that attention in the same pass over one sentence.

    Unit: lengths in the residual path, not shares. Rows don't sum to 1, and lengths compare within a layer. The output
    projection's bias belongs to no key and is left out.
    """
    assert inputs.v.size(0) == 1, "one sentence at a time"
    moved = inputs.v[0].float() @ attention.outputs_by_head().float()  # [H, K, D] -> [H, K, d_model]
    return np.abs(pattern) * moved.norm(dim=-1).cpu().numpy()[:, None, :]


@torch.no_grad()
def value_weighted_patterns(
    model: Transformer, src_ids: Sequence[int], tgt_ids: Sequence[int], tap: Tap | None = None
) -> dict[Kind, np.ndarray]:
    """Return `value_weighted` at every site: "encoder" [L, H, S, S], "decoder" [L, H, T, T], "cross" [L, H, T, S].

    `tgt_ids` runs from [SOS] to [EOS]; its last token is written and never read. `tap` may intervene.
    """
    device = model.output.weight.device
    patterns, inputs = Recorder(), InputRecorder()
    src, tgt = torch.tensor([src_ids], device=device), torch.tensor([tgt_ids[:-1]], device=device)
    yield_turn()
    model(src, tgt, chain(tap, patterns, inputs))
    return by_kind(
        {
            site: value_weighted(pattern[0].float().cpu().numpy(), inputs[site], attention_at(model, site))
            for site, (pattern,) in patterns.items()
        }
    )

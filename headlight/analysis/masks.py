"""A whole head as matrices: its scores, the mask, and the weights.

Shapes: B sentences, H heads, Q queries, K keys, D = d_head.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.sites import attention_at, require_unpruned
from transformer.attention import attend
from transformer.batches import collate
from transformer.config import ModelConfig
from transformer.masks import look_ahead_mask, visible_keys
from transformer.model import Transformer
from transformer.taps import InputRecorder, Recorder, Site
from transformer.yielding import yield_turn

Mask = Literal["none", "padding", "look-ahead", "both"]
MASKS: tuple[Mask, ...] = get_args(Mask)


@dataclass(frozen=True)
class Matrices:
    """One head over one sentence: [Q, K] each, and the vectors that the scores are computed from."""

    scores: np.ndarray  # what the softmax would get without a mask: scaled, and with T5's bias
    visible: np.ndarray  # bool, True where the mask lets the query look
    weights: np.ndarray  # 0 where it does not
    queries: np.ndarray  # [Q, D]
    keys: np.ndarray  # [K, D]


def own_mask(site: Site, config: ModelConfig) -> Mask:
    """Return the mask that the model itself applies at a site."""
    padding = config.padding_mask == "applied"
    later = (site.stack, site.kind) == ("decoder", "self") and config.look_ahead_mask == "applied"
    return MASKS[padding + 2 * later]


def masks_at(site: Site) -> tuple[Mask, ...]:
    """Return the masks that have a meaning at a site: in cross-attention no key comes later than a query."""
    return ("none", "padding") if site.kind == "cross" else MASKS


@torch.no_grad()
def whole_head(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    reads: Sequence[Sequence[int]],
    site: Site,
    head: int,
    mask: Mask | None = None,
) -> list[Matrices]:
    """Return the matrices of one head for each sentence of a padded batch; `mask` replaces the model's own mask.

    `reads` are the target tokens that the decoder reads, from [SOS] on. The vectors that reach the head are always
    those of the model with all of its masks; the weights come from `attend`, as the model's own do. Raises ValueError
    for a site that the model lacks, and for a mask that has no meaning there.
    """
    assert not model.training, "dropout would change the numbers from pass to pass"
    attention = attention_at(model, site)
    require_unpruned(attention, head)
    if mask is not None and mask not in masks_at(site):
        raise ValueError(
            f"A {mask} mask has no meaning in {site.kind} attention; choose {' or '.join(masks_at(site))}."
        )
    device, pad = model.output.weight.device, model.config.pad_id
    batch = collate([(list(source), list(read)) for source, read in zip(sources, reads, strict=True)], pad)
    src, tgt = batch.src.to(device), batch.tgt.to(device)
    inputs = InputRecorder()
    yield_turn()
    model(src, tgt, inputs)
    q, k, v, own, scale, bias = inputs[site]
    queries, keys = q.size(2), k.size(2)
    key_ids = tgt if (site.stack, site.kind) == ("decoder", "self") else src
    visible = own if mask is None else _visible(mask, key_ids, queries, pad)
    scores, weights = scores_and_weights(q, k, v, visible, scale, bias)
    visible_pairs = visible.expand(len(q), q.size(1), queries, keys)
    return [
        Matrices(
            scores[b, head],
            visible_pairs[b, head].cpu().numpy(),
            weights[b, head],
            q[b, head].cpu().numpy(),
            k[b, head].cpu().numpy(),
        )
        for b in range(len(sources))
    ]


def _visible(mask: Mask, key_ids: Tensor, queries: int, pad: int) -> Tensor:
    """Return where `mask` lets a query look: bool, [B, 1, Q, K]."""
    keys = key_ids.size(1)
    visible = torch.ones(len(key_ids), 1, queries, keys, dtype=torch.bool, device=key_ids.device)
    if mask in ("padding", "both"):
        visible = visible & visible_keys(key_ids, pad)
    if mask in ("look-ahead", "both"):
        visible = visible & look_ahead_mask(queries, keys, key_ids.device)
    return visible


def scores_and_weights(
    q: Tensor, k: Tensor, v: Tensor, visible: Tensor, scale: float | None = None, bias: Tensor | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores before the mask, in double precision, and the weights after it: [B, H, Q, K] each."""
    recorder, site = Recorder(), Site("", 0, "")
    attend(q, k, v, visible, site, recorder, scale, bias)
    scores = (q.double() @ k.double().mT) * (1 / math.sqrt(q.size(-1)) if scale is None else scale)
    if bias is not None:
        scores = scores + bias
    return scores.cpu().numpy(), recorder[site][0].cpu().numpy()


FINITE_MASK_VALUE = -1e9  # used in place of minus infinity by many implementations


class MaskedScores(NamedTuple):
    """Scores with an added mask, as in softmax(QKᵀ/√d + M), and with `masked_fill`: [Q, K] each."""

    mask: np.ndarray  # M: 0 where a query may look, else −∞
    added: np.ndarray
    filled: np.ndarray
    apart: float  # the largest difference of a weight between them
    finite_apart: float  # the same with FINITE_MASK_VALUE added instead of −∞
    nowhere: tuple[float, float]  # a weight of a row that hides every key: with −∞, and with FINITE_MASK_VALUE


def added_and_filled(scores: np.ndarray, visible: np.ndarray) -> MaskedScores:
    """Hide the same cells of scores [Q, K] by adding a mask and by filling in, in single precision, as models do."""
    plain, hidden = torch.from_numpy(scores).float(), torch.from_numpy(~visible)
    mask, finite = (torch.zeros_like(plain).masked_fill(hidden, value) for value in (-math.inf, FINITE_MASK_VALUE))
    filled = plain.masked_fill(hidden, -math.inf)
    weights = filled.softmax(-1)
    apart, finite_apart = (float(((plain + m).softmax(-1) - weights).abs().max()) for m in (mask, finite))
    row = torch.zeros(plain.size(1))
    infinite, uniform = (float((row + value).softmax(-1)[0]) for value in (-math.inf, FINITE_MASK_VALUE))
    return MaskedScores(mask.numpy(), (plain + mask).numpy(), filled.numpy(), apart, finite_apart, (infinite, uniform))


# "Coding transformer model from scratch, part 1" (adeveloperdiary) prints these random q and k, [3, 6], and the softmax
# of their scores, whose first row is 0.3064, 0.3530, 0.3406. For the mask it has the sentence "I LOVE PYTHON" with the
# scores of another draw; we use its sentence with the first draw.
TUTORIAL_WORDS = ("I", "LOVE", "PYTHON")
_TUTORIAL_Q = (
    (0.5632, 0.0326, 0.4685, 0.3702, 0.5376, 0.0412),
    (0.4214, 0.8490, 0.1355, 0.2032, 0.8867, 0.3364),
    (0.5808, 0.7172, 0.5806, 0.5573, 0.4954, 0.7809),
)
_TUTORIAL_K = (
    (0.5758, 0.3122, 0.6065, 0.5582, 0.1457, 0.8510),
    (0.9157, 0.3960, 0.7968, 0.4983, 0.3153, 0.7234),
    (0.6534, 0.7965, 0.6544, 0.8660, 0.2595, 0.8986),
)


def tutorial(mask: Mask) -> Matrices:
    """Return the tutorial's three tokens of d_k 6 through `attend`; none of them is padding."""
    q, k = (torch.tensor(rows)[None, None] for rows in (_TUTORIAL_Q, _TUTORIAL_K))
    visible = _visible(mask, torch.ones(1, len(TUTORIAL_WORDS), dtype=torch.int64), len(TUTORIAL_WORDS), pad=0)
    scores, weights = scores_and_weights(q, k, k, visible)
    return Matrices(scores[0, 0], visible[0, 0].numpy(), weights[0, 0], q[0, 0].numpy(), k[0, 0].numpy())

"""Split a head's score of a key exactly into pairs of writers, to explain why the head looks there.

A score is bilinear in the vectors that its query and its key come from: q · k / √d. Both vectors are sums of what each
writer contributed (`residual_parts`), the scales of the norms held at the values that they had. So the score is the sum
over all pairs of a writer of the query and a writer of the key: the QK circuit of Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits", for a whole network.

Shapes: K keys, P writers of the query, R writers of the key, D = d_head.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.anatomy import softmax
from headlight.analysis.passes import bounded_slices
from headlight.analysis.sites import attention_at, require_unpruned
from headlight.analysis.stream import CROSS, Stream, stream
from headlight.analysis.why.alti import heads_of
from headlight.analysis.why.residual_parts import Parts, Writer, residual_parts
from transformer.attention import MultiHeadAttention
from transformer.taps import Site, Tap
from transformer.translator import Translator

Relative = int | Literal["mean"] | None  # another key, the mean over the keys that the query may see, or nothing


class Pair(NamedTuple):
    """A pair of a writer of the query and a writer of the key, with its part of the score."""

    query: Writer
    key: Writer
    value: float


@dataclass(frozen=True)
class ScoreParts:
    """The score of one cell of a head's attention pattern, as a sum over pairs of writers.

    `pairs` and `position_bias` sum to `score`.
    """

    site: Site
    head: int
    query: int
    key: int
    relative_to: Relative
    score: float  # the model's own score of the key, minus what it is relative to
    pairs: np.ndarray  # [P, R] float64
    position_bias: float  # T5's bias for the distance, which belongs to no pair; 0 in other models
    query_writers: list[Writer]
    key_writers: list[Writer]
    scores: np.ndarray  # [K], the model's own scores of the row; -inf where the mask hides a key
    _queries: np.ndarray = field(repr=False)  # [P, D], the parts of q, already scaled
    _keys: np.ndarray = field(repr=False)  # [K, R, D], the parts of each k

    @property
    def total(self) -> float:
        """The sum of the parts; how far it is from `score` is the error of the decomposition."""
        return float(self.pairs.sum()) + self.position_bias

    @property
    def weights(self) -> np.ndarray:
        """The head's weights before any intervention on this head: [K]."""
        return softmax(self.scores)

    def largest(self, count: int = 1) -> list[Pair]:
        """Return the pairs with the largest absolute values, largest first."""
        order = np.argsort(-np.abs(self.pairs), axis=None, kind="stable")[:count]
        places = zip(*np.unravel_index(order, self.pairs.shape), strict=True)
        return [Pair(self.query_writers[i], self.key_writers[j], float(self.pairs[i, j])) for i, j in places]

    def weights_without(self, pair: Pair) -> np.ndarray:
        """Return the weights of the row [K] when the pair's contribution to the score of every key is taken away."""
        i, j = self.query_writers.index(pair.query), self.key_writers.index(pair.key)
        return softmax(self.scores - self._keys[:, j] @ self._queries[i])


def score_parts(
    translator: Translator,
    text: str,
    site: Site,
    head: int,
    query: int,
    key: int,
    relative_to: Relative = "mean",
    target: str | None = None,
    tap: Tap | None = None,
) -> ScoreParts:
    """Split a head's score of one key for one query into parts, for a sentence and its translation.

    `site`, `head`, `query` and `key` count from 0, as in `translator.trace(text)`; queries of the decoder are the
    tokens that it reads, from [SOS] on. A constant added to all scores of a row does not change the softmax, so the
    weight depends on the score relative to the mean of the row, or to another key; `relative_to` selects which.
    `target` is the translation that the decoder reads; the model's own if it is None.

    Raises ValueError for a site, a head, a query or a key that does not exist, and for a key that the mask hides from
    the query.
    """
    source, written = translator.encode_pair(text, target)
    return score_parts_of(stream(translator.model, source, written, tap), site, head, query, key, relative_to)


@torch.no_grad()
def score_parts_of(
    passed: Stream, site: Site, head: int, query: int, key: int, relative_to: Relative = "mean"
) -> ScoreParts:
    """Split a score as `score_parts` does, in a pass that is already recorded."""
    model, attention = passed.model, attention_at(passed.model, site)
    require_unpruned(attention, head)
    heads, block = heads_of(passed), (site.layer, site.kind)
    inputs = heads.inputs[site]
    visible = inputs.mask.expand(1, 1, inputs.q.size(2), inputs.k.size(2))[0, 0]
    _require_cell(visible, query, key, relative_to)
    scale = 1 / math.sqrt(attention.d_head) if attention.scale is None else attention.scale
    row = visible[query]
    bias = torch.zeros(len(row), dtype=torch.float64, device=row.device)
    if inputs.bias is not None:
        bias = inputs.bias.expand(1, attention.n_heads, *visible.shape)[0, head, query].double()
    scores = inputs.k[0, head].double() @ inputs.q[0, head, query].double() * scale + bias

    query_parts = residual_parts(passed, heads, site.stack, slice(query, query + 1), block)
    queries = _projected(query_parts, attention.query, attention, head)[0] * scale
    stack, until = ("encoder", None) if site.kind == CROSS else (site.stack, block)
    count, projected = sum(1 for _ in model.sites()) * attention.n_heads, []
    for chunk in bounded_slices(len(row), 8 * model.config.d_model * 4 * max(8, count)):
        key_parts = residual_parts(passed, heads, stack, chunk, until)
        projected.append(_projected(key_parts, attention.key, attention, head))
    keys = torch.cat(projected)

    weights = _reference(row, key, relative_to)
    pairs = queries @ torch.einsum("k,krd->rd", weights, keys).T
    return ScoreParts(
        site,
        head,
        query,
        key,
        relative_to,
        float(weights @ scores),
        pairs.cpu().numpy(),
        float(weights @ bias),
        list(query_parts),
        list(key_parts),
        scores.masked_fill(~row, -torch.inf).cpu().numpy(),
        queries.cpu().numpy(),
        keys.cpu().numpy(),
    )


def _projected(parts: Parts, layer: torch.nn.Linear, attention: MultiHeadAttention, head: int) -> Tensor:
    """Project the writers' parts to a head's queries or keys, [N, P, D].

    The projection's bias is added to the last writer, which stands for all biases.
    """
    row = attention.remaining.index(head) * attention.d_head
    rows = slice(row, row + attention.d_head)
    images = torch.stack(list(parts.values()), 1) @ layer.weight[rows].double().T
    if layer.bias is not None:
        images[:, -1] += layer.bias[rows].double()
    return images


def _reference(row: Tensor, key: int, relative_to: Relative) -> Tensor:
    """Return weights [K] whose dot product with a row of scores is the score of `key` relative to `relative_to`."""
    weights = torch.zeros(len(row), dtype=torch.float64, device=row.device)
    weights[key] = 1.0
    if relative_to == "mean":
        return weights - row.double() / row.sum()
    if relative_to is not None:
        weights[relative_to] -= 1.0
    return weights


def _require_cell(visible: Tensor, query: int, key: int, relative_to: Relative) -> None:
    """Raise ValueError unless the query [Q] and the keys [K] exist, and the query may see the keys."""
    keys = [("key", key)] if relative_to in ("mean", None) else [("key", key), ("other key", relative_to)]
    for what, number, count in [("query", query, len(visible)), *((what, k, visible.size(1)) for what, k in keys)]:
        if not isinstance(number, int) or not 0 <= number < count:
            raise ValueError(f"There is no {what} {number!r} here; choose one from 0 to {count - 1}.")
    for what, number in keys:
        assert isinstance(number, int)
        if not visible[query, number]:
            raise ValueError(f"The mask hides the {what} {number} from query {query}; choose one that it sees.")

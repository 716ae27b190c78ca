"""Measure how well attention agrees with the effect of removing a word of the source.

Shapes: L layers, H heads, W words of the source, B rows of a batch, T target tokens.

Each word has two numbers: its cross-attention, summed over all steps, and how much the log-probability of the output
falls without the word. They have no common unit, so the orders of the words are compared by Spearman's rank
correlation: 1 is the same order, 0 none, -1 the reverse. Jain and Wallace 2019 ("Attention is not explanation") compare
the orders by Kendall's τ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.analysis.passes import in_passes, rows_per_pass, written_log_probs
from headlight.analysis.sites import by_kind
from transformer.batches import collate
from transformer.model import Transformer
from transformer.taps import Recorder, Tap, chain
from transformer.tokenizers import Tokenizer

MIN_WORDS = 3  # the orders of two words agree by chance every other time


@dataclass(frozen=True)
class Faithfulness:
    """`attention` [L, H, W] in weights, `effect` [W] in nats; correlations are NaN where all words get the same."""

    words: list[list[int]]  # positions of each word's tokens in the source
    attention: np.ndarray
    effect: np.ndarray

    @property
    def mean(self) -> float:
        """The rank correlation of the mean of all heads."""
        return float(rank_correlation(self.attention.mean((0, 1)), self.effect))

    @property
    def by_head(self) -> np.ndarray:
        """The rank correlation of each head, [L, H]."""
        return rank_correlation(self.attention, self.effect)


def faithfulness(
    model: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    words: Sequence[Sequence[int]],
    tap: Tap | None = None,
) -> Faithfulness | None:
    """Return the faithfulness for one pair of ids; None for fewer than MIN_WORDS `words`.

    `words` group the indices of `source` that are removed together. `tap` changes heads, in every pass.
    """
    assert not model.training, "dropout would drown the differences"
    if len(words) < MIN_WORDS:
        return None
    recorder = Recorder()
    complete = _log_probs(model, [list(source)], target, chain(tap, recorder))[0]
    cross = by_kind({site: pattern[0].float().cpu().numpy() for site, (pattern,) in recorder.items()})["cross"]
    received = cross.sum(-2)  # [L, H, S]
    attention = np.stack([received[..., list(word)].sum(-1) for word in words], -1)
    without = [[id for position, id in enumerate(source) if position not in set(word)] for word in words]
    size = rows_per_pass(model, len(source), len(target))
    parts = [_log_probs(model, rows, target, tap) for rows in in_passes(without, size)]
    return Faithfulness([list(word) for word in words], attention, complete - np.concatenate(parts))


def parts_of(tokenizer: Tokenizer, source: Sequence[int]) -> list[list[int]]:
    """Return the groups that are removed in turn: words, or tokens if there are fewer than MIN_WORDS words."""
    special = tokenizer.special_ids - {tokenizer.unk_id}  # an unknown token is a word, too
    plain = [position for position, id in enumerate(source) if id not in special]
    groups = [group for group in tokenizer.word_groups(source) if group[0] in set(plain)]
    return groups if len(groups) >= MIN_WORDS else [[position] for position in plain]


def rank_correlation(values: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return Spearman's ρ of `values` [..., W] with `other` [W]: [...]; ties share a mean rank, NaN if all are tied."""
    a, b = _ranks(values), _ranks(other)
    a, b = a - a.mean(-1, keepdims=True), b - b.mean()
    scale = np.sqrt((a**2).sum(-1) * (b**2).sum())
    return np.divide((a * b).sum(-1), scale, out=np.full(scale.shape, np.nan), where=scale > 0)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the mean rank of each value: half of the equal values plus all smaller ones."""
    value, compared = values[..., :, None], values[..., None, :]
    ranks: np.ndarray = (compared < value).sum(-1) + 0.5 * (compared == value).sum(-1)
    return ranks


def _log_probs(model: Transformer, sources: Sequence[list[int]], target: Sequence[int], tap: Tap | None) -> np.ndarray:
    """Return the log-probability of the target after each source: [B] float64."""
    device, pad_id = model.output.weight.device, model.config.pad_id
    batch = collate([(source, list(target)) for source in sources], pad_id)
    src, tgt = batch.src.to(device), batch.tgt.to(device)
    totals: np.ndarray = written_log_probs(model, src, tgt, tap).sum(-1).cpu().numpy()
    return totals

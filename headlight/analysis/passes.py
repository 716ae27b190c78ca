"""Split analyses into passes of the network, so that each stays within a bound of memory.

Shapes: B rows of a batch, S source tokens, T target tokens that are read, V target vocabulary, M = d_model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from transformer.model import Transformer
from transformer.taps import Tap
from transformer.yielding import yield_turn

Row = TypeVar("Row")

# Bytes that the analysis of one sentence may take beside the model: tests/analysis/test_bounds.py checks that a model
# of the size of the shipped ones stays below with 512 source and 512 target tokens.
REQUEST_BYTES = 300_000_000
# Bytes of the temporary tensors of one batch. The rest is for results and for what a whole analysis shares, such as the
# patterns of all heads.
BATCH_BYTES = REQUEST_BYTES // 6
# Tokens of one pass, so that it takes a fraction of a second; a longer sentence is a pass by itself.
PASS_TOKENS = 1024


def rows_per_pass(model: Transformer, n_source: int, n_target: int) -> int:
    """Return how many sentences of that length, at least 1, fit into a pass that records or changes patterns."""
    config, longest = model.config, max(n_source, n_target)
    patterns = 2 * max(config.encoder.n_heads, config.decoder.n_heads) * longest**2  # before and after a change
    feed_forward = 2 * max(config.encoder.d_ff, config.decoder.d_ff) * longest
    row = max(patterns, feed_forward) + 8 * config.d_model * longest
    return max(1, min(BATCH_BYTES // (4 * row), PASS_TOKENS // (n_source + n_target)))


def in_passes(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    """Yield `size` rows at a time, and let others compute before each."""
    for start in range(0, len(rows), size):
        yield_turn()
        yield rows[start : start + size]


def bounded_slices(count: int, bytes_each: int) -> Iterator[slice]:
    """Yield slices that together are `range(count)`, each within BATCH_BYTES, and let others compute before each."""
    size = max(1, BATCH_BYTES // bytes_each)
    for start in range(0, count, size):
        yield_turn()
        yield slice(start, min(start + size, count))


@torch.no_grad()
def written_log_probs(model: Transformer, src: Tensor, tgt: Tensor, tap: Tap | None = None) -> Tensor:
    """Return the log-probabilities of `tgt[:, 1:]` given `src` [B, S], in nats: [B, T] float64.

    `tgt` [B, T + 1] starts with [SOS]. Logits are computed for a few tokens at a time, since [B, T, V] of them would
    take most of the memory.
    """
    yield_turn()
    return log_probs_of(model, model.decode(tgt[:, :-1], model.encode(src, tap), src, tap=tap), tgt[:, 1:])


@torch.no_grad()
def log_probs_of(model: Transformer, states: Tensor, written: Tensor) -> Tensor:
    """Return the log-probabilities of the tokens `written` [B, T] after the decoder's last `states` [B, T, M], in nats:
    [B, T] float64."""
    flat, ids = states.flatten(0, 1), written.flatten()
    log_probs = torch.empty(len(ids), dtype=torch.float64, device=states.device)
    size = max(1, BATCH_BYTES // (24 * model.output.out_features))  # logits in single and in double precision, twice
    for start in range(0, len(ids), size):
        rows = slice(start, start + size)
        logits = model.output(flat[rows]).double()
        log_probs[rows] = logits.gather(-1, ids[rows, None])[:, 0] - logits.logsumexp(-1)
    return log_probs.view_as(written)

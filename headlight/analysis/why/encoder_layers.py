"""Translate with only the first layers of the encoder.

DecoderLens of Langedijk et al. 2024, "DecoderLens: Layerwise Interpretation of Encoder-Decoder Transformers".

Shapes: L encoder layers, S source tokens, T target tokens that are read, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.passes import in_passes, log_probs_of, rows_per_pass
from headlight.analysis.stream import stream
from transformer.decoding.search import allowed
from transformer.model import Transformer
from transformer.taps import Tap
from transformer.yielding import yield_turn


class DecoderLens(NamedTuple):
    """The translations by encoder depth: row 0 reads the embeddings, the last row the whole encoder."""

    written: tuple[tuple[int, ...], ...]  # L + 1 of them: ids after [SOS], with [EOS] if it was generated
    log_probs: np.ndarray  # [L + 1, T], of the tokens of the target, in nats


@torch.no_grad()
def decoder_lens(
    model: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    longest: int | None = None,
    tap: Tap | None = None,
) -> DecoderLens:
    """Translate with the states of each encoder layer, after the encoder's final norm if it has one.

    The translations are greedy, of at most `longest` tokens (by default twice those of `target` and ten more);
    `log_probs` are those of `target`, which runs from [SOS] to [EOS]. As with the logit lens, interpret early layers
    with care: their states were trained as inputs of the next layer, not of the decoder. `tap` intervenes in every
    pass. Raises ValueError for an intervention on a head that the model lacks.
    """
    passed = stream(model, source, target, tap)
    memory = model.encoder.norm(torch.stack(passed.encoder.states))  # [L + 1, S, M]
    src = passed.source.expand(len(memory), -1)
    tgt = passed.target.expand(len(memory), -1)
    written = torch.tensor(target[1:], device=src.device).expand(len(memory), -1)
    size = rows_per_pass(model, len(source), len(target))
    log_probs = torch.cat(
        [
            log_probs_of(model, model.decode(tgt[rows], memory[rows], src[rows], tap=tap), written[rows])
            for rows in in_passes(range(len(memory)), size)
        ]
    )
    start = [model.config.sos_id, *model.config.target_start]
    max_new = min(longest or 2 * len(target) + 10, model.config.max_length - len(start))
    rows = _greedy(model, memory, src, start, max_new, tap).tolist()
    return DecoderLens(
        tuple(_until_end(row, model.config.eos_id) for row in rows),
        log_probs.float().cpu().numpy(),
    )


def _greedy(
    model: Transformer, memory: Tensor, src: Tensor, start: Sequence[int], longest: int, tap: Tap | None
) -> Tensor:
    """Decode each row greedily until its [EOS], and return the ids after [SOS]."""
    config = model.config
    tgt = torch.tensor([start], device=src.device).expand(len(src), -1)
    ended = torch.zeros(len(src), dtype=torch.bool, device=src.device)
    for _ in range(longest):
        yield_turn()
        logits = allowed(model.output(model.decode(tgt, memory, src, tap=tap)[:, -1]), config)
        following = logits.argmax(-1).masked_fill(ended, config.eos_id)
        tgt = torch.cat([tgt, following[:, None]], 1)
        ended |= following == config.eos_id
        if ended.all():
            break
    return tgt[:, 1:]


def _until_end(ids: list[int], eos_id: int) -> tuple[int, ...]:
    return tuple(ids[: ids.index(eos_id) + 1]) if eos_id in ids else tuple(ids)

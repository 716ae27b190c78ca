"""What a decode is asked for, checked and made into tensors.

Shapes: B sentences, S source tokens, F forced tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.inference.prepared import Prepared
from transformer.model import Transformer

Ids = Sequence[int] | Sequence[Sequence[int]] | Tensor


def source(model: Transformer | Prepared, src: Tensor) -> Tensor:
    """`src` [B, S], on the model's device. Raises ValueError."""
    config = model.config
    if isinstance(model, Transformer) and model.training:
        raise ValueError("The model is in training mode, where dropout is on; call model.eval() first.")
    if src.dim() != 2 or src.is_floating_point():
        raise ValueError(f"src is {src.dtype} of shape {list(src.shape)}; give ids, [sentences, tokens].")
    if len(src) and not src.size(1):
        raise ValueError("The source sentences have no tokens; each needs at least one, such as [EOS].")
    if src.size(1) > config.max_length:
        raise ValueError(
            f"The longest source sentence has {src.size(1)} tokens and this model reads at most "
            f"{config.max_length}; shorten it or split it into sentences."
        )
    if len(src):
        for token in (int(src.min()), int(src.max())):
            _known(token, config.source_vocab_size, "source")
    device = model.device if isinstance(model, Prepared) else model.output.weight.device
    return src.to(device).long()


def longest(src: Tensor, max_length: int | None, config: ModelConfig) -> Tensor:
    """The most tokens that each sentence may have, [EOS] included: [B]. Raises ValueError."""
    if max_length is None:
        wanted = 2 * (src != config.pad_id).sum(1) + 10
    elif max_length >= 1:
        wanted = src.new_full((len(src),), max_length)
    else:
        raise ValueError(f"max_length is {max_length}; allow at least 1 token.")
    return wanted.clamp(max=config.max_length)


def targets(ids: Ids, sentences: int, config: ModelConfig) -> list[list[int]]:
    """What each sentence must write, without padding. Raises ValueError."""
    padded = isinstance(ids, Tensor)
    rows: list = ids.tolist() if isinstance(ids, Tensor) else list(ids)
    if not any(isinstance(row, Sequence) for row in rows):
        rows = [rows] * sentences
    if len(rows) != sentences:
        raise ValueError(f"There are {len(rows)} targets for {sentences} sources; give one each or one for all.")
    return [_target(list(row), config, padded) for row in rows]


def _target(ids: list[int], config: ModelConfig, padded: bool) -> list[int]:
    while padded and ids and ids[-1] == config.pad_id:
        ids.pop()
    for token in ids:
        _known(token, config.target_vocab_size, "target")
    free = ids[len(config.target_start) :] if tuple(ids[: len(config.target_start)]) == config.target_start else ids
    if any(token in free and token != config.eos_id for token in (config.pad_id, config.sos_id)):
        raise ValueError(f"The target {ids} holds [PAD] or [SOS], which are never written; leave them out.")
    if config.eos_id in ids[:-1]:
        raise ValueError(f"The target {ids} goes on after [EOS] = {config.eos_id}; end it there.")
    return ids


def _known(token: int, vocabulary: int, side: str) -> None:
    if not 0 <= token < vocabulary:
        raise ValueError(f"There is no {side} token {token}; its ids run from 0 to {vocabulary - 1}.")


def forced(rows: list[list[int]], bounds: Tensor) -> Tensor:
    """The rows as one tensor [B, F], with -1 after the end of each. Raises ValueError for one too long."""
    for number, (row, bound) in enumerate(zip(rows, bounds.tolist(), strict=True), 1):
        if len(row) > bound:
            raise ValueError(
                f"Target {number} has {len(row)} tokens, but at most {bound} may be written; shorten it, or "
                "raise max_length as far as the model reads."
            )
    width = max(map(len, rows), default=0)
    table = [row + [-1] * (width - len(row)) for row in rows]
    return torch.tensor(table, dtype=torch.long, device=bounds.device).reshape(len(rows), width)

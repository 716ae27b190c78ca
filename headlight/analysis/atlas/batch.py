"""A batch of readings as tensors: the queries, the keys, and the correct key of each query.

Shapes: B sentences, Q queries, K keys, W words of the keys, V words of the queries, P pronouns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.analysis.atlas.reading import PairReading
from headlight.analysis.measures import Context, Pronouns, Targets
from transformer.batches import collate
from transformer.config import ModelConfig
from transformer.masks import look_ahead_mask
from transformer.trace import Kind


@dataclass(frozen=True)
class Marks:
    """Masks over a vocabulary of the special tokens and of the punctuation: bool [V]."""

    special: np.ndarray
    punctuation: np.ndarray


@dataclass(frozen=True)
class MeasuredBatch:
    """A batch, ready to be measured."""

    readings: Sequence[PairReading]
    src: Tensor  # [B, S]
    tgt: Tensor  # [B, T + 1]
    contexts: dict[Kind, Context]
    indices: np.ndarray  # [B]
    lengths: np.ndarray  # [B]
    written: np.ndarray  # [B], tokens that the model writes


def prepare(
    readings: Sequence[PairReading], config: ModelConfig, source: Marks, target: Marks, device: torch.device
) -> MeasuredBatch:
    batch = collate([(reading.source, reading.target) for reading in readings], config.pad_id)
    src, tgt = batch.src, batch.tgt
    n_source, n_target = (
        [len(reading.source) for reading in readings],
        [len(reading.target) - 1 for reading in readings],
    )
    s, t = _not_padding(n_source), _not_padding(n_target)
    visible = t[:, :, None] & t[:, None, :]
    if config.look_ahead_mask == "applied":
        visible &= look_ahead_mask(t.size(1), t.size(1), t.device)
    contexts = {
        "encoder": _context(s, s[:, :, None] & s[:, None, :], src, source),
        "decoder": _context(t, visible, tgt[:, :-1], target),
        "cross": _context(t, t[:, :, None] & s[:, None, :], src, source),
    }
    if any(reading.source_words is not None for reading in readings):
        contexts = _with_gold(readings, contexts)
    return MeasuredBatch(
        readings,
        src.to(device),
        tgt.to(device),
        {kind: _moved(context, device) for kind, context in contexts.items()},  # type: ignore[misc]
        np.array([reading.index for reading in readings]),
        np.array([reading.length for reading in readings]),
        np.array(n_target),
    )


def _not_padding(counts: Sequence[int]) -> Tensor:
    return torch.arange(max(counts))[None, :] < torch.tensor(counts)[:, None]


def _context(rows: Tensor, visible: Tensor, keys: Tensor, marks: Marks) -> Context:
    ids = keys.numpy()
    special, punctuation = (torch.from_numpy(mask[ids]).float() for mask in (marks.special, marks.punctuation))
    return Context(rows, visible, special, punctuation)


def _moved(context: Context, device: torch.device) -> Context:
    def to(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.to(device)
        if isinstance(value, Targets | Pronouns):
            return type(value)(**{name: to(inner) for name, inner in vars(value).items()})
        return value

    return context if device.type == "cpu" else Context(**{name: to(value) for name, value in vars(context).items()})


# ---- gold ----------------------------------------------------------------------------------------------------------


def _with_gold(readings: Sequence[PairReading], contexts: dict[str, Context]) -> dict[str, Context]:
    n_source, n_reads = contexts["cross"].visible.size(2), contexts["decoder"].visible.size(2)
    source_words = [reading.source_words or [-1] * len(reading.source) for reading in readings]
    target_words = [reading.target_words or [-1] * len(reading.target) for reading in readings]
    source, source_count = _numbered(source_words, n_source)
    target, target_count = _numbered(target_words, n_reads + 1)
    words, read = _words(source, source_count), _words(target[:, :-1], target_count)
    of_target = _members(target, target_count)  # [B, T + 1, V]
    right = torch.zeros(len(readings), target_count, words.size(2), dtype=torch.bool)
    for b, reading in enumerate(readings):
        if reading.source_words is not None and reading.links:
            of_source, of_target_word = np.array(reading.links).T
            right[b, of_target_word, of_source] = True
    by_write, by_read = of_target[:, 1:].transpose(1, 2), of_target[:, :-1].transpose(1, 2)
    estimated = any(reading.estimated for reading in readings)
    encoder, decoder, cross = (contexts[kind] for kind in ("encoder", "decoder", "cross"))
    return {
        "encoder": replace(
            encoder, words=words,
            pronouns=_pronouns(readings, "encoder", _members(source, source_count), source, words.size(2)),
        ),
        "decoder": replace(
            decoder, words=read, pronouns=_pronouns(readings, "decoder", of_target, target, read.size(2))
        ),
        "cross": replace(
            cross, words=words,
            writes=Targets(by_write, right, estimated), reads=Targets(by_read, right, estimated),
            pronouns=_pronouns(readings, "cross", of_target, target, words.size(2)),
        ),
    }  # fmt: skip


def _numbered(words: Sequence[Sequence[int]], width: int) -> tuple[Tensor, int]:
    """Return the word of each token, -1 for none, [B, width], and how many words the longest sentence has."""
    table = np.full((len(words), width), -1, np.int64)
    for row, numbers in zip(table, words, strict=True):
        row[: len(numbers)] = numbers
    return torch.from_numpy(table), int(table.max()) + 1


def _words(of_token: Tensor, count: int) -> Tensor:
    """Return membership [B, tokens, words], 1 where the token belongs to the word.

    A special token is a word of its own, which can get the largest weight and is never correct.
    """
    size = of_token.size(1)
    return F.one_hot(torch.where(of_token < 0, count + torch.arange(size), of_token), count + size).float()


def _members(of_token: Tensor, count: int) -> Tensor:
    """Return membership [B, tokens, words], 1 where the token belongs to the word; a token of no word has none."""
    return F.one_hot(torch.where(of_token < 0, count, of_token), count + 1)[..., :count].float()


def _pronouns(
    readings: Sequence[PairReading], kind: Kind, members: Tensor, of_token: Tensor, width: int
) -> Pronouns | None:
    """Return the query that stands for each pronoun: its own token (encoder), or the row that writes the word whose
    form shows the noun (decoder, cross).
    """
    rows: list[tuple[int, tuple[Tensor, ...]]] = []
    for b, reading in enumerate(readings):
        if reading.source_words is None:
            continue
        for pronoun, guessed in zip(reading.pronouns, reading.guessed, strict=True):
            right, candidates = torch.zeros(width, dtype=torch.bool), torch.zeros(width, dtype=torch.bool)
            queries = members[b, :, pronoun.word] if kind == "encoder" else members[b, 1:, pronoun.written]
            if kind == "decoder":
                tokens = of_token[b]
                before = tokens[: int(queries.argmax()) + 1]  # all that the first such row may see
                candidates[before[before >= 0].unique()] = True
                translated = [
                    target_word for source_word, target_word in reading.links if source_word == pronoun.antecedent
                ]
                right[translated] = True
                right &= candidates
            else:
                candidates[: max(reading.source_words) + 1] = True
                candidates[pronoun.word] = False
                right[pronoun.antecedent] = True
            if right.any() and queries.any():
                rows.append((b, (queries, right, candidates, torch.tensor(guessed).float())))
    if not rows:
        return None
    columns = (torch.stack(parts) for parts in zip(*(tensors for _, tensors in rows), strict=True))
    return Pronouns(torch.tensor([b for b, _ in rows]), *columns)

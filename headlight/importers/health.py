"""Check the weights of a model for numbers that are not finite and rows that are not trained."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from transformer.checkpoint.native import Checkpoint
from transformer.config import ModelConfig
from transformer.tokenizers import Tokenizer

_MAX_NAMED_ROWS = 3  # in a warning about many rows
SOURCE_EMBEDDING, TARGET_EMBEDDING = (f"{stack}.embedding.tokens.weight" for stack in ("encoder", "decoder"))


def check_health(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return what is wrong with the model, a sentence each; empty if it is sound. Reads each number once."""
    tensors = {name: parameter.detach() for name, parameter in checkpoint.model.named_parameters()}
    health = StreamingHealth(
        checkpoint.model.config,
        checkpoint.source_tokenizer,
        checkpoint.target_tokenizer,
        TARGET_EMBEDDING not in tensors,
    )
    for name, numbers in tensors.items():
        health.check(name, numbers)
    return health.faults


class StreamingHealth:
    """Check the health of a model tensor by tensor, so that the whole model need not be in memory.

    `shared` says whether both sides share one embedding, which then has the source embedding's name.
    """

    def __init__(self, config: ModelConfig, source: Tokenizer, target: Tokenizer, shared: bool) -> None:
        self._config = config
        self._embeddings = {
            SOURCE_EMBEDDING: ("embedding", target) if shared else ("source embedding", source),
            TARGET_EMBEDDING: ("target embedding", target),
        }
        self._numbers: list[str] = []
        self._norms: list[str] = []
        self._rows: list[str] = []
        self._tokenizers = tuple(_tokenizers(config, source, target))

    @property
    def faults(self) -> tuple[str, ...]:
        return (*self._numbers, *self._norms, *self._rows, *self._tokenizers)

    def check(self, name: str, numbers: Tensor) -> None:
        """Check one parameter, by its native name."""
        self._numbers += _broken(name, numbers, self._config)
        if name.endswith("norm.weight"):
            self._norms += _norm(name.removesuffix(".weight"), numbers)
        if name in self._embeddings:
            self._rows += _embedding(numbers, *self._embeddings[name], self._config.pad_id)


def _broken(name: str, numbers: Tensor, config: ModelConfig) -> Iterator[str]:
    # A finite sum means that all numbers are finite. A sum that is not may be an overflow, so each number is checked.
    if numbers.sum().isfinite():
        return
    checked = numbers.clone()
    if name == "output.bias":  # some families forbid ids by a bias of -inf
        never_written = torch.tensor([config.pad_id, config.sos_id])
        checked[never_written] = checked[never_written].clamp(min=torch.finfo(checked.dtype).min)
    for what, wrong in (("NaN", checked.isnan()), ("infinity", checked.isinf())):
        if count := int(wrong.sum()):
            yield f"{name} has {what} at {_share(count, checked.numel())}: the model's output is meaningless."


def _norm(name: str, gain: Tensor) -> Iterator[str]:
    count = int((gain == 0).sum())
    if count == gain.numel():
        yield f"The norm {name} has a gain of zero: whatever passes it is lost."
    elif 2 * count > gain.numel():
        yield f"The norm {name} has a gain of zero at {_share(count, gain.numel())}."


def _embedding(table: Tensor, what: str, tokenizer: Tokenizer, pad_id: int) -> Iterator[str]:
    """Yield a warning for rows that training never touched: all zero, or several that are equal."""
    rows = table[: _used_rows(tokenizer, len(table))]
    fingerprints = _fingerprints(rows)
    nothing = hash(bytes(rows.size(1) * rows.element_size()))
    zero = [id for id in (fingerprints == nothing).nonzero()[:, 0].tolist() if id != pad_id]
    if zero:
        yield f"{_rows(zero, tokenizer)} of the {what} {'was' if len(zero) == 1 else 'were'} never trained: all zeros."
    if alike := _equal_rows(rows, fingerprints):
        yield f"{_rows(alike, tokenizer)} of the {what} are identical, so they were probably never trained."


def _equal_rows(rows: Tensor, fingerprints: Tensor) -> list[int]:
    """Return the rows, other than zero, that are equal to another row."""
    _, group, sizes = fingerprints.unique(return_inverse=True, return_counts=True)
    candidates = (sizes[group] > 1).nonzero()[:, 0]
    candidates = candidates[rows[candidates].isfinite().all(1) & (rows[candidates] != 0).any(1)]
    if not len(candidates):
        return []
    _, group, sizes = rows[candidates].float().unique(dim=0, return_inverse=True, return_counts=True)
    same: list[int] = candidates[sizes[group] > 1].tolist()
    return same


def _fingerprints(rows: Tensor) -> Tensor:
    """Return an integer per row, equal for equal rows. Rows are hashed one by one, to save memory."""
    return torch.tensor([hash(row.tobytes()) for row in rows.view(torch.uint8).numpy()])


def _tokenizers(config: ModelConfig, source: Tokenizer, target: Tokenizer) -> Iterator[str]:
    sides = [("source", source, config.source_vocab_size), ("target", target, config.target_vocab_size)]
    if source is target:
        sides = [("", target, config.target_vocab_size)]
    for side, tokenizer, rows in sides:
        yield from misfits(side, tokenizer, rows)


def misfits(side: str, tokenizer: Tokenizer, rows: int) -> Iterator[str]:
    """Yield a warning where a tokenizer has more or fewer tokens than the embedding has rows.

    `side` is "source" or "target", and "" where both share the tokenizer.
    """
    name, tokens = f"The {side} tokenizer".replace("  ", " "), tokenizer.inner.get_vocab_size()
    used = _used_rows(tokenizer, rows)
    rounded_up = rows % 64 == 0 and rows - used < 128  # as tables often are, to be multiplied faster
    if tokens > rows:
        yield (
            f"{name} has {tokens:,} tokens and the embedding only {rows:,} rows: "
            f"the {tokens - rows:,} tokens beyond them are read as unknown and never written."
        )
    elif used < rows and not rounded_up:
        yield f"{name} has {used:,} tokens and the embedding {rows:,} rows: the last {rows - used:,} have no token."


def _used_rows(tokenizer: Tokenizer, rows: int) -> int:
    """Return the number of rows with a token; `Tokenizer.of_size` names the rest by their ids."""
    used = min(rows, tokenizer.vocab_size)
    while used and tokenizer.inner.id_to_token(used - 1) in (f"[{used - 1}]", None):
        used -= 1
    return used


def _rows(ids: list[int], tokenizer: Tokenizer) -> str:
    named = ", ".join(f"{id:,} ({tokenizer.piece(id)})" for id in ids[:_MAX_NAMED_ROWS])
    more = f" and {len(ids) - _MAX_NAMED_ROWS:,} more" if len(ids) > _MAX_NAMED_ROWS else ""
    return f"{'Row' if len(ids) == 1 else 'Rows'} {named}{more}"


def _share(count: int, of: int) -> str:
    return f"{count:,} of {of:,} numbers"

"""Whether a model that opens is one that works, in sentences for whoever opened it."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from transformer.checkpoints.native import Checkpoint
from transformer.data.tokenizers import Tokenizer

_NAMED = 3  # of many things alike, so many are named


def health(checkpoint: Checkpoint) -> tuple[str, ...]:
    """What is wrong with it, a sentence each; empty where it is sound. Reads each number once."""
    return (*_numbers(checkpoint), *_norms(checkpoint.model), *_embeddings(checkpoint), *_tokenizers(checkpoint))


def _numbers(checkpoint: Checkpoint) -> Iterator[str]:
    config = checkpoint.model.config
    never_written = torch.tensor([config.pad_id, config.sos_id])  # ids that some families forbid by a bias of -inf
    for name, numbers in checkpoint.model.named_parameters():
        # A sum is finite where all numbers are, but for overflow: then they are looked at one by one.
        if numbers.detach().sum().isfinite():
            continue
        found = numbers.detach().clone()
        if name == "output.bias":
            found[never_written] = found[never_written].clamp(min=torch.finfo(found.dtype).min)
        for what, wrong in (("NaN", found.isnan()), ("infinity", found.isinf())):
            if count := int(wrong.sum()):
                yield f"{name} has {what} at {_share(count, found.numel())}: what the model writes means nothing."


def _norms(model: nn.Module) -> Iterator[str]:
    for name, module in model.named_modules():
        if "Norm" in type(module).__name__ and isinstance(gain := getattr(module, "weight", None), Tensor):
            count = int((gain == 0).sum())
            if count == gain.numel():
                yield f"The norm {name} has a gain of zero: whatever passes it is lost."
            elif 2 * count > gain.numel():
                yield f"The norm {name} has a gain of zero at {_share(count, gain.numel())}."


def _embeddings(checkpoint: Checkpoint) -> Iterator[str]:
    """Rows that training never touched: all zero, or one the same as another."""
    model = checkpoint.model
    source, target = model.encoder.embedding.tokens.weight, model.decoder.embedding.tokens.weight
    tables = [("source embedding", source, checkpoint.source_tokenizer)]
    if target is source:
        tables = [("embedding", source, checkpoint.target_tokenizer)]
    else:
        tables.append(("target embedding", target, checkpoint.target_tokenizer))
    for what, table, tokenizer in tables:
        used = _used(tokenizer, len(table))
        rows = table.detach()[:used]
        zero = [id for id in (rows == 0).all(1).nonzero()[:, 0].tolist() if id != model.config.pad_id]
        if zero:
            yield f"{_rows(zero, tokenizer)} of the {what} {_were(zero)} never trained: all zeros."
        alike = _alike(rows)
        if alike:
            yield f"{_rows(alike, tokenizer)} of the {what} are the same, as rows are that were never trained."


def _alike(rows: Tensor) -> list[int]:
    """Rows other than zero that another row is equal to."""
    _, group, sizes = _fingerprints(rows).unique(return_inverse=True, return_counts=True)
    candidates = (sizes[group] > 1).nonzero()[:, 0]
    candidates = candidates[rows[candidates].isfinite().all(1) & (rows[candidates] != 0).any(1)]
    if not len(candidates):
        return []
    _, group, sizes = rows[candidates].unique(dim=0, return_inverse=True, return_counts=True)
    same: list[int] = candidates[sizes[group] > 1].tolist()
    return same


def _fingerprints(rows: Tensor) -> Tensor:
    """A whole number for each row, the same for equal rows (sums of whole numbers do not depend on their order)."""
    factors = torch.arange(1, 2 * rows.size(1), 2) * 0x9E3779B97F4A7C1
    pieces = rows.float().contiguous().split(4096)
    return torch.cat([(piece.view(torch.int32).long() * factors).sum(1) for piece in pieces])


def _tokenizers(checkpoint: Checkpoint) -> Iterator[str]:
    model = checkpoint.model
    sides = [
        ("source", checkpoint.source_tokenizer, model.config.source_vocab_size),
        ("target", checkpoint.target_tokenizer, model.config.target_vocab_size),
    ]
    if checkpoint.source_tokenizer is checkpoint.target_tokenizer:
        sides = [("", checkpoint.target_tokenizer, model.config.target_vocab_size)]
    for side, tokenizer, rows in sides:
        yield from misfits(side, tokenizer, rows)


def misfits(side: str, tokenizer: Tokenizer, rows: int) -> Iterator[str]:
    """Whether a tokenizer has more or fewer tokens than the embedding has rows; `side` is "" where both share it."""
    name, tokens = f"The {side} tokenizer".replace("  ", " "), tokenizer.inner.get_vocab_size()
    used = _used(tokenizer, rows)
    rounded_up = rows % 64 == 0 and rows - used < 128  # as tables often are, to be multiplied faster
    if tokens > rows:
        yield (
            f"{name} has {tokens:,} tokens and the embedding only {rows:,} rows: "
            f"the {tokens - rows:,} tokens beyond them are read as unknown and never written."
        )
    elif used < rows and not rounded_up:
        yield f"{name} has {used:,} tokens and the embedding {rows:,} rows: the last {rows - used:,} have no token."


def _used(tokenizer: Tokenizer, rows: int) -> int:
    """Rows that have a token: the last ones may only be called by their ids, as `Tokenizer.of_size` calls them."""
    used = min(rows, tokenizer.vocab_size)
    while used and tokenizer.inner.id_to_token(used - 1) in (f"[{used - 1}]", None):
        used -= 1
    return used


def _rows(ids: list[int], tokenizer: Tokenizer) -> str:
    named = ", ".join(f"{id:,} ({tokenizer.piece(id)})" for id in ids[:_NAMED])
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return f"{'Row' if len(ids) == 1 else 'Rows'} {named}{more}"


def _were(ids: list[int]) -> str:
    return "was" if len(ids) == 1 else "were"


def _share(count: int, of: int) -> str:
    return f"{count:,} of {of:,} numbers"

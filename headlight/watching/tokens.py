"""The labels of a Hugging Face tokenizer's tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tokenizers.models import WordPiece

from transformer.byte_pieces import SPACE, decode_bytes
from transformer.tokenizers import label, word_groups
from transformer.trace import Tokens


def tokens_of(tokenizer: Any, ids: Sequence[int], reads: bool = False) -> Tokens:
    """Return the tokens that a model wrote, or that it `reads`; some models have a vocabulary for each.

    A word begins with "▁", however the tokenizer spells that: "Ġgirl" of bytes, "girl" before "##s" of WordPiece.
    """
    ids = list(ids)
    special_ids = set(tokenizer.all_special_ids) | {
        id for id, token in tokenizer.added_tokens_decoder.items() if token.special
    }
    special = [id in special_ids for id in ids]
    spelling = _spelling(tokenizer)
    pieces = _pieces(tokenizer, ids, reads)
    if spelling is not None:
        pieces = [piece if is_special else spelling(piece) for piece, is_special in zip(pieces, special, strict=True)]
    groups = word_groups(pieces, special, None if spelling is None else True)
    return Tokens(ids, pieces, [label(piece) for piece in pieces], groups, special)


def _pieces(tokenizer: Any, ids: Sequence[int], reads: bool) -> list[str]:
    """Return the vocabulary's entries for `ids`; an id without an entry is written as its number."""
    if reads and getattr(tokenizer, "separate_vocabs", False):  # Marian otherwise uses the target's vocabulary
        piece_of = {id: piece for piece, id in tokenizer.get_src_vocab().items()}
        entries = [piece_of.get(id) for id in ids]
    else:
        entries = tokenizer.convert_ids_to_tokens(ids)
    return [f"[{id}]" if piece is None else piece for id, piece in zip(ids, entries, strict=True)]


def _spelling(tokenizer: Any) -> Callable[[str], str] | None:
    """Return the function that spells a piece as people see it; None where it is spelled so already."""
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is None:
        return None
    if isinstance(inner.model, WordPiece):
        prefix: str = inner.model.continuing_subword_prefix
        return lambda piece: _word_piece(piece, prefix)
    return decode_bytes if "ByteLevel" in repr(inner.decoder) else None


def _word_piece(piece: str, prefix: str) -> str:
    """Return "##s" as "s" and "girl" as "▁girl"; a comma, which has no prefix either, does not begin a word."""
    if piece.startswith(prefix):
        return piece.removeprefix(prefix)
    return SPACE + piece if piece[:1].isalnum() else piece

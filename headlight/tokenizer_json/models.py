"""The vocabulary of a tokenizer and its model: sizes are bounded, and the parts must fit together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from headlight.tokenizer_json.fields import Fields, shown
from transformer.tokenizers import MAX_TOKEN_BYTES, is_short

MAX_TOKENS = 2_000_000
MAX_MERGES = 5_000_000
MAX_SCORE = 1e12  # so that sums of scores stay finite
MAX_WORD_CHARACTERS = 1_000  # WordPiece tries each part of a word


def added_tokens(values: Any) -> list[dict[str, Any]]:
    """Return the added tokens: special ones, and those that are matched in a text before it is split."""
    if values is None:
        return []
    if not isinstance(values, list) or len(values) > MAX_TOKENS:
        raise ValueError("its added tokens are not a list")
    tokens = [_added_token(value) for value in values]
    plain = [token for token in tokens if not token["special"]]  # those matched in a text
    if any(token["rstrip"] for token in plain) and any(map(_may_begin_with_a_space, plain)):
        raise ValueError("its added tokens take the spaces after them, which may be added tokens themselves")
    return tokens


def _may_begin_with_a_space(token: dict[str, Any]) -> bool:
    return token["normalized"] or token["content"][:1].isspace()


def _added_token(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"it has {shown(value)} among its added tokens")
    fields = Fields(value, "an added token")
    fields.number("id", 0, MAX_TOKENS)
    fields.text("content")
    fields.flags("single_word", "lstrip", "rstrip", "normalized", "special")
    return fields.checked


def model(values: dict[str, Any]) -> dict[str, Any]:
    kind = values.get("type", _infer_type(values))
    if not isinstance(kind, str) or kind not in _MODELS:
        raise ValueError(f"it uses the model {shown(kind)}, which is not supported")
    fields = Fields(values, f"the model {kind!r}")
    return {"type": kind, **_MODELS[kind](fields)}


def _infer_type(values: dict[str, Any]) -> str:
    """Return the type of a model that does not state it, as in old files."""
    if "merges" in values:
        return "BPE"
    if isinstance(values.get("vocab"), list):
        return "Unigram"
    return "WordPiece" if "max_input_chars_per_word" in values else "WordLevel"


def _bpe(fields: Fields) -> dict[str, Any]:
    vocabulary = _vocabulary(fields)
    prefix = fields.text("continuing_subword_prefix", optional=True)
    fields.text("unk_token", optional=True)
    fields.text("end_of_word_suffix", optional=True)
    fields.flags("fuse_unk", "byte_fallback", "ignore_merges", optional=True)
    merges = list(_merges(fields.values.get("merges"), vocabulary, prefix))
    return {**fields.checked, "vocab": vocabulary, "merges": merges}  # without BPE dropout: encoding is deterministic


def _merges(values: Any, vocabulary: Mapping[str, int], prefix: str) -> Iterator[list[str]]:
    if not isinstance(values, list) or len(values) > MAX_MERGES:
        raise ValueError(f"its merges are not a list of at most {MAX_MERGES:,}")
    cut = len(prefix)
    for value in values:
        pair = value.split(" ") if isinstance(value, str) else value
        if isinstance(value, str) and value.startswith("#version"):
            continue
        if not isinstance(pair, list) or len(pair) != 2 or not (type(pair[0]) is type(pair[1]) is str):
            raise ValueError(f"it has the merge {shown(value)}, which is not a pair")
        left, right = pair
        if not (left in vocabulary and right in vocabulary and left + right[cut:] in vocabulary):
            raise ValueError(f"it merges {shown(left)} and {shown(right)}, which are not tokens, or make none")
        if not right.startswith(prefix):
            raise ValueError(f"it merges {shown(left)} and {shown(right)}, which does not begin with {shown(prefix)}")
        yield pair


def _word_level(fields: Fields) -> dict[str, Any]:
    fields.text("unk_token")
    return {**fields.checked, "vocab": _vocabulary(fields)}


def _word_piece(fields: Fields) -> dict[str, Any]:
    fields.text("unk_token")
    fields.text("continuing_subword_prefix")
    fields.number("max_input_chars_per_word", 1, MAX_WORD_CHARACTERS)
    return {**fields.checked, "vocab": _vocabulary(fields)}


def _unigram(fields: Fields) -> dict[str, Any]:
    entries = fields.values.get("vocab")
    if not isinstance(entries, list) or not 0 < len(entries) <= MAX_TOKENS:
        raise ValueError(f"its vocabulary is not a list of 1 to {MAX_TOKENS:,} pieces")
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 2 or not _is_score(entry[1]):
            raise ValueError(f"it has {shown(entry)} in its vocabulary, which is not a piece with a score")
        _require_token(entry[0])
    if fields.values.get("unk_id") is not None:
        fields.number("unk_id", 0, len(entries) - 1)
    fields.flags("byte_fallback", optional=True)
    return {**fields.checked, "vocab": entries}


def _is_score(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) <= MAX_SCORE


def _vocabulary(fields: Fields) -> dict[str, int]:
    """Return the ids of the tokens by token. Raises ValueError where two have the same id."""
    vocabulary = fields.values.get("vocab")
    if not isinstance(vocabulary, dict) or len(vocabulary) > MAX_TOKENS:
        raise ValueError(f"its vocabulary is not an object of at most {MAX_TOKENS:,} tokens")
    for token, id in vocabulary.items():
        _require_token(token)
        if type(id) is not int or not 0 <= id < MAX_TOKENS:
            raise ValueError(f"its token {shown(token)} has the id {shown(id)}; ids are from 0 to {MAX_TOKENS - 1:,}")
    if len(set(vocabulary.values())) < len(vocabulary):
        raise ValueError("two of its tokens have the same id")
    return vocabulary


def _require_token(token: Any) -> None:
    if not isinstance(token, str) or not is_short(token):
        raise ValueError(f"it has the token {shown(token)}, which is not a text of at most {MAX_TOKEN_BYTES:,} bytes")


_MODELS: Mapping[str, Callable[[Fields], dict[str, Any]]] = {
    "BPE": _bpe,
    "WordLevel": _word_level,
    "WordPiece": _word_piece,
    "Unigram": _unigram,
}

"""Read SentencePiece models and convert them to tokenizers that split texts in the same way.

The file is one protocol-buffer message (sentencepiece_model.proto, Kudo and Richardson 2018): the pieces with their
scores, how a text is normalised before it is cut, and how the model was trained.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import tokenizers

from headlight import tokenizer_json
from transformer.checkpoint.weights import Refused
from transformer.files import read_bytes
from transformer.tokenizers import SPACE, UNLIKELY_SCORE

MAX_FILE_BYTES = 2**24  # bytes; a model of 256,000 pieces has 5 million
MAX_PIECES = 1_000_000
MAX_PIECE_CHARACTERS = 250  # `_merges` tries every split of a piece; SentencePiece's default is 16
NONCHARACTER = "\ufffe"  # no character at all, so no model has a piece for it


class PieceType(IntEnum):
    """The type of a piece, as the file numbers it."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3  # never in a text, such as </s>
    USER_DEFINED = 4  # never cut
    UNUSED = 5
    BYTE = 6  # for a character that has no piece


class VocabularyPiece(NamedTuple):
    text: str
    score: float
    kind: PieceType


@dataclass(frozen=True)
class SentencePiece:
    """A SentencePiece model. A piece's id is its index in `pieces`."""

    pieces: tuple[VocabularyPiece, ...]
    merges: bool  # BPE, not unigram
    charsmap: bytes  # a compiled table that rewrites characters; empty for none
    begins_with_space: bool
    joins_spaces: bool  # several spaces are one, and none stands at either end
    in_bytes: bool


def read(path: Path) -> SentencePiece:
    """Read a model. Raises Refused for any other file, and for a way of cutting that is not supported."""
    try:
        content = read_bytes(path, MAX_FILE_BYTES)
    except OSError as error:
        raise Refused(f"{path.name} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise Refused(str(error)) from None
    try:
        return _model(content)
    except (ValueError, struct.error, IndexError, KeyError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused(f"{path.name} is not a complete SentencePiece model.", remedy="Copy it again.") from None


def _model(content: bytes) -> SentencePiece:
    pieces: list[VocabularyPiece] = []
    trained: dict[int, int | bytes] = {}
    normalised: dict[int, int | bytes] = {}
    for number, value in _fields(content):
        if number == 1:
            fields = dict(_fields(_bytes(value)))
            score: float = struct.unpack("<f", _bytes(fields.get(2, bytes(4))))[0]
            if not math.isfinite(score) or len(pieces) >= MAX_PIECES:
                raise ValueError("a piece without a score, or too many")
            kind = PieceType(int(fields.get(3, PieceType.NORMAL)))
            text = _bytes(fields[1]).decode("utf-8")
            if len(text) > MAX_PIECE_CHARACTERS:
                raise Refused(
                    f"The SentencePiece model has a piece of {len(text):,} characters, over {MAX_PIECE_CHARACTERS}."
                )
            pieces.append(VocabularyPiece(text, score, kind))
        elif number in (2, 3):
            (trained if number == 2 else normalised).update(_fields(_bytes(value)))
    kind_of_model = trained.get(3, 1)
    if not pieces or kind_of_model not in (1, 2):
        raise Refused(
            "The SentencePiece model cuts texts into words or characters; only unigram and BPE are supported."
        )
    if trained.get(24):
        raise Refused("The SentencePiece model marks the ends of words, not their beginnings, which is not supported.")
    if not normalised.get(5, 1):
        raise Refused("The SentencePiece model does not mark spaces, which is not supported.")
    return SentencePiece(
        tuple(pieces),
        merges=kind_of_model == 2,
        charsmap=_bytes(normalised.get(2, b"")),
        begins_with_space=bool(normalised.get(3, 1)),
        joins_spaces=bool(normalised.get(4, 1)),
        in_bytes=bool(trained.get(35, 0)),
    )


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a number where bytes are expected")
    return value


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a message: number and value, which is an integer or the raw bytes."""
    at = 0
    while at < len(content):
        key, at = _read_varint(content, at)
        wire = key & 7
        if wire == 0:
            value, at = _read_varint(content, at)
            yield key >> 3, value
            continue
        length = {1: 8, 5: 4}.get(wire)
        if wire == 2:
            length, at = _read_varint(content, at)
        if length is None or at + length > len(content):
            raise ValueError("the message ends too early, or has a group")
        yield key >> 3, content[at : at + length]
        at += length


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    """Read a varint (base 128, lowest digit first); return its value and its end."""
    if content[at] < 128:  # most are small
        return content[at], at + 1
    value = shift = 0
    while shift < 64:
        byte = content[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
    raise ValueError("a number of more than 64 bits")


def tokenizer(model: SentencePiece, ids: Mapping[str, int], unknown: str, size: int = 0) -> tokenizers.Tokenizer:
    """Return a tokenizer that splits text as the model does, with ids from `ids`, which may have more tokens."""
    own = {
        piece.text: piece
        for piece in model.pieces
        if piece.kind in (PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.BYTE)
    }
    total = max(size, max(ids.values()) + 1)
    names = {id: token for token, id in ids.items()}
    nameless = {id: f"[{id}]" for id in range(total) if id not in names}
    named = names | nameless
    tokens = [named[id] for id in range(total)] + [text for text in own if text not in ids]
    if len(set(tokens)) < len(tokens):
        raise Refused("Two tokens of the vocabulary have the same id or name.")
    try:
        inner = tokenizer_json.opened(_tokenizer_json(model, own, tokens, ids, unknown))
    except ValueError as error:
        raise Refused(f"The SentencePiece model makes no tokenizer with its vocabulary: {error}.") from None
    inner.add_special_tokens(list(nameless.values()))
    return inner


def _tokenizer_json(
    model: SentencePiece, own: Mapping[str, VocabularyPiece], tokens: list[str], ids: Mapping[str, int], unknown: str
) -> dict[str, Any]:
    rewriting, cuts = _rewriting(model), _words(own)
    characters = {character for piece in own.values() if piece.kind == PieceType.NORMAL for character in piece.text}
    foreign_tokens = [token for token in ids if token not in own and characters.isdisjoint(token)]
    if foreign_tokens:
        strange = f"[^{_escaped(sorted(characters))}]"
        wholes = [] if model.merges else [token for token in foreign_tokens if len(token) > 1]  # merges make none
        rewriting.append(_one_unknown(strange, wholes))
        cuts.append(_split({"Regex": f"{strange}+"}, "Isolated"))
    decoding = [_replace({"String": SPACE}, " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
    return {
        "model": _cutting(model, tokens, own, unknown),
        "normalizer": {"type": "Sequence", "normalizers": rewriting},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": cuts},
        "decoder": {"type": "Sequence", "decoders": decoding},
    }


def _cutting(
    model: SentencePiece, tokens: list[str], own: Mapping[str, VocabularyPiece], unknown: str
) -> dict[str, Any]:
    if model.merges:
        if any(piece.kind == PieceType.USER_DEFINED for piece in own.values()):
            raise Refused("The SentencePiece model merges pairs around user-defined symbols, which is not supported.")
        return {
            "type": "BPE",
            "vocab": {token: id for id, token in enumerate(tokens)},
            "merges": _merges(own),
            "unk_token": unknown,
            "fuse_unk": True,
            "byte_fallback": model.in_bytes,
        }
    return {
        "type": "Unigram",
        "vocab": [[token, _score(own.get(token))] for token in tokens],
        "unk_id": tokens.index(unknown),
        "byte_fallback": model.in_bytes,
    }


def _score(piece: VocabularyPiece | None) -> float:
    if piece is None:
        return UNLIKELY_SCORE
    return 0.0 if piece.kind == PieceType.USER_DEFINED else piece.score


def _merges(own: Mapping[str, VocabularyPiece]) -> list[list[str]]:
    """Return every pair of pieces that forms a piece, ordered by the score of the result, best first."""
    order = sorted((piece for piece in own.values() if piece.kind == PieceType.NORMAL), key=lambda piece: -piece.score)
    return [
        [piece.text[:cut], piece.text[cut:]]
        for piece in order
        for cut in range(1, len(piece.text))
        if piece.text[:cut] in own and piece.text[cut:] in own
    ]


def _rewriting(model: SentencePiece) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    if model.charsmap:
        table = base64.b64encode(model.charsmap).decode()
        steps.append({"type": "Precompiled", "precompiled_charsmap": table})
    if model.joins_spaces:
        steps += [_replace({"Regex": "^ +| +$"}, ""), _replace({"Regex": " {2,}"}, " ")]
    if model.begins_with_space:
        steps.append({"type": "Prepend", "prepend": SPACE})
    return [*steps, _replace({"String": " "}, SPACE)]


def _one_unknown(strange: str, wholes: Sequence[str]) -> dict[str, Any]:
    """Return the normalizer that joins consecutive unknown characters into one unknown token.

    `strange` matches one such character; a run that is one of `wholes` is left as it is.
    """
    unless = f"(?!(?:{'|'.join(map(_escaped, wholes))})(?!{strange}))" if wholes else ""
    return _replace({"Regex": f"(?<!{strange}){unless}{strange}{{2,}}"}, NONCHARACTER)


def _words(own: Mapping[str, VocabularyPiece]) -> list[dict[str, Any]]:
    """Return the steps that cut around user-defined pieces, and before spaces unless a piece contains one."""
    wholes = sorted((p.text for p in own.values() if p.kind == PieceType.USER_DEFINED), key=len, reverse=True)
    steps: list[dict[str, Any]] = []
    if wholes:
        steps.append(_split({"Regex": "|".join(map(_escaped, wholes))}, "Isolated"))
    over = any(SPACE in piece.text[1:] for piece in own.values() if piece.kind == PieceType.NORMAL)
    return steps if over else [*steps, _split({"String": SPACE}, "MergedWithNext")]


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _split(pattern: dict[str, str], behavior: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": False}


def _escaped(characters: Iterable[str]) -> str:
    return "".join(f"\\x{{{ord(character):x}}}" for character in characters)

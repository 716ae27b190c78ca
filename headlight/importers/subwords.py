"""Build tokenizers from a list of tokens with BPE codes (subword-nmt, fastBPE) or a SentencePiece model.

In the list "hel@@" is a piece whose word continues, and "lo" a piece that ends a word (Sennrich et al. 2016,
section 3.2, and the reference code, subword-nmt).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, normalizers, pre_tokenizers

from headlight import tokenizer_json
from headlight.importers import sentencepiece_file
from headlight.importers.limits import MAX_TOKENS
from transformer.checkpoint.weights import Refused
from transformer.files import MAX_JSON_BYTES, read_bytes
from transformer.tokenizers import SPACE, Tokenizer

Ids = tuple[int, int, int]  # padding, start, end
CONTINUED, END_OF_WORD = "@@", "</w>"


def lines_of(path: Path) -> list[str]:
    """Return the lines of a text file. Raises Refused for one that is too large, or is no text in UTF-8."""
    try:
        text = read_bytes(path, MAX_JSON_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(f"{path.name} is not text in UTF-8.", remedy="Save it as UTF-8.") from None
    except OSError as error:
        raise Refused(f"{path.name} cannot be read: {error.strerror}.") from None
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > MAX_TOKENS:
        raise Refused(f"{path.name} has {len(lines):,} lines; at most {MAX_TOKENS:,} are read.")
    return [line.removesuffix("\r") for line in lines]


def words(tokens: Sequence[str], specials: Sequence[str], ids: Ids, unknown: str, lowercase: bool = False) -> Tokenizer:
    """Return a tokenizer that looks up the words between spaces."""
    try:
        tokenizer = Tokenizer.of_words(tokens, *ids, unk_id=_index(tokens, unknown))
    except ValueError as error:
        raise Refused(str(error)) from None
    return _finished(tokenizer.inner, specials, ids, lowercase)


def characters(tokens: Sequence[str], specials: Sequence[str], ids: Ids, unknown: str) -> Tokenizer:
    """Return a tokenizer of single characters, in which a space is "▁"."""
    inner = words(tokens, (), ids, unknown).inner
    inner.normalizer = normalizers.Replace(" ", SPACE)
    inner.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex("."), "isolated")
    inner.decoder = decoders.Sequence([decoders.Fuse(), decoders.Replace(SPACE, " ")])
    return _finished(inner, specials, ids, False)


def merged(
    tokens: Sequence[str], codes: Path, specials: Sequence[str], ids: Ids, unknown: str, lowercase: bool = False
) -> Tokenizer:
    """Return a tokenizer that splits at spaces and cuts each word by the merges in the file `codes`.

    Pieces that the list lacks become unknown. Raises Refused for a file without merges, and for those of subword-nmt
    0.1, which marks the end of a word in another way.
    """
    _index(tokens, unknown)
    merges = _merges(codes)
    special = {*specials, unknown}
    vocabulary = {token if token in special else with_word_end(token): id for id, token in enumerate(tokens)}
    if len(vocabulary) < len(tokens):
        raise Refused("The vocabulary has the same token twice.")
    steps = {"pre_tokenizer": {"type": "WhitespaceSplit"}}
    inner = word_end_bpe(vocabulary, len(tokens), merges, codes.name, unknown, steps)
    return _finished(inner, specials, ids, lowercase, len(tokens))


def word_end_bpe(
    vocabulary: Mapping[str, int],
    size: int,
    merges: list[list[str]],
    file_name: str,
    unknown: str,
    steps: Mapping[str, Any],
) -> tokenizers.Tokenizer:
    """Return a tokenizer of merges (Sennrich et al. 2016) in which the last piece of a word ends in "</w>".

    A merge may make a piece that the vocabulary lacks: it has an id beyond the model's `size`, which is unknown.
    """
    missing = dict.fromkeys(piece for a, b in merges for piece in (a, b, a + b) if piece not in vocabulary)
    first = max(size, max(vocabulary.values()) + 1)
    tokens = {**vocabulary, **{piece: id for id, piece in enumerate(missing, first)}}
    model = {"type": "BPE", "vocab": tokens, "merges": merges, "unk_token": unknown, "end_of_word_suffix": END_OF_WORD}
    try:
        return tokenizer_json.opened(
            {**steps, "model": model, "decoder": {"type": "BPEDecoder", "suffix": END_OF_WORD}}
        )
    except ValueError as error:
        raise Refused(f"{file_name} and the vocabulary do not fit together: {error}.") from None


def pieces(tokens: Sequence[str], model: Path, specials: Sequence[str], ids: Ids, unknown: str) -> Tokenizer:
    """Return a tokenizer that cuts a text as a SentencePiece model does, into the tokens of the list."""
    _index(tokens, unknown)
    by_token = {token: id for id, token in enumerate(tokens)}
    if len(by_token) < len(tokens):
        raise Refused("The vocabulary has the same token twice.")
    inner = sentencepiece_file.tokenizer(sentencepiece_file.read(model), by_token, unknown, len(tokens))
    return _finished(inner, specials, ids, False, len(tokens))


def _finished(
    inner: tokenizers.Tokenizer, specials: Sequence[str], ids: Ids, lowercase: bool, size: int | None = None
) -> Tokenizer:
    if lowercase:
        inner.normalizer = normalizers.Lowercase()
    inner.add_special_tokens([token for token in specials if inner.token_to_id(token) is not None])
    return Tokenizer(inner, *ids, size)


def _index(tokens: Sequence[str], unknown: str) -> int:
    if unknown not in tokens:
        raise Refused(f"The vocabulary has no token {unknown[:40]}, which stands for what the model does not know.")
    return tokens.index(unknown)


def with_word_end(token: str) -> str:
    """Return the piece "hel" for the token "hel@@", whose word continues, and "lo</w>" for "lo"."""
    return token.removesuffix(CONTINUED) if token.endswith(CONTINUED) else token + END_OF_WORD


def _merges(path: Path) -> list[list[str]]:
    lines = lines_of(path)
    rows = [line.split(" ") for line in lines if line and not line.startswith("#version")]
    of_fast_bpe = all(len(row) == 3 and row[2].isdecimal() for row in rows)
    if not rows or not (of_fast_bpe or all(len(row) == 2 for row in rows)):
        raise Refused(f"{path.name} does not hold the codes of subword-nmt or fastBPE: a pair of pieces a line.")
    if not of_fast_bpe and not lines[0].startswith("#version: 0.2"):
        raise Refused(
            f"{path.name} holds codes of subword-nmt 0.1, which ends words otherwise.",
            remedy="Take the file away to type pieces, or learn the codes again with subword-nmt 0.2 or later.",
        )
    return [row[:2] for row in rows]

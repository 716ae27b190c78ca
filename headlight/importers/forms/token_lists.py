"""Vocabularies that are lists of tokens, as CTranslate2 and OpenNMT-py keep them, and the tokenizers beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import AddedToken
from torch import Tensor

from headlight.importers import sentencepiece_file, subwords
from headlight.importers.forms.hugging_face_tokenizers import WHOLE, tokenizer_file
from headlight.importers.subwords import Ids
from transformer.checkpoint.weights import Refused
from transformer.files import read_bytes
from transformer.quoting import quoted
from transformer.tokenizers import Tokenizer

NEVER_LOGIT = -10_000.0  # of a token that only we need: its probability is 0, and float16 can hold it
OPENNMT_PADDING = "<blank>"  # also what CTranslate2's converter from fairseq writes
_PADDING = ("<pad>", OPENNMT_PADDING, "[PAD]")
_PIECES = ("sentencepiece.model", "sentencepiece.bpe.model", "spiece.model", "spm.model")
CODES = "bpe.model"  # of Argos: pairs of subword-nmt, where it is no SentencePiece model
_PAIRS = (("source.spm", "target.spm"), ("source.model", "target.model"))
_EXTRA = re.compile(r"<extra_id_\d+>")  # of T5, for the gaps in a text


@dataclass(frozen=True)
class Vocabularies:
    """The tokens of both sides by our ids, which are those of the file unless padding had to be added."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    orders: tuple[tuple[int, ...] | None, tuple[int, ...] | None]  # the file's id of each of our ids, -1 for a new one
    pad_id: int

    @property
    def adds_padding(self) -> bool:
        return self.orders[1] is not None

    def id(self, side: str, token: str, role: str) -> int:
        """Return the id of a token. Raises Refused where that side, "source" or "target", has none."""
        tokens = self.source if side == "source" else self.target
        if token not in tokens:
            raise Refused(f"The {side} vocabulary has no token {quoted(token)}, which {role}.")
        return tokens.index(token)


def align_vocabularies(
    source: Sequence[str], target: Sequence[str], sizes: tuple[int, int], new_padding: bool = False
) -> Vocabularies:
    """Return the tokens of two vocabularies with as many tokens as the embeddings have rows, and one padding id.

    Padding is added where the two have none, or at different ids, or if `new_padding`.
    """
    sides = [_of_size(tokens, size) for tokens, size in zip((source, target), sizes, strict=True)]
    known = [next((tokens.index(name) for name in _PADDING if name in tokens), None) for tokens in sides]
    pad = known[0]
    if not new_padding and pad is not None and known[0] == known[1]:
        return Vocabularies(sides[0], sides[1], (None, None), pad)
    pad = min(sizes)
    name = next((name for name in _PADDING if not any(name in tokens for tokens in sides)), f"[{pad}]")
    orders = [(*range(pad), -1, *range(pad, size)) for size in sizes]
    sides = [(*tokens[:pad], name, *tokens[pad:]) for tokens in sides]
    return Vocabularies(sides[0], sides[1], (orders[0], orders[1]), pad)


def _of_size(tokens: Sequence[str], size: int) -> tuple[str, ...]:
    """Return `size` tokens; one that is missing, or there a second time, is named by its id."""
    named: dict[str, int] = {}
    for id in range(size):
        token = tokens[id] if id < len(tokens) else ""
        named[token if token and token not in named else f"[{id}]"] = id
    return tuple(named)


def reorder(tensor: Tensor, order: tuple[int, ...] | None, new: float) -> Tensor:
    """Return the rows of a tensor by our ids; those of new tokens are filled with `new`."""
    if order is None:
        return tensor
    ids = torch.tensor(order)
    rows = tensor[ids.clamp(min=0)]
    rows[ids < 0] = new
    return rows


def tokenizer_files(folders: Iterable[Path]) -> list[Path]:
    """Return the tokenizer's file, or one for each side, of the first folder that has any."""
    for folder in folders:
        pairs = [[folder / name for name in names] for names in _PAIRS]
        for paths in (*pairs, *([folder / name] for name in (WHOLE, *_PIECES, CODES))):
            if all(path.is_file() for path in paths):
                return paths
    return []


@dataclass(frozen=True)
class TokenNames:
    """The tokens that tokenizers must know: those that no text has, and those that a person may type."""

    unknown: str
    special: frozenset[str] = frozenset()
    typed: tuple[str, ...] = ()


def open_tokenizers(
    paths: Sequence[Path], vocabularies: Vocabularies, ids: Ids, names: TokenNames
) -> tuple[Tokenizer, Tokenizer]:
    """Return the source and target tokenizers, one object where they are the same.

    Without files, a tokenizer splits texts at spaces.
    """
    sides = (vocabularies.source, vocabularies.target)
    is_shared = len(paths) < 2 and sides[0] == sides[1]
    tokenizers = [
        _opened(paths[0 if side == 0 else -1], tokens, ids, names) if paths else _listed(tokens, ids, names)
        for side, tokens in enumerate(sides[: 1 if is_shared else 2])
    ]
    return tokenizers[0], tokenizers[-1]


def _listed(tokens: tuple[str, ...], ids: Ids, names: TokenNames) -> Tokenizer:
    unknown = tokens.index(names.unknown) if names.unknown in tokens else None
    try:
        return Tokenizer.of_words(tokens, *ids, unk_id=unknown)
    except ValueError as error:
        raise Refused(str(error)) from None


def _opened(path: Path, tokens: tuple[str, ...], ids: Ids, names: TokenNames) -> Tokenizer:
    numbers = {token: id for id, token in enumerate(tokens)}
    if path.name == WHOLE:
        tokenizer = tokenizer_file(path.parent, ids, len(tokens))
        assert tokenizer is not None
        for token, id in tokenizer.inner.get_vocab(with_added_tokens=True).items():
            if numbers.get(token, id) != id:
                raise Refused(
                    f"{path.name} has {quoted(token)} as id {id}, and the model's vocabulary as {numbers[token]}.",
                    remedy=f"Import the folder without {path.name}; a text is then typed as tokens.",
                )
        return tokenizer
    if path.name == CODES and not read_bytes(path, sentencepiece_file.MAX_FILE_BYTES).startswith(b"\n"):
        special = [token for token in tokens if token in names.special]
        return subwords.merged(tokens, path, special, ids, names.unknown).of_size(len(tokens))
    if names.unknown not in numbers:
        raise Refused(f"The vocabulary has no token {quoted(names.unknown)}, which stands for what it does not know.")
    inner = sentencepiece_file.tokenizer(sentencepiece_file.read(path), numbers, names.unknown, len(tokens))
    inner.add_special_tokens([token for token in tokens if token in names.special or _EXTRA.fullmatch(token)])
    inner.add_tokens([AddedToken(token, normalized=False) for token in names.typed])
    return Tokenizer(inner, *ids).of_size(len(tokens))

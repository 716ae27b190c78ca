"""Show how a tokenizer splits a word: merge by merge for byte-pair encoding (BPE), in a sentence for the others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tokenizers import models

from transformer.tokenizers import SPACE, Tokenizer


@dataclass(frozen=True)
class Merge:
    """One merge step: of all adjacent pairs, the one that was learned first becomes one piece."""

    rank: int  # of the merge among those learned, from 0; the lowest goes first
    pair: tuple[str, str]
    joined: str  # the piece that the pair becomes
    pieces: tuple[str, ...]  # the whole word after this step


@dataclass(frozen=True)
class WordSplit:
    """How a word is split, from its characters to its tokens; `pieces` are as the vocabulary spells them."""

    start: tuple[str, ...]
    merges: tuple[Merge, ...]

    @property
    def pieces(self) -> tuple[str, ...]:
        return self.merges[-1].pieces if self.merges else self.start


class Merges:
    """The merges of a BPE tokenizer. Raises ValueError for other tokenizers, with a description of how they split."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        if not has_merges(tokenizer):
            raise ValueError(f"This tokenizer has no merges. {describe_splitting(tokenizer)}")
        self._inner = tokenizer.inner
        self._content: dict[str, Any] = json.loads(tokenizer.inner.to_str())["model"]
        pairs = [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in self._content["merges"]]
        self._ranks = {pair: rank for rank, pair in enumerate(pairs)}

    def __len__(self) -> int:
        return len(self._ranks)

    def learned(self, first: int, end: int) -> list[tuple[str, ...]]:
        """Return the pairs of the merges from number `first` (from 0) to before `end`, in the order of learning."""
        return list(islice(self._ranks, first, end))

    def cut(self, text: str) -> list[WordSplit]:
        """Split each word of `text`; the tokenizer's own normaliser and pre-tokenizer separate the words."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        if self._inner.normalizer is not None:
            text = self._inner.normalizer.normalize_str(text)
        words = [text]
        if self._inner.pre_tokenizer is not None:
            words = [word for word, _ in self._inner.pre_tokenizer.pre_tokenize_str(text)]
        return [self._cut(word) for word in words if word]

    def _cut(self, word: str) -> WordSplit:
        if self._content.get("ignore_merges") and word in self._content["vocab"]:
            return WordSplit((word,), ())
        start = pieces = tuple(self._characters(word))
        steps: list[Merge] = []
        while True:
            pairs = enumerate(zip(pieces, pieces[1:], strict=False))
            candidates = [(rank, i) for i, pair in pairs if (rank := self._ranks.get(pair)) is not None]
            if not candidates:
                return WordSplit(start, tuple(steps))
            rank, i = min(candidates)  # of equal ranks the leftmost
            pair = (pieces[i], pieces[i + 1])
            joined = self._joined(pair)
            pieces = (*pieces[:i], joined, *pieces[i + 2 :])
            steps.append(Merge(rank, pair, joined, pieces))

    def _joined(self, pair: tuple[str, str]) -> str:
        return pair[0] + pair[1].removeprefix(self._content.get("continuing_subword_prefix") or "")

    def _characters(self, word: str) -> list[str]:
        """Return the pieces that merging begins with: characters; bytes or the unknown token for missing characters."""
        vocabulary, unknown = self._content["vocab"], self._content.get("unk_token")
        prefix = self._content.get("continuing_subword_prefix") or ""
        suffix = self._content.get("end_of_word_suffix") or ""
        pieces: list[str] = []
        for index, character in enumerate(word):
            piece = prefix * (index > 0) + character + suffix * (index == len(word) - 1)
            in_bytes = [f"<0x{byte:02X}>" for byte in piece.encode()]
            if piece in vocabulary:
                pieces.append(piece)
            elif self._content.get("byte_fallback") and all(name in vocabulary for name in in_bytes):
                pieces += in_bytes
            elif unknown is not None and not (self._content.get("fuse_unk") and pieces[-1:] == [unknown]):
                pieces.append(unknown)
        return pieces


def has_merges(tokenizer: Tokenizer) -> bool:
    """Return whether the tokenizer is a BPE."""
    return isinstance(tokenizer.inner.model, models.BPE)


def describe_splitting(tokenizer: Tokenizer) -> str:
    """Describe in a sentence what this tokenizer does to a text."""
    match tokenizer.inner.model:
        case models.BPE():
            return (
                "A byte-pair encoding: a word begins as single characters, and of all pairs beside each other, the one "
                "that was learned first is joined, until no pair is left that was learned."
            )
        case models.Unigram():
            return (
                "A unigram model, as in SentencePiece: every piece has a probability, and of all ways to cut a text, "
                "the most probable is taken; nothing is merged step by step."
            )
        case models.WordPiece():
            return (
                "WordPiece: from the beginning of a word, the longest piece in the vocabulary is taken, then the "
                "longest that continues it, and so on; nothing is merged step by step."
            )
    ordinary_ids = set(range(tokenizer.vocab_size)).difference(tokenizer.special_ids)
    if all(len(tokenizer.piece(id).lstrip(SPACE)) <= 1 for id in ordinary_ids):
        return "Each character is a token; one that is not in the vocabulary is unknown."
    return "Each word is a token and is never cut; a word that is not in the vocabulary is unknown."

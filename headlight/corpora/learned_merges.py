"""The merges of a byte-pair encoding (BPE) learned from a text, with the count of each pair when it was merged.

`Tokenizer.train` learns the merges, as for all of Headlight's models. Its library does not report counts, so this
module counts the pairs again in the partly merged words.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from transformer.tokenizers import MIN_TOKENS_FOR_BYTES, SPECIALS, Tokenizer
from transformer.yielding import yield_turn

MAX_LEARNED_CHARACTERS = 900  # so that all characters of a text fit into a vocabulary without bytes
MIN_FREQUENCY = 2  # of a pair that is merged, as in the tokenizers that ship
Pair = tuple[str, str]


@dataclass(frozen=True)
class LearnedMerges:
    """The merges that were learned from a text, in order, with the words and counts to replay them."""

    alphabet: tuple[str, ...]  # the characters, in the order of the vocabulary
    merges: tuple[Pair, ...]
    counts: tuple[int, ...]  # how often each pair occurred when it was merged
    sizes: tuple[int, ...]  # of the vocabulary, special tokens included: before any merge, then after each
    words: tuple[str, ...]  # of the text in order, "▁" where a space was

    def merges_within(self, vocabulary: int) -> int:
        """Return how many merges a vocabulary of this size has: the trainer stops as soon as it is full."""
        return min(bisect_left(self.sizes, vocabulary), len(self.merges))

    def pieces(self, merges: int) -> list[tuple[str, ...]]:
        """Return each word of the text as the first `merges` merges leave it."""
        splits = {word: tuple(word) for word in self.words}
        for pair in self.merges[:merges]:
            yield_turn()
            splits = {word: merged(pieces, pair) for word, pieces in splits.items()}
        return [splits[word] for word in self.words]

    def pairs(self, merges: int) -> list[tuple[Pair, int]]:
        """Return the pairs of adjacent pieces after the first `merges` merges, with counts, in the trainer's order.

        The most frequent pair comes first. Ties go to the pair whose first piece entered the vocabulary earlier, then
        to the one whose second piece did.
        """
        learned = [*self.alphabet, *("".join(pair) for pair in self.merges)]
        age = {piece: n for n, piece in reversed([*enumerate(learned)])}
        counted = count_pairs(self.pieces(merges)).items()
        return sorted(counted, key=lambda item: (-item[1], age[item[0][0]], age[item[0][1]]))


def learn_merges(text: str) -> LearnedMerges:
    """Learn a BPE from the first MAX_LEARNED_CHARACTERS characters of a text.

    Raises ValueError for a text without a character.
    """
    text = text[:MAX_LEARNED_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    tokenizer = Tokenizer.train([text], "bpe", MIN_TOKENS_FOR_BYTES - 1, MIN_FREQUENCY)
    content = json.loads(tokenizer.inner.to_str())["model"]
    learned = tuple((left, right) for left, right in content["merges"])
    joined = {left + right for left, right in learned}
    vocabulary = sorted(content["vocab"], key=content["vocab"].__getitem__)[len(SPECIALS) :]
    alphabet = tuple(piece for piece in vocabulary if piece not in joined)
    normal = tokenizer.inner.normalizer.normalize_str(text)
    words = tuple(word for word, _ in tokenizer.inner.pre_tokenizer.pre_tokenize_str(normal))
    sizes, counts, pieces = [len(SPECIALS) + len(alphabet)], [], [tuple(word) for word in words]
    distinct = {*alphabet}
    for pair in learned:
        yield_turn()
        counts.append(count_pairs(pieces)[pair])
        pieces = [merged(word, pair) for word in pieces]
        distinct.add("".join(pair))  # two merges may give the same piece
        sizes.append(len(SPECIALS) + len(distinct))
    return LearnedMerges(alphabet, learned, tuple(counts), tuple(sizes), words)


def count_pairs(words: Sequence[Sequence[str]]) -> Counter[Pair]:
    """Count the pairs of adjacent pieces; in "aaa" the pair of two "a" occurs twice."""
    return Counter(pair for word in words for pair in zip(word, word[1:], strict=False))


def merged(pieces: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    """Return the pieces with every occurrence of the pair joined, from left to right."""
    joined: list[str] = []
    at = 0
    while at < len(pieces):
        is_pair = pieces[at : at + 2] == pair
        joined.append(pieces[at] + pieces[at + 1] if is_pair else pieces[at])
        at += 1 + is_pair
    return tuple(joined)

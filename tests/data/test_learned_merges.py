"""A BPE of a typed text, against a naive learner that counts all pairs again before each merge."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headlight.corpora.learned_merges import MAX_LEARNED_CHARACTERS, LearnedMerges, learn_merges
from transformer.tokenizers import SPECIALS, Tokenizer

SENNRICH = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
ALPHABETS = [
    "ab", "abc  ", "aAäà\u0300\u0301 .,", "नमस्ते दुनिया ", "👩\u200d👩\u200d👧😀🇩🇪 ", "שלום عليكم \u202e",
    "日本語 \ue000\x00\t▁",
]


def naive(words: tuple[str, ...], alphabet: list[str], most: int) -> tuple[list[tuple[str, str]], list[int]]:
    """Merge the most frequent pair until none occurs twice; of equals the one with the lowest ids in the vocabulary."""
    vocabulary, lists = list(alphabet), [list(word) for word in words]
    pairs: list[tuple[str, str]] = []
    times: list[int] = []
    while len(vocabulary) < most:
        counted: dict[tuple[str, str], int] = defaultdict(int)
        for word in lists:
            for i in range(len(word) - 1):
                counted[word[i], word[i + 1]] += 1
        if not counted or max(counted.values()) < 2:
            break
        best = min(counted, key=lambda p: (-counted[p], vocabulary.index(p[0]), vocabulary.index(p[1])))
        pairs.append(best)
        times.append(counted[best])
        if "".join(best) not in vocabulary:
            vocabulary.append("".join(best))
        for word in lists:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = ["".join(best)]
                i += 1
    return pairs, times


def agrees(text: str) -> LearnedMerges:
    learned = learn_merges(text)
    characters = sorted({c for word in learned.words for c in word})
    assert list(learned.alphabet) == characters
    pairs, times = naive(learned.words, characters, 999 - len(SPECIALS))
    assert list(learned.merges) == pairs and list(learned.counts) == times
    for n, pair in enumerate(pairs):
        first, count = learned.pairs(n)[0]
        assert (first, count) == (pair, times[n])
    assert all(count < 2 for _, count in learned.pairs(len(pairs)))
    assert ["".join(pieces) for pieces in learned.pieces(len(pairs))] == list(learned.words)
    return learned


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_every_merge_is_that_of_a_naive_learner(alphabet: str) -> None:
    draw = random.Random(alphabet)
    for length in (1, 7, 40, 250):
        for _ in range(6):
            text = "".join(draw.choices(alphabet, k=length))
            if text.replace("▁", " ").split():
                agrees(text)


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1, max_size=80))
@example("aaaa aaaa aaaaa")
@example("abab ababab")
@example("ab abc bc abc")
@example("\ud800\udc00 half \ud800 \ud800")
def test_any_text_is_learned_as_a_naive_learner_does(text: str) -> None:
    try:
        agrees(text)
    except ValueError as error:
        assert "no text to learn a tokenizer from" in str(error)


def test_the_textbook_example() -> None:
    """Sennrich et al. (2016), with "▁" before a word in place of a mark after it: counted by hand."""
    learned = agrees(SENNRICH)
    assert learned.merges[:3] == (("e", "s"), ("es", "t"), ("l", "o")) and learned.counts[:3] == (9, 9, 7)
    assert learned.pairs(0)[:3] == [(("e", "s"), 9), (("s", "t"), 9), (("w", "e"), 8)]
    assert learned.pieces(2)[-1] == ("▁", "w", "i", "d", "est")


@pytest.mark.parametrize("text", [SENNRICH, "ab abc bc abc xabc bcx abx " * 5, "aaaa aaaa aaa"])
def test_a_vocabulary_of_each_size_is_the_trainers(text: str) -> None:
    learned = learn_merges(text)
    for size in range(learned.sizes[0], learned.sizes[-1] + 1):
        tokenizer = Tokenizer.train([text], "bpe", size)
        count = learned.merges_within(size)
        assert tokenizer.vocab_size == learned.sizes[count] == size
        split = [tokenizer.piece(id) for id in tokenizer.encode(text)]
        assert split == [piece for word in learned.pieces(count) for piece in word]
    assert learned.merges_within(10_000) == len(learned.merges)


def test_a_long_text_is_cut_and_an_empty_one_refused() -> None:
    many = "".join(chr(0x4E00 + n) for n in range(MAX_LEARNED_CHARACTERS + 50))
    assert len(learn_merges(many).alphabet) == MAX_LEARNED_CHARACTERS + 1  # and "▁"
    for text in ("", "  \n ", "▁"):
        with pytest.raises(ValueError, match="no text to learn a tokenizer from"):
            learn_merges(text)

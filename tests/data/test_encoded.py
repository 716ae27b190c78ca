import pytest

from headlight.corpora.corpora import Encoded, Pair, Pairs
from transformer.tokenizers import EOS, SOS, Tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(["abcdefghij"], "characters", 50)


def test_examples_stand_between_special_tokens(tokenizer: Tokenizer) -> None:
    corpus = Encoded(Pairs("x", [Pair(1, "abc", "ba")]), tokenizer, tokenizer, 10)
    source, target = tokenizer.encode("abc"), tokenizer.encode("ba")
    assert list(corpus) == list(corpus) == [(source + [EOS], [SOS] + target + [EOS])]


def test_pairs_over_the_limit_are_reported_by_line_with_the_corpus_own(tokenizer: Tokenizer) -> None:
    """The model has 5 positions: 4 tokens and [EOS] for the encoder, [SOS] and 4 tokens for the decoder."""
    pairs = [
        Pair(1, "abcd", "abcd"), Pair(2, "abcde", "a"), Pair(3, " ", "a"), Pair(4, "a", "abcde"), Pair(5, "▁", "a"),
    ]  # fmt: skip
    corpus = Encoded(Pairs("x", pairs), tokenizer, tokenizer, 5)
    [(source, target)] = corpus
    assert len(source) == len(target[:-1]) == len(target[1:]) == 5
    assert corpus.report.first == [(2, "over 5 tokens"), (3, "empty source"), (4, "over 5 tokens"), (5, "empty source")]
    assert (corpus.report.read, corpus.report.accepted) == (5, 1)


def test_chunks_lose_nothing(tokenizer: Tokenizer) -> None:
    letters = "abcdefghij"
    pairs = [Pair(line, letters[line % 10], letters[line % 7]) for line in range(1, 2502)]
    corpus = Encoded(Pairs("x", pairs), tokenizer, tokenizer, 5)
    decoded = [(tokenizer.decode(source), tokenizer.decode(target)) for source, target in corpus]
    assert decoded == [pair[1:3] for pair in pairs]
    assert corpus.report.accepted == 2501


def test_each_side_has_its_own_tokenizer(tokenizer: Tokenizer) -> None:
    words = Tokenizer.train(["zwei Worte"], "words", 50, min_frequency=1)
    [(source, target)] = Encoded(Pairs("x", [Pair(1, "ab", "zwei Worte")]), tokenizer, words, 10)
    assert (tokenizer.decode(source), words.decode(target)) == ("ab", "zwei Worte")

import pytest

from headlight.corpora import preview as module
from headlight.corpora.corpora import Pair, Pairs
from headlight.corpora.preview import preview
from transformer.tokenizers import Tokenizer

LETTERS = "abcdefghij"


def corpus(count: int = 200) -> Pairs:
    """Return pairs of letters; every tenth pair, from which the preview's tokenizer does not learn, has one more."""
    rows = []
    for n in range(count):
        word = LETTERS[n % 10] * 3 + ("z" if n % 10 == 9 else "")
        rows.append(Pair(n + 1, word, word[0]))
    return Pairs("letters", rows)


def test_lengths_are_those_that_the_model_would_see() -> None:
    summary = preview(corpus(), "characters", 50)
    tokenizer = Tokenizer.train((text for pair in corpus() for text in pair[1:3]), "characters", 50)
    assert summary.source.lengths == [len(tokenizer.encode(pair.source)) + 1 for pair in corpus()]
    assert summary.target.lengths == [2] * 200
    assert [pair.line for pair in summary.pairs] == list(range(1, 11))
    assert summary.complete and summary.report.accepted == 200 and summary.tokens == 400


def test_coverage_is_measured_on_pairs_that_were_not_learned_from() -> None:
    """Neither letter of "jjjz" was seen: both occur only in every tenth pair."""
    summary = preview(corpus(), "characters", 50, separate=True)
    assert summary.source.covered == 0.0 and summary.target.covered == 0.0
    again = preview(Pairs("same", [Pair(n, "ab", "ba") for n in range(1, 101)]), "characters", 50)
    assert again.source.covered == again.target.covered == 1.0


def test_a_small_vocabulary_covers_less() -> None:
    rows = [Pair(n, f"the word{n % 9}", "x") for n in range(1, 301)]
    shares = [preview(Pairs("w", rows), "words", size, separate=True).source.covered for size in (5, 8, 50)]
    assert shares[0] == 0.5 < shares[1] < shares[2] == 1.0


def test_rejected_lines_come_with_their_reasons() -> None:
    rows = [Pair(1, "a", "b"), Pair(2, "", "b"), Pair(3, "a", " "), Pair(4, "c", "d")]
    summary = preview(Pairs("x", rows), "characters", 50)
    assert summary.report.first == [(2, "empty source"), (3, "empty target")]
    assert summary.report.accepted == len(summary.source.lengths) == 2


def test_a_corpus_without_pairs_is_refused_with_its_report() -> None:
    with pytest.raises(ValueError, match="no pair to train on.*2 rejected"):
        preview(Pairs("x", [Pair(1, "", "a"), Pair(2, "", "b")]))


def test_of_a_large_corpus_only_the_start_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PREVIEW_ROWS", 100)
    monkeypatch.setattr(module, "SAMPLE_PAIRS", 40)
    summary = preview(corpus(), "characters", 50)
    assert not summary.complete and summary.report.read == summary.report.accepted == 100
    assert len(summary.source.lengths) == 40
    assert summary.tokens == 200

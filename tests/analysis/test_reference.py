"""A reference read token by token against a full pass, and sentence scores against counting by hand."""

import math
from collections import Counter

import pytest
import torch

from headlight.analysis.reference import bleu_parts, branching, read_reference, similarity
from tests.analysis.conftest import SRC, TGT
from transformer.model import Transformer


def test_each_token_has_the_probability_of_a_full_pass(model: Transformer) -> None:
    with torch.no_grad():
        log_probs = model(torch.tensor([SRC]), torch.tensor([TGT[:-1]]))[0].log_softmax(-1)
    read = read_reference(model, SRC, TGT[1:])
    assert [token.id for token in read] == TGT[1:]
    for token, row in zip(read, log_probs, strict=True):
        assert token.log_prob == pytest.approx(float(row[token.id]), abs=1e-5)
        assert token.rank == sorted(row.tolist(), reverse=True).index(float(row[token.id])) + 1
        assert token.likeliest == int(row.argmax())
        assert token.likeliest_log_prob == pytest.approx(float(row.max()), abs=1e-5)


def test_a_reference_that_cannot_be_read_is_refused(model: Transformer) -> None:
    with pytest.raises(ValueError, match="no target token"):
        read_reference(model, SRC, [999, 3])


def test_the_scores_of_a_sentence() -> None:
    same = similarity("the cat sat on the mat .", "the cat sat on the mat .")
    assert (same.bleu, same.chrf) == (pytest.approx(100), pytest.approx(100))
    assert "eff:yes" in same.signature
    # Two words: one of two matches, and no pair does, so sacreBLEU's smoothing counts it as half of one of one.
    half = similarity("good cat", "good dog")
    assert half.bleu == pytest.approx(100 * math.sqrt(1 / 2 * 1 / 2))
    assert 0 < half.chrf < 100
    assert similarity("", "good dog").bleu == 0


@pytest.mark.parametrize(
    ("before", "after", "shared", "gone", "new"),
    [
        ([1, 2, 3], [1, 2, 3], 3, [0, 0, 0], [0, 0, 0]),
        ([1, 2, 3, 9], [1, 5, 3, 9], 1, [0, 1, 0, 0], [0, 1, 0, 0]),
        ([1, 2, 3, 9], [1, 5, 6, 2, 3, 9], 1, [0, 0, 0, 0], [0, 1, 1, 0, 0, 0]),
        ([1, 2], [1, 2, 9], 2, [0, 0], [0, 0, 1]),
        ([1], [2], 0, [1], [1]),
        ([], [4], 0, [], [1]),
    ],
)
def test_where_two_sentences_part(
    before: list[int], after: list[int], shared: int, gone: list[int], new: list[int]
) -> None:
    difference = branching(before, after)
    assert difference.shared == shared
    assert difference.before_differs == [bool(x) for x in gone]
    assert difference.after_differs == [bool(x) for x in new]


@pytest.mark.parametrize(
    ("output", "reference"),
    [("the cat sat on the mat", "the cat is on the mat"), ("a small cat sat down", "a small cat sat down here today")],
)
def test_bleu_is_counted_by_hand(output: str, reference: str) -> None:
    parts, words, right = bleu_parts(output, reference), output.split(), reference.split()
    shares, halved = [], 1.0
    for n in range(1, 5):
        ours, theirs = (Counter(zip(*[w[i:] for i in range(n)], strict=False)) for w in (words, right))
        matches = sum((ours & theirs).values())
        assert (parts.matches[n - 1], parts.totals[n - 1]) == (matches, sum(ours.values()))
        halved = halved if matches else halved / 2
        shares.append((matches or halved) / sum(ours.values()))
    brevity = min(1.0, math.exp(1 - len(right) / len(words)))
    assert parts.brevity == pytest.approx(brevity)
    assert parts.score == pytest.approx(100 * brevity * math.prod(shares) ** 0.25)
    assert parts.score == similarity(output, reference).bleu

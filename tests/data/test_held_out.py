"""Pairs to validate on that are not trained on. (What `hold_out` holds out is tested in test_corpora.py.)"""

from __future__ import annotations

import pytest

from headlight.corpora.corpora import hold_out
from headlight.corpora.held_out import IN_TRAINING, held_out_count, separate
from headlight.corpora.pairs import Pair, Pairs, Rejected


def pairs(name: str, *texts: tuple[str, str]) -> Pairs:
    return Pairs(name, [Pair(line, *both) for line, both in enumerate(texts, 1)])


def test_what_is_trained_on_is_not_validated_on() -> None:
    trained = pairs("train", ("one", "un"), ("two", "deux"), (" two ", "deux "), ("three", "trois"))
    train, validation = separate(trained, pairs("valid", ("two", "deux"), ("two", "2"), ("four", "quatre")))
    assert list(train) == list(trained)
    assert [pair.target for pair in validation] == ["2", "quatre"]
    assert validation.report.first == [Rejected(1, IN_TRAINING)] and validation.report.accepted == 2
    assert list(train) == list(trained) and len(list(validation)) == 2  # again and again


def test_corpora_that_share_nothing_stay_whole() -> None:
    train, validation = separate(pairs("train", ("one", "un")), pairs("valid", ("two", "deux")))
    assert len(list(train)) == len(list(validation)) == 1 and not validation.report.rejected


@pytest.mark.parametrize("count", [2, 49, 50, 99, 100, 350])
def test_how_many_will_be_held_out_is_known_before(count: int) -> None:
    corpus = pairs("all", *((str(number), "x") for number in range(count)))
    assert len(list(hold_out(corpus)[1] or ())) == held_out_count(count)

"""Whether a sentence is like those that a model was trained on: the threshold, and both its sides."""

from __future__ import annotations

import math

import pytest

from headlight.analysis.typical import FEWEST, SHARE, lowest, threshold_of, unlike


def test_the_threshold_leaves_its_share_of_the_held_out_sentences_below() -> None:
    scores = [-n / 1000 for n in range(1000)]
    threshold = lowest({"captions": scores})
    assert sum(value < threshold for value in scores) == round(SHARE * 1000)


def test_of_several_kinds_none_has_more_than_its_share_below() -> None:
    kinds = {"easy": [-n / 10_000 for n in range(1000)], "hard": [-1 - n / 1000 for n in range(FEWEST)]}
    threshold = lowest(kinds)
    assert threshold == lowest({"hard": kinds["hard"]}) < min(kinds["easy"])
    assert all(sum(value < threshold for value in scores) <= SHARE * len(scores) for scores in kinds.values())


def test_too_few_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="captions has 199 held-out sentences; at least 200 are needed"):
        lowest({"everyday": [-1.0] * FEWEST, "captions": [-1.0] * (FEWEST - 1)})
    with pytest.raises(ValueError, match="no held-out sentences"):
        lowest({})


def test_both_sides() -> None:
    card = {"typical": {"log_prob_per_token": -0.5}}
    assert unlike(card, -0.51)
    assert not unlike(card, -0.5) and not unlike(card, -0.1)


@pytest.mark.parametrize(
    "card",
    [
        {},
        {"typical": None},
        {"typical": -0.5},
        {"typical": {}},
        *({"typical": {"log_prob_per_token": value}} for value in ("-0.5", None, True, [], 0.5, math.nan, -math.inf)),
    ],
)
def test_a_card_that_says_nothing_sensible_has_no_threshold(card: dict[str, object]) -> None:
    assert threshold_of(card) is None
    assert not unlike(card, -1000.0)

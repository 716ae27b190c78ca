"""The measures that compare with gold by hand, and the spread of any measure over sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from headlight.analysis.atlas import rank_correlation
from headlight.analysis.atlas.measuring import chances
from headlight.analysis.atlas.spread import Sums
from headlight.analysis.measures import MEASURES, Context, Pronouns, Targets, compute


def values_of(rows: Sequence[Sequence[float]], context: Context) -> dict[str, float]:
    measured = compute(torch.tensor(rows)[None, None], context, MEASURES.values())
    return {name: float(values[0, 0]) for name, (values, _) in measured.items()}


def test_alignment_and_antecedent_of_constructed_patterns() -> None:
    # Three rows write words 0, 0, 1; keys 0 and 1 are word 0, key 2 is word 1, key 3 is special.
    words = torch.tensor([[[1.0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]]])
    rows = torch.tensor([[[1.0, 1, 0], [0, 0, 1]]])
    right = torch.eye(2, 6, dtype=torch.bool)[None]
    pronouns = Pronouns(
        torch.tensor([0]),
        torch.tensor([[0.0, 0, 1]]),
        torch.tensor([[False, True, False, False, False, False]]),
        torch.tensor([[True, True, False, False, False, False]]),
        torch.tensor([[1.0, 0.0]]),
    )
    targets = Targets(rows, right)
    # One sentence without padding, whose last key is special.
    visible, special = torch.ones(1, 3, 4, dtype=torch.bool), torch.tensor([[0.0, 0, 0, 1]])
    context = Context(torch.ones(1, 3, dtype=torch.bool), visible, special, None, words, targets, targets, pronouns)
    # Word 0 of the target gives its parts .3 + .3 and .5 to word 1; word 1 gives most to the special key.
    pattern = [[0.3, 0.3, 0.4, 0.0], [0.3, 0.3, 0.4, 0.0], [0.1, 0.0, 0.3, 0.6]]
    by_name = values_of(pattern, context)
    assert by_name["alignment"] == 0.5  # one of two: a special token that is looked at most is an error
    assert by_name["alignment_error"] == 0  # special tokens aside, both words are linked to theirs
    assert by_name["antecedent"] == 0  # the special key has more than the right word
    assert by_name["among_words"] == 1  # of the two words, .3 is more than .1
    by_chance = {name: float(values[0, 0]) for name, (values, _) in chances(context).items()}
    assert by_chance["alignment"] == pytest.approx(2 / 3) and "antecedent" not in by_chance
    assert by_chance["alignment_error"] == pytest.approx(1 - 2 * 1 / 4)  # one of two links is right, of two known ones
    assert by_chance["nearest noun"] == 1 and by_chance["first noun"] == 0
    assert by_chance["entropy"] == pytest.approx(2) and by_chance["special"] == pytest.approx(0.25)


    # Word 1 is linked to word 0, too: one of two links is right, of two known ones. Without weight, nothing is linked.
    assert values_of([*pattern[:2], [0.5, 0.0, 0.3, 0.2]], context)["alignment_error"] == 0.5
    assert np.isnan(values_of([[0.0] * 4] * 3, context)["alignment_error"])
    assert values_of([[0.0] * 4] * 2 + [[0.0, 0.0, 1.0, 0.0]], context)["alignment_error"] == pytest.approx(1 / 3)
    estimated = replace(targets, estimated=True)
    assert "alignment_error" not in values_of(pattern, replace(context, writes=estimated, reads=estimated))


def test_rank_correlation() -> None:
    effect = np.array([0.1, 2.0, 0.5, 0.7])
    assert rank_correlation(np.array([1.0, 9, 2, 3]), effect) == 1
    assert rank_correlation(np.array([9.0, 1, 3, 2]), effect) == pytest.approx(-1)
    assert np.isnan(rank_correlation(np.ones(4), effect))
    # Two are tied: ranks 1.5 1.5 3 4 and 1 4 2 3, whose correlation by Pearson's formula is 0.316...
    tied = rank_correlation(np.array([[1.0, 1, 2, 3]]), effect)
    expected = np.corrcoef([1.5, 1.5, 3, 4], [1, 4, 2, 3])[0, 1]
    assert tied == pytest.approx([expected])


def test_spread_is_mean_deviation_and_count_and_knows_the_ends() -> None:
    sums = Sums((1, 2))
    values = np.array([[0.1, np.nan], [0.4, 0.5], [0.9, np.nan]])
    sums.add(0, values, np.array([1, 2, 1]), np.array([7, 3, 5]), np.array([9, 9, 9]))
    spread = sums.spread()
    assert spread.mean[0] == pytest.approx([(0.1 + 2 * 0.4 + 0.9) / 4, 0.5])
    assert spread.deviation[0, 0] == pytest.approx(np.std([0.1, 0.4, 0.9], ddof=1), abs=1e-6)
    assert spread.sentences.tolist() == [[3, 1]] and spread.units.tolist() == [[4, 2]]
    assert spread.most.tolist() == [[5, 3]] and spread.least.tolist() == [[7, 3]]
    np.testing.assert_allclose(spread.largest, [[0.9, 0.5]], atol=1e-6)
    np.testing.assert_allclose(spread.smallest, [[0.1, 0.5]], atol=1e-6)


def test_the_spread_of_small_numbers_is_no_rounding_and_parts_of_it_add_up_exactly() -> None:
    """As importance has them, beside distances of large ones."""
    rng = np.random.default_rng(0)
    values = np.stack([rng.normal(0, 1e-5, 600), 500 + rng.normal(0, 1, 600)], 1)
    one, halves = np.ones(600, np.int64), (slice(0, 250), slice(250, 600))
    whole, together = Sums((1, 2), 10_000), Sums((1, 2), 10_000)
    whole.add(0, values, one, np.arange(600), 9 * one)
    for part in halves:
        other = Sums((1, 2), 10_000)
        other.add(0, values[part], one[part], np.arange(600)[part], 9 * one[part])
        together.join(other.parts, other.most)
    np.testing.assert_allclose(whole.spread().deviation[0], values.std(0, ddof=1), rtol=1e-2)
    assert (whole.parts == together.parts).all() and (whole.most == together.most).all()


def test_the_ends_of_small_numbers_are_found_by_finer_steps() -> None:
    ends = []
    for steps in (100, 10_000):
        sums = Sums((1, 1), steps)
        sums.add(0, np.array([[0.001], [0.002], [-0.001]]), np.ones(3, np.int64), np.arange(3), np.array([9, 8, 7]))
        ends.append((sums.spread().most[0, 0], sums.spread().least[0, 0]))
    assert ends == [(0, 0), (1, 2)]  # in steps of two digits they agree, and the longest is taken

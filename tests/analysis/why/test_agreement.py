"""All measures together, how they are compared, and which tokens of two sentences belong together."""

from __future__ import annotations

import numpy as np
import pytest

from headlight.analysis import why
from headlight.analysis.combine import rollout_source
from headlight.corpora.grammars.english_french.reasons import swaps
from tests.small import TEXTS, small_t5_checkpoint, small_translator
from transformer import Translator

pytestmark = pytest.mark.device

TIRED = "The animal didn't cross the street because it was too tired."


@pytest.mark.parametrize("family", ["pre-norm", "T5"])
def test_each_measure_is_the_one_that_its_own_function_gives(family: str) -> None:
    translator = small_translator() if family == "pre-norm" else Translator(small_t5_checkpoint())
    trace = translator.trace(TEXTS[0], TEXTS[0])
    source, target = trace.source.ids, trace.target.ids
    found = why.measured(translator.model, source, target)
    assert np.array_equal(found.left_out, why.leave_one_out(translator.model, source, target))
    expected = {
        why.ALTI: why.contributions(translator.model, source, target),
        "value zeroing": why.value_zeroing(translator.model, source, target),
        "raw attention": (trace.cross.mean((0, 1)), trace.decoder.mean((0, 1))),
        "rollout": [one[-1] for one in rollout_source(trace.encoder, trace.decoder, trace.cross)],
    }
    for name, sides in expected.items():
        for shown, other in zip(found.by_measure[name], sides, strict=True):
            assert shown == pytest.approx(other, abs=1e-6), name
    gradient = why.gradient_times_input(translator.model, source, target, 3)
    assert found.by_measure["gradient × input"].source[3] == pytest.approx(np.abs(gradient.source))
    assert found.by_measure["gradient × input"].prefix[3, :4] == pytest.approx(np.abs(gradient.prefix))


@pytest.mark.slow
def test_integrated_gradients_count_by_their_size_at_every_step() -> None:
    translator = small_translator()
    source, target = translator.encode(TEXTS[1]), translator.encode_target(TEXTS[0])
    found = why.with_integrated(
        why.measured(translator.model, source, target), why.integrated_steps(translator.model, source, target)
    )
    rows = found.by_measure[why.INTEGRATED]
    for step in range(len(target) - 1):
        alone = why.integrated_gradients(translator.model, source, target, step)
        assert rows.source[step] == pytest.approx(np.abs(alone.source), abs=1e-6)
        assert rows.prefix[step] == pytest.approx(np.pad(np.abs(alone.prefix), (0, len(target) - 2 - step)), abs=1e-6)
        assert why.correlations(found)[why.INTEGRATED][step] == pytest.approx(
            why.rank_correlation(np.abs(alone.source), np.abs(found.left_out[step])), abs=1e-6
        )


def test_what_speaks_against_a_token_counts_by_its_size_unless_signs_are_asked_for() -> None:
    left_out = np.array([[0.1, 0.2, -0.3], [3.0, -2.0, 1.0]])
    sizes = np.abs(left_out)
    same, reverse, none = (why.Contributions(values, values) for values in (sizes, -sizes, np.ones((2, 3))))
    measured = why.MeasuredOrigins({"none": none, "reverse": reverse, "same": same}, left_out)
    found = why.agreements(measured)
    assert found["same"] == pytest.approx((1.0, 0.0, 2, 1.0, 1.0)) and found["reverse"].mean == pytest.approx(-1)
    assert np.isnan(found["none"].mean) and found["none"].over == 0
    assert why.agreements(measured, signed=True)["same"].mean == pytest.approx((-0.5 + 0.5) / 2)


def test_intervals_cover_the_mean_and_close_measures_are_not_ranked() -> None:
    chance = np.random.default_rng(1)
    base = chance.normal(0.5, 0.1, 60)
    each = {"best": base.tolist(), "close": (base + chance.normal(0, 0.1, 60)).tolist(), "worse": (base - 0.2).tolist()}
    found = why.summed_up(each)
    error = 0.1 / np.sqrt(60)  # the standard error, by which a normal interval is 1.96 wide to each side
    assert found["best"].high - found["best"].low == pytest.approx(2 * 1.96 * error, rel=0.35)
    best, close = why.close_to_best(each)
    assert {best, *close} == {"best", "close"}


@pytest.mark.parametrize(
    ("source", "corrupted", "pairs"),
    [
        ([1, 2, 3], [1, 9, 3], [(0, 0), (1, 1), (2, 2)]),
        ([1, 2, 3, 4], [1, 9, 2, 3, 4], [(0, 0), (1, 2), (2, 3), (3, 4)]),  # one more
        ([1, 2, 3, 4, 5], [1, 9, 4, 5], [(0, 0), (3, 2), (4, 3)]),  # two for one: neither has a partner
        ([1, 2, 3, 4], [1, 8, 3], [(0, 0), (1, 1), (2, 2)]),  # one for one, and one less
    ],
)
def test_tokens_belong_together(source: list[int], corrupted: list[int], pairs: list[tuple[int, int]]) -> None:
    assert why.partners(source, corrupted) == pairs


def test_minimal_pairs_change_what_it_is_and_nothing_else() -> None:
    offered = swaps(TIRED)
    assert offered[0] == TIRED.replace("tired", "wide") and TIRED not in offered
    assert TIRED in swaps(TIRED.replace("tired", "wide"))
    assert all(text.startswith(TIRED[: -len("tired.")]) and text.endswith(".") for text in offered)
    for none in ("", "The animal was tired.", "It slept because it was purple.", "tired because"):
        assert swaps(none) == []

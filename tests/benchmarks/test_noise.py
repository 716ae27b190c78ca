"""Whether a ratio is outside the noise, on times that are made up."""

import json

import numpy as np
import pytest

from benchmarks import measure
from benchmarks.measure import LONGER, MIN_ROUNDS, aim_text, ratio_text, ratios


def noise(rounds: int, seed: int, size: float = 0.1) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(0, size, rounds))


def test_a_clear_ratio_is_outside_the_noise_both_ways() -> None:
    ours, theirs = 1.5 * noise(9, 0), noise(9, 1)
    faster, slower = ratios(ours, theirs), ratios(theirs, ours)
    assert (faster["verdict"], slower["verdict"]) == ("faster", "slower")
    low, high = faster["interval"]
    assert faster["least"] <= low < 1.5 < high <= faster["most"] and low <= faster["median"] <= high
    assert ratios(ours, theirs, LONGER)["verdict"] == "longer" and ratios(theirs, ours, LONGER)["verdict"] == "shorter"
    assert json.loads(json.dumps(faster)) == faster  # as it is kept


@pytest.mark.parametrize("rounds", [MIN_ROUNDS, 9, 20])
def test_of_what_is_alike_few_are_called_different(monkeypatch: pytest.MonkeyPatch, rounds: int) -> None:
    monkeypatch.setattr(measure, "RESAMPLES", 500)
    pairs = [(noise(rounds, 2 * n), noise(rounds, 2 * n + 1)) for n in range(200)]
    wrong = sum(ratios(*pair)["verdict"] != "within the noise" for pair in pairs)
    assert wrong <= 0.15 * len(pairs)


def test_a_machine_that_becomes_slower_hides_nothing() -> None:
    """To a third of its speed, during the run: more than what the contestants differ by."""
    drift = np.geomspace(1, 3, 9)
    ours, theirs = 1.0 * drift * noise(9, 0, 0.02), 1.2 * drift * noise(9, 1, 0.02)
    longer = ratios(theirs, ours, LONGER)
    assert longer["verdict"] == "longer" and longer["interval"][0] > 1.15 and longer["interval"][1] < 1.25
    unpaired = ratios(np.random.default_rng(3).permutation(theirs), ours, LONGER)
    assert unpaired["verdict"] == "within the noise"


def test_few_rounds_say_nothing_however_clear() -> None:
    few = ratios([2.0] * (MIN_ROUNDS - 1), [1.0] * (MIN_ROUNDS - 1))
    assert few["verdict"] == "too few rounds" and few["interval"] is None
    assert ratio_text(few) == "2.00 (2.00 to 2.00); too few rounds"
    assert ratios([2.0] * MIN_ROUNDS, [1.0] * MIN_ROUNDS)["verdict"] == "faster"


def test_an_aim_within_the_interval_is_not_reached_or_missed_for_certain() -> None:
    one = {"median": 1.15, "least": 0.98, "most": 12.34, "interval": [1.02, 1.26], "verdict": "faster"}
    assert ratio_text(one) == "1.15 (0.98 to 12.3); faster, 1.02 to 1.26"
    assert aim_text(one, 1.0) == "1: reached" and aim_text(one, 1.3) == "1.3: missed"
    assert aim_text(one, 1.2) == "1.2: missed, within the noise"
    assert aim_text(one, 1.2, at_most=True) == "1.2: reached, within the noise"
    assert aim_text(one, None) == ""
    assert aim_text({**one, "interval": None}, 1.2) == "1.2: missed"

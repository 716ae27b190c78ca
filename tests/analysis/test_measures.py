"""Measures of patterns whose answer is known by hand."""

import math

import numpy as np
import pytest

from headlight.analysis import MEASURES, measure
from headlight.analysis.combine import normalise

N = 8


def causal_mask(n: int = N) -> np.ndarray:
    return np.triu(np.ones((n, n), dtype=bool), 1)


IDENTITY = np.eye(N)
UNIFORM = np.full((N, N), 1 / N)
SHIFTED = np.eye(N, k=-1) + np.eye(N)[:, :1] @ np.eye(N)[:1]  # each row at the one before, the first at itself
FIRST = np.zeros((N, N)) + np.eye(N)[0]
CAUSAL = normalise(np.tril(np.ones((N, N))))

# by hand: the mean over i and j of |i - j|, and over i of the mean distance to those not later, i / 2
UNIFORM_DISTANCE = (N * N - 1) / (3 * N)
CAUSAL_DISTANCE = (N - 1) / 4
CAUSAL_ENTROPY = sum(math.log2(i + 1) for i in range(N)) / N
CAUSAL_DIAGONAL = sum(1 / (i + 1) for i in range(N)) / N
CAUSAL_PREVIOUS = sum(1 / (i + 1) for i in range(1, N)) / (N - 1)

KNOWN = {
    "identity": (IDENTITY, 0, 0, 1, 0),
    "uniform": (UNIFORM, 3, UNIFORM_DISTANCE, 1 / N, 1 / N),
    "shifted": (SHIFTED, 0, (N - 1) / N, 1 / N, 1),
    "first": (FIRST, 0, (N - 1) / 2, 1 / N, 1 / (N - 1)),
    "causal": (CAUSAL, CAUSAL_ENTROPY, CAUSAL_DISTANCE, CAUSAL_DIAGONAL, CAUSAL_PREVIOUS),
}


OF_WEIGHTS = [name for name, one in MEASURES.items() if one.of_weights]


def measured(
    pattern: np.ndarray, masked: np.ndarray | None = None, special: np.ndarray | None = None
) -> dict[str, float]:
    """Return every measure of one head; the last key but one is punctuation."""
    queries, keys = pattern.shape
    masked = np.zeros((queries, keys), bool) if masked is None else masked
    special = np.zeros(keys, bool) if special is None else special
    values = measure(pattern[None, None], masked, special, np.arange(keys) == keys - 2)
    assert list(values) == OF_WEIGHTS
    return {name: float(of[0, 0]) for name, of in values.items()}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_measures_known_by_hand(name: str, dtype: type) -> None:
    pattern, bits, distance, own, before = KNOWN[name]
    values = measured(pattern.astype(dtype), causal_mask() if name == "causal" else None)
    expected = {"entropy": bits, "distance": distance, "same": own, "previous": before}
    assert {of: values[of] for of in expected} == pytest.approx(expected, abs=1e-6)
    assert values["sharpness"] == pytest.approx(pattern.max(-1).mean(), abs=1e-6)
    assert values["first"] == pytest.approx(pattern[:, 0].mean(), abs=1e-6)
    assert values["punctuation"] == pytest.approx(pattern[:, -2].mean(), abs=1e-6)


def test_the_next_token() -> None:
    assert measured(np.eye(N, k=1))["next"] == 1  # the last row has no key after it, and looks at nothing
    assert np.isnan(measured(CAUSAL, causal_mask())["next"])


def test_entropy_against_its_definition() -> None:
    pattern = np.random.default_rng(0).dirichlet(np.ones(5), size=4)
    expected = np.mean([-sum(p * math.log2(p) for p in row) for row in pattern])
    assert measured(pattern)["entropy"] == pytest.approx(expected)
    assert str(measured(IDENTITY)["entropy"]) == "0.0"  # a sharp head has no -0


def test_share_on_special_tokens() -> None:
    assert measured(UNIFORM)["special"] == 0
    special = np.isin(np.arange(N), (0, N - 1))
    values = [measured(pattern, special=special)["special"] for pattern in (UNIFORM, FIRST, IDENTITY)]
    assert values == pytest.approx([2 / N, 1, 2 / N])


def test_more_queries_than_keys() -> None:
    """Cross-attention: rows for which there is no key of their number, or none before it, are left out."""
    tall = np.zeros((6, 3))
    tall[[0, 1, 2], [0, 1, 2]] = 1  # these three have a key of their number
    tall[3:, 2] = 1  # the fourth looks at the key before its number, the last two can't
    values = measured(tall)
    assert values["same"] == 1 and values["previous"] == pytest.approx(1 / 3)  # of rows 1, 2 and 3
    assert values["distance"] == pytest.approx((1 + 2 + 3) / 6)
    wide = measured(np.eye(3, 6, k=2))
    assert wide["distance"] == 2 and wide["same"] == 0
    assert np.isnan(measured(np.array([[0.5, 0.5]]))["previous"])


def test_rows_that_may_not_see_a_key_say_nothing_of_it() -> None:
    masked = np.eye(N, dtype=bool)  # nobody may see itself
    masked[0, 0] = False
    assert measured(IDENTITY, masked)["same"] == 1  # the first row alone
    assert measured(SHIFTED, masked)["same"] == 1


@pytest.mark.parametrize("factor", [0.25, 3.0, -1.0])
def test_a_scaled_head_measures_as_it_did(factor: float) -> None:
    pattern = np.random.default_rng(0).dirichlet(np.ones(N), size=N)
    special = np.arange(N) < 2
    assert measured(pattern * factor, special=special) == pytest.approx(measured(pattern, special=special))


def test_rows_that_are_off_are_left_out_and_a_head_that_is_off_has_no_measure() -> None:
    half = IDENTITY.copy()
    half[: N // 2] = 0
    assert measured(half)["same"] == 1 and measured(half)["entropy"] == 0
    assert np.isnan(list(measured(np.zeros((N, N))).values())).all()


def test_heads_are_measured_apart() -> None:
    """[L, H, Q, K] gives [L, H], each as the head alone."""
    patterns = np.stack([[IDENTITY, UNIFORM, SHIFTED], [FIRST, np.zeros((N, N)), CAUSAL]]).astype(np.float32)
    masked, special = causal_mask(), np.arange(N) == 0
    for name, values in measure(patterns, masked, special).items():
        assert values.shape == (2, 3)
        for layer, head in np.ndindex(2, 3):
            np.testing.assert_equal(values[layer, head], measured(patterns[layer, head], masked, special)[name])


@pytest.mark.parametrize("causal", [True, False])
def test_no_head_exceeds_the_largest(causal: bool) -> None:
    masked = causal_mask() if causal else np.zeros((N, N), dtype=bool)
    visible = ~masked
    furthest = np.where(visible, np.abs(np.arange(N)[:, None] - np.arange(N)), -1).argmax(-1)
    extremes = np.stack([normalise(visible.astype(float)), np.eye(N)[furthest], IDENTITY])[None]
    values = measure(extremes, masked, np.ones(N, dtype=bool))
    for name in ("entropy", "distance"):
        assert values[name].max() == pytest.approx(MEASURES[name].largest(values[name], masked))
    random = np.where(visible, np.random.default_rng(0).gamma(0.3, size=(5, 6, N, N)), 0)
    for name, many in measure(normalise(random), masked, np.arange(N) < 3).items():
        assert np.nan_to_num(many).max() <= MEASURES[name].largest(many, masked) + 1e-9


def test_every_entry_says_what_it_measures() -> None:
    assert all(one.meaning and one.formula and one.source and name == one.name for name, one in MEASURES.items())
    assert len({one.label for one in MEASURES.values()}) == len(MEASURES)

"""Measures of patterns whose answer is known by hand."""

import math

import numpy as np
import pytest

from headlight.analysis import (
    MEASURES,
    Measures,
    diagonal,
    entropy,
    mean_distance,
    measure,
    on_special,
    previous,
    strongest_column,
)
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


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_measures_known_by_hand(name: str, dtype: type) -> None:
    pattern, bits, distance, own, before = KNOWN[name]
    pattern = pattern.astype(dtype)
    masked = causal_mask() if name == "causal" else np.zeros((N, N), dtype=bool)
    assert entropy(pattern) == pytest.approx(bits, abs=1e-6)
    assert mean_distance(pattern) == pytest.approx(distance, abs=1e-6)
    assert diagonal(pattern, masked) == pytest.approx(own, abs=1e-6)
    assert previous(pattern, masked) == pytest.approx(before, abs=1e-6)


def test_entropy_against_its_definition() -> None:
    pattern = np.random.default_rng(0).dirichlet(np.ones(5), size=4)
    expected = np.mean([-sum(p * math.log2(p) for p in row) for row in pattern])
    assert entropy(pattern) == pytest.approx(expected)


def test_a_sharp_head_has_no_negative_entropy() -> None:
    assert str(float(entropy(IDENTITY))) == "0.0"


def test_share_on_special_tokens() -> None:
    special = np.zeros(N, dtype=bool)
    assert on_special(UNIFORM, special) == 0
    special[[0, N - 1]] = True
    assert on_special(UNIFORM, special) == pytest.approx(2 / N)
    assert on_special(FIRST, special) == 1
    assert on_special(IDENTITY, special) == pytest.approx(2 / N)


def test_more_queries_than_keys() -> None:
    """Cross-attention: rows for which there is no key of their number, or none before it, are left out."""
    tall = np.zeros((6, 3))
    tall[[0, 1, 2], [0, 1, 2]] = 1  # these three have a key of their number
    tall[3:, 2] = 1  # the fourth looks at the key before its number, the last two can't
    assert diagonal(tall) == 1
    assert previous(tall) == pytest.approx(1 / 3)  # of rows 1, 2 and 3
    assert mean_distance(tall) == pytest.approx((1 + 2 + 3) / 6)
    wide = np.eye(3, 6, k=2)
    assert mean_distance(wide) == 2
    assert diagonal(wide) == 0


def test_one_query_has_nothing_before_it() -> None:
    assert np.isnan(previous(np.array([[0.5, 0.5]])))


def test_rows_that_may_not_see_a_key_say_nothing_of_it() -> None:
    masked = np.eye(N, dtype=bool)  # nobody may see itself
    masked[0, 0] = False
    assert diagonal(IDENTITY, masked) == 1  # the first row alone
    assert diagonal(SHIFTED, masked) == 1


@pytest.mark.parametrize("factor", [0.25, 3.0, -1.0])
def test_a_scaled_head_measures_as_it_did(factor: float) -> None:
    pattern = np.random.default_rng(0).dirichlet(np.ones(N), size=N)
    special = np.arange(N) < 2
    for function in (entropy, mean_distance, diagonal, previous):
        assert function(pattern * factor) == pytest.approx(function(pattern))
    assert on_special(pattern * factor, special) == pytest.approx(on_special(pattern, special))


def test_a_head_that_is_off_has_no_measure() -> None:
    off = np.zeros((N, N))
    special = np.arange(N) < 2
    results = [entropy(off), mean_distance(off), diagonal(off), previous(off), on_special(off, special)]
    assert np.isnan(results).all()
    assert np.isnan(strongest_column(off)[1])


def test_rows_that_are_off_are_left_out() -> None:
    half = IDENTITY.copy()
    half[: N // 2] = 0
    assert diagonal(half) == 1
    assert entropy(half) == 0


@pytest.mark.parametrize(
    ("pattern", "masked", "index", "share"),
    [
        (FIRST, None, 0, 1.0),
        (FIRST[:, ::-1], None, N - 1, 1.0),
        (UNIFORM, None, 0, 1 / N),
        (CAUSAL, causal_mask(), 0, CAUSAL_DIAGONAL),
        (IDENTITY, causal_mask(), 0, 1 / N),
    ],
)
def test_the_key_that_gets_most(pattern: np.ndarray, masked: np.ndarray | None, index: int, share: float) -> None:
    strongest = strongest_column(pattern, masked)
    assert (int(strongest[0]), float(strongest[1])) == (index, pytest.approx(share))


def test_a_key_counts_the_rows_that_may_see_it() -> None:
    masked = causal_mask(4)
    pattern = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]], dtype=float)
    pattern[0, 0], pattern[1] = 1, [0.4, 0.6, 0, 0]
    index, share = strongest_column(pattern, masked)
    assert (int(index), float(share)) == (2, 1.0)  # two rows may see it, and both look at nothing else
    assert float(strongest_column(pattern)[1]) == 0.5


def test_a_key_that_one_row_sees_does_not_win_by_that() -> None:
    """Every row looks at the first key, but the last, which alone may see the last key, looks at that."""
    pattern = FIRST.copy()
    pattern[-1] = np.eye(N)[-1]
    index, share = strongest_column(pattern, causal_mask())
    assert (int(index), float(share)) == (0, pytest.approx((N - 1) / N))


def test_heads_are_measured_apart() -> None:
    """[L, H, Q, K] gives [L, H], each as the head alone."""
    patterns = np.stack([[IDENTITY, UNIFORM, SHIFTED], [FIRST, np.zeros((N, N)), CAUSAL]]).astype(np.float32)
    masked, special = causal_mask(), np.arange(N) == 0
    together = measure(patterns, masked, special)
    for layer in range(2):
        for head in range(3):
            alone = measure(patterns[layer : layer + 1, head : head + 1], masked, special)
            for name, *_ in MEASURES:
                values = getattr(together, name)
                assert values.shape == (2, 3)
                np.testing.assert_array_equal(values[layer, head], getattr(alone, name)[0, 0])
    indices, shares = strongest_column(patterns, masked)
    assert indices.shape == shares.shape == (2, 3)
    assert int(indices[1, 0]) == int(strongest_column(FIRST, masked)[0])
    assert float(shares[1, 2]) == pytest.approx(float(strongest_column(CAUSAL, masked)[1]))


@pytest.mark.parametrize("causal", [True, False])
def test_no_head_exceeds_the_largest(causal: bool) -> None:
    masked = causal_mask() if causal else np.zeros((N, N), dtype=bool)
    visible = ~masked
    furthest = np.where(visible, np.abs(np.arange(N)[:, None] - np.arange(N)), -1).argmax(-1)
    extremes = np.stack([normalise(visible.astype(float)), np.eye(N)[furthest], IDENTITY])[None]
    measures = measure(extremes, masked, np.ones(N, dtype=bool))
    assert measures.entropy.max() == pytest.approx(measures.largest["entropy"])
    assert measures.distance.max() == pytest.approx(measures.largest["distance"])
    random = np.where(visible, np.random.default_rng(0).gamma(0.3, size=(5, 6, N, N)), 0)
    many = measure(normalise(random), masked, np.arange(N) < 3)
    for name, *_ in MEASURES:
        assert getattr(many, name).max() <= many.largest[name] + 1e-9


def test_the_table_names_every_measure() -> None:
    assert {m.name for m in MEASURES} == set(Measures.__annotations__) - {"largest"}

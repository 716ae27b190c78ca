"""Rotary positions against complex numbers and ALiBi against its paper's slopes; what is measured on their scores."""

import math

import numpy as np
import pytest
import torch

from headlight.analysis.positions import frequencies, sinusoid
from headlight.analysis.score_positions import (
    SHIFT_POSITIONS,
    alibi_slopes,
    equal_token_scores,
    positioned_scores,
    rotate,
    score_properties,
)


def test_a_rotation_is_a_product_of_complex_numbers() -> None:
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(7, 8, dtype=torch.float64, generator=draw)
    p, omega = np.array([0, 1, 2, 5, 50, 99, 1_000]), frequencies(8, 100)
    turns = torch.polar(torch.ones(7, 4, dtype=torch.float64), torch.from_numpy(np.outer(p, omega)))
    expected = torch.view_as_real(torch.view_as_complex(x.reshape(7, 4, 2)) * turns).reshape(7, 8)
    np.testing.assert_allclose(rotate(x.numpy(), p, omega), expected.numpy(), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(rotate(x.numpy(), p, omega), axis=1), x.norm(dim=1).numpy())


def test_slopes_are_those_of_the_paper() -> None:
    """Section 3: for 8 heads 1/2, 1/4, ..., 1/256; for 16 the same and their geometric means."""
    assert alibi_slopes(8).tolist() == [1 / 2**h for h in range(1, 9)]
    sixteen = alibi_slopes(16)
    assert sixteen[0] == 2**-0.5 and np.allclose(sixteen[1::2], alibi_slopes(8))


@pytest.mark.parametrize("scheme", ["none", "sinusoidal", "rotary", "alibi"])
def test_scores_number_by_number(scheme: str) -> None:
    q, k = np.random.default_rng(0).standard_normal((2, 5, 4))
    p, base, slope = np.array([0, 3, 4, 7, 20]), 100.0, 0.25
    scores = positioned_scores(scheme, q, k, p, base, slope)
    omega = [1.0, base ** (-2 / 4)]
    for i in range(5):
        for j in range(5):
            expected = sum(q[i, n] * k[j, n] for n in range(4))
            if scheme == "sinusoidal":
                codes = [sinusoid(np.array([p[n]]), frequencies(4, base))[0] for n in (i, j)]
                expected = float((q[i] + codes[0]) @ (k[j] + codes[1]))
            if scheme == "rotary":  # turning the key alone, by the difference of the positions, is enough
                expected = 0.0
                for pair, w in enumerate(omega):
                    c, s = math.cos((p[j] - p[i]) * w), math.sin((p[j] - p[i]) * w)
                    a, b = k[j, 2 * pair : 2 * pair + 2]
                    expected += q[i, 2 * pair] * (c * a - s * b) + q[i, 2 * pair + 1] * (s * a + c * b)
            expected = expected / 2 - (0.25 * abs(p[i] - p[j]) if scheme == "alibi" else 0)
            assert scores[i, j] == pytest.approx(expected)


def test_rotary_and_alibi_see_the_distance_alone_and_the_added_encoding_does_not() -> None:
    measured = {s: score_properties(s, 60, 16, 10_000, 0.5) for s in ("sinusoidal", "rotary", "alibi")}
    assert measured["rotary"].shifted < 1e-12 and measured["alibi"].shifted == 0 and measured["sinusoidal"].shifted > 1
    assert all(one.fall > 0.1 for one in measured.values())
    assert measured["alibi"].lowest == pytest.approx(0.5 * 59)
    assert measured["alibi"].longer == pytest.approx(0.5 * 119)
    pairs = np.arange(60)[:, None] - np.arange(60)
    mean = 0.5 * (np.abs(pairs)[np.abs(pairs) >= 30].mean() - 1)
    assert measured["alibi"].fall == pytest.approx(mean)
    equal = equal_token_scores("rotary", 60, 16, 10_000, 0)
    assert np.allclose(equal, equal[0][np.abs(pairs)]) and SHIFT_POSITIONS > 0

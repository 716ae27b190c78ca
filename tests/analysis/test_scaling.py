"""What dividing by the root of the width does: the law of the variance, and the ends of the softmax."""

import numpy as np
import pytest

from headlight.analysis.scaling import WIDTHS, against_width, spread


def test_the_variance_is_the_width_and_divided_1() -> None:
    """q · k is a sum of d products of mean 0 and variance 1 (Vaswani et al. 2017, footnote 4)."""
    spreads = against_width(keys=12)
    for width, (plain, divided) in zip(WIDTHS, spreads, strict=True):
        assert plain.variance == pytest.approx(width, rel=0.25)
        assert divided.variance == pytest.approx(plain.variance / width)
    largest = [plain.largest for plain, _ in spreads]
    assert largest == sorted(largest) and largest[-1] > 0.9
    assert all(divided.largest < 0.45 and divided.entropy > 0.75 for _, divided in spreads)
    assert spreads[-1][0].entropy < 0.1


def test_the_ends_of_the_softmax() -> None:
    even, one = spread(np.zeros((3, 8))), spread(np.eye(8) * 1e4)
    assert (even.variance, even.largest, even.entropy) == pytest.approx((0, 1 / 8, 1))
    assert (one.largest, one.entropy) == pytest.approx((1, 0))
    assert spread(np.zeros((2, 1))).entropy == 0  # one key leaves no choice

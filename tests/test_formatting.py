"""Numbers for people."""

import math
from collections.abc import Callable

import pytest

from headlight.formatting import (
    brief,
    file_size,
    in_millions,
    lesson_number,
    percent,
    percent_of,
    probability_text,
    signed,
    three_digits,
    translation_score,
    two_digits,
)
from headlight.language import using


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-5.3, "−5.30"),
        (0.1, "0.10"),
        (-0.02, "−0.020"),
        (-0.0042, "−0.0042"),
        (-0.0004215, "−4.2e−4"),
        (0.0000052, "5.2e−6"),
        (-3e-7, "0.00"),
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (-math.inf, "−inf"),
    ],
)
def test_no_number_rounds_away(value: float, text: str) -> None:
    """One page had shown −0.00 and another 0.00."""
    assert signed(value) == text
    above = text.removeprefix("−")
    assert signed(abs(value), plus=True) == (above if above == "0.00" else f"+{above}")


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        *((two_digits, value, text) for value, text in [(0.0, "0"), (1.0, "1"), (2.04, "2.0"), (-0.51, "−0.51"),
            (1.7e-16, "1.7e−16"), (9.96e-6, "1.0e−5"), (12.3, "12"), (1234.5, "1,234"), (math.nan, "–")]),
        *((three_digits, value, text) for value, text in [(0.0, "0"), (-0.0002, "−2.0e−4"), (0.0651, "0.0651"),
            (-0.3, "−0.3"), (271.44, "271.4"), (math.nan, "–")]),
        *((brief, value, text) for value, text in [(0.0, "0.00"), (-0.0, "0.00"), (-0.5, "−0.50"), (15_300.4, "15,300"),
            (38.44, "38.4"), (0.000213, "0.00021"), (0.000032, "3.2e−5"), (-0.0000032, "−3.2e−6"), (math.nan, "–")]),
        *((file_size, value, text) for value, text in [(4100, "4.1 kB"), (900_000, "0.9 MB"), (299_000_000, "299 MB")]),
        *((lambda value: signed(value, plus=True, decimals=2), value, text) for value, text in [(0.004, "0.00"),
            (-0.004, "0.00"), (0.02, "+0.02"), (-1.5, "−1.50"), (math.nan, "–")]),
        *((lambda count: percent_of(count, 1000), value, text) for value, text in [(0, "0.0\u00a0%"),
            (41, "4.1\u00a0%"), (410, "41\u00a0%")]),
        (lambda count: percent_of(count, 10_000), 5, "under 0.1\u00a0%"),
        *((lambda share: percent(share, 0), value, text) for value, text in [(-0.03, "−3\u00a0%"), (1.2, "120\u00a0%"),
            (-0.001, "0\u00a0%")]),
        *((lambda share: percent(share, 1), value, text) for value, text in [(0.998, "99.8\u00a0%"),
            (0, "0.0\u00a0%")]),
        *((probability_text, value, text) for value, text in [(0.0, "0"), (0.0004, "<0.001"), (0.0094, "0.009"),
            (0.0095, "0.01")]),
        (translation_score, 41.74, "41.7"),
        (lambda score: translation_score(score, 2), 8.204, "8.20"),
        *((lesson_number, value, text) for value, text in [(12.0, "12"), (0.9841, "0.98"), (-1.6249, "−1.62"),
            (1234, "1234"), (271.4, "271"), (0.00002134, "2.1e−5")]),
        (in_millions, 2_048_000, "2.05 M"),
        (in_millions, 8704, "8,704"),
        (lambda count: in_millions(count, thousands=True), 8704, "8.7 k"),
    ],
)  # fmt: skip
def test_a_number_as_text(write: Callable[[float], str], value: float, text: str) -> None:
    assert write(value) == text


@pytest.mark.parametrize("write", [brief, signed, two_digits, three_digits])
def test_a_small_number_is_the_same_in_every_function(write: Callable[[float], str]) -> None:
    assert (write(3.2e-6), write(-3.2e-6)) == ("3.2e−6", "−3.2e−6")


@pytest.mark.parametrize(("language", "text"), [("en", "98.1\u00a0%"), ("fr", "98,1\u00a0%"), ("hi", "98.1%")])
def test_a_per_cent_sign_is_spaced_as_the_language_does(language: str, text: str) -> None:
    with using(language):
        assert percent(0.981, 1) == text

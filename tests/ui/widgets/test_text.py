"""Numbers for people."""

import math

import pytest

from ui.widgets.text import signed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-5.3, "−5.30"),
        (0.1, "0.10"),
        (-0.02, "−0.020"),
        (-0.0004215, "−0.00042"),
        (0.0000052, "0.0000052"),
        (-3e-7, "0.00"),
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (-math.inf, "−inf"),
    ],
)
def test_no_number_rounds_away(value: float, text: str) -> None:
    """It read −0.00 on one page and 0.00 on another."""
    assert signed(value) == text
    assert signed(abs(value), plus=True) in (f"+{text.removeprefix('−')}", text)

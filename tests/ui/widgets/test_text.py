"""Numbers for people."""

import math

import pytest

from ui.widgets.text import literal, signed


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
    """It read −0.00 on one page and 0.00 on another."""
    assert signed(value) == text
    above = text.removeprefix("−")
    assert signed(abs(value), plus=True) == (above if above == "0.00" else f"+{above}")


def test_what_was_typed_is_no_markup_and_changes_no_order_around_it() -> None:
    """A Hebrew word before a number drew the number to its other side."""
    assert literal("*a* [b](c)") == r"\*a\* \[b\]\(c\)"
    assert literal("עברית*") == "\u2068עברית\\*\u2069"

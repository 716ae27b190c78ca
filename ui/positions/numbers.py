"""Numbers as people write them."""

import math

from ui.widgets.text import minus


def small(value: float) -> str:
    """Two digits, with a true minus: 1.7e−16, 0.61, 51; a dash where there is no number."""
    if math.isnan(value):
        return "–"
    if value == int(value) or abs(value) >= 100:
        return minus(f"{value:,.0f}")
    if abs(value) >= 1e-3:
        return minus(f"{value:#.2g}".rstrip("."))
    mantissa, exponent = f"{value:.1e}".split("e")
    return minus(f"{mantissa}e{int(exponent)}")

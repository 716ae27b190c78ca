"""Numbers as people write them."""

import math


def small(value: float) -> str:
    """Two digits, with a true minus: 1.7e−16, 0.61, 51; a dash where there is no number."""
    if math.isnan(value):
        return "–"
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}".replace("-", "−")
    if abs(value) >= 1e-3:
        return f"{value:#.2g}".rstrip(".").replace("-", "−")
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}".replace("-", "−")

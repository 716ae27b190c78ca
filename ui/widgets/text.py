"""Numbers and times for people, and plain text for Markdown."""

from __future__ import annotations

from headlight.charts.direction import isolated

MARKUP = frozenset(r"\`*_{}[]()#+-.!|<>~$:^&")


def duration(seconds: float) -> str:
    """ "40 s", "17 min", "2 h 05 min", "3 days 4 h": two parts at most, and none that is too fine to matter."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60:02} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    hours = round(seconds / 3600)
    return f"{hours // 24} {'day' if hours < 48 else 'days'} {hours % 24} h"


def size(n_bytes: float) -> str:
    """ "35 MB", "1.1 GB" """
    if n_bytes >= 0.95e9:
        return f"{n_bytes / 1e9:.1f} GB"
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes >= 1e7 else f"{n_bytes / 1e6:.1f} MB"


def millions(count: int) -> str:
    return f"{count / 1e6:.2f} M" if count >= 100_000 else f"{count:,}"


def brief(value: float) -> str:
    """A measure with the digits that matter: 15,300, 38.4, 1.62, 0.000213."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    if abs(value) >= 0.1 or value == 0:
        return f"{value:.2f}"
    return f"{value:.2g}" if abs(value) >= 1e-5 else f"{value:.1e}"


def plural(count: int, one: str, several: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def on_sentences(count: object) -> str:
    """ "on 1,014 sentences", to stand beside a score; nothing where the count is not known."""
    return f"on {plural(count, 'sentence')}" if type(count) is int else ""


def minus(text: str) -> str:
    """A number as Python writes it, with real minus signs."""
    return text.replace("-", "−")


def signed(value: float, plus: bool = False) -> str:
    """Two decimals, or two digits of a smaller number, so that none reads as nothing: −5.30, −0.020, −3.9e−6.

    What is below a millionth is rounding, and reads 0.00. With a real minus, and none before a zero; `plus` for a sign
    before what is above it too.
    """
    size = abs(value)
    sign = "+" if plus and size >= 1e-6 else ""
    if 1e-6 <= size < 1e-3:
        digits, power = f"{value:{sign}.1e}".split("e")
        return minus(f"{digits}e{int(power)}")
    places = 2 if size >= 0.1 or size < 1e-6 else 3 if size >= 0.01 else 4
    return minus(f"{value:{sign}z.{places}f}")


def literal(text: str) -> str:
    """What people typed, for Markdown: nothing in it is markup, and it may run another way than what is around it."""
    return isolated("".join(f"\\{c}" if c in MARKUP else c for c in text))

"""Write numbers and errors for people in the current language, and tables as CSV.

headlight/viewer/js/numbers.js has some of these functions for scripts.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable

from headlight.language import gettext, localized
from transformer.quoting import short
from transformer.tokenizers import SPACE

ROUNDING = 1e-5  # shares closer than this to 0 or 1 are rounding errors


def error_message(error: Exception) -> str:
    """Return an error's message as a sentence; for an OSError, without its number, and with a shortened file name."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    name = error.filename if error.filename2 is None else error.filename2  # the target of a rename
    what = error.strerror if name is None else f"{short(name)} cannot be used: {error.strerror}"
    return f"{what.rstrip('.')}."


def minus(text: str) -> str:
    """Return numbers that Python formatted with real minus signs, as the current language writes them."""
    return localized(text.replace("-", "−"))


def percent(share: float, decimals: int | None = None) -> str:
    """Write a share in per cent, with the current language's spacing: "35 %" with a no-break space, in Hindi "35%".

    Without `decimals` it is in whole per cent, and "under 1 %" or "over 99 %" where rounding would give 0 or 100 %.
    """
    if decimals is not None:
        return percent_sign(minus(f"{100 * share:z.{decimals}f}"))
    if ROUNDING < share < 0.005:
        return gettext("under 1\u00a0%")
    if 0.995 <= share < 1 - ROUNDING:
        return gettext("over 99\u00a0%")
    return percent_sign(str(math.floor(100 * share + 0.5)))


def percent_sign(number: str) -> str:
    """Append the per cent sign to a number that is already in per cent and in the current language."""
    return gettext("{number}\u00a0%", number=number)


def percent_of(count: int, total: int) -> str:
    """Write a count as its share of a total, with one decimal below 10 %: "41 %", "4.1 %", "under 0.1 %"."""
    part = count / total if total else 0.0
    if 0 < part < 0.001:
        return f"under {percent(0.001, 1)}"
    return percent(part, 1 if part < 0.1 else 0)


def probability_text(probability: float) -> str:
    """Write a probability in hundredths, a small one in thousandths: "0.35", "0.004", "<0.001"; "0" for zero."""
    if probability == 0:
        return "0"
    if probability < 0.0005:
        return localized("<0.001")
    return localized(f"{probability:.3f}" if probability < 0.0095 else f"{probability:.2f}")


def translation_score(score: float, decimals: int = 1) -> str:
    """Write BLEU or chrF, from 0 to 100: "41.7"; the command line and the logs give two decimals."""
    return localized(f"{score:.{decimals}f}")


def signed(value: float, plus: bool = False, decimals: int | None = None) -> str:
    """Write a number with a real minus: "−5.30", "−0.020", "−3.9e−6"; "–" for NaN.

    By default it has two decimals, and more for a small number, so that two digits are left; a number below a millionth
    is a rounding error, written "0.00". `plus` puts a sign before positive numbers, too. Zero has no sign.
    """
    if math.isnan(value):
        return "–"
    size = abs(value)
    if decimals is None:
        if 1e-6 <= size < 1e-3:
            return scientific(value, "+" if plus else "")
        decimals = 2 if size >= 0.1 or size < 1e-6 else 3 if size >= 0.01 else 4
    sign = "+" if plus and round(size, decimals) else ""
    return minus(f"{value:{sign}z.{decimals}f}")


def scientific(value: float, sign: str = "") -> str:
    """Write two digits and a power of ten: "1.7e−16"; `sign` is Python's sign option."""
    digits, power = f"{value:{sign}.1e}".split("e")
    return minus(f"{digits}e{int(power)}")


def two_digits(value: float) -> str:
    """Write two digits with a real minus: "1.7e−16", "0.61", "51"; "–" for NaN."""
    if math.isnan(value):
        return "–"
    if value == int(value) or abs(value) >= 100:
        return minus(f"{value:,.0f}")
    return minus(f"{value:#.2g}".rstrip(".")) if abs(value) >= 1e-3 else scientific(value)


def three_digits(value: float) -> str:
    """Write three digits with a real minus, "0.0651", one decimal from 100 on, "271.4"; "–" for NaN and infinity."""
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if 0 < size < 1e-3:
        return scientific(value)
    return minus(f"{value:,.1f}" if size >= 100 else f"{value:.3g}")


def brief(value: float) -> str:
    """Write a measure with the digits that matter: "15,300", "38.4", "1.62", "0.00021", "3.2e−6"; "–" for NaN."""
    if math.isnan(value):
        return "–"
    size = abs(value)
    if 0 < size < 1e-4:
        return scientific(value)
    decimals = 0 if size >= 1000 else 1 if size >= 10 else 2
    return minus(f"{value:.2g}" if 0 < size < 0.1 else f"{value:z,.{decimals}f}")


def lesson_number(value: float) -> str:
    """Write a number of a lesson: "12", otherwise two digits below 1, "0.98", and three above, "1.62"."""
    size = abs(value)
    if 0 < size < 1e-4:
        return scientific(value)
    if float(value).is_integer() or size >= 100:
        return minus(f"{value:.0f}")
    return minus(f"{value:.2g}" if size < 1 else f"{value:.3g}")


def in_millions(count: int, thousands: bool = False) -> str:
    """Write a count: "2.05 M", or below 100,000 "8,704", or with `thousands` "8.7 k"."""
    if count >= 100_000:
        return localized(f"{count / 1e6:.2f} M")
    return localized(f"{count / 1e3:.1f} k" if thousands and count >= 1000 else f"{count:,}")


def file_size(n_bytes: float) -> str:
    """Write a number of bytes: "4.1 kB", "0.9 MB", "35 MB", "1.1 GB"."""
    if n_bytes < 1e5:
        return f"{n_bytes / 1e3:.1f} kB"
    if n_bytes >= 0.95e9:
        return f"{n_bytes / 1e9:.1f} GB"
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes >= 1e7 else f"{n_bytes / 1e6:.1f} MB"


def duration(seconds: float) -> str:
    """Write a time in at most two units: "40 s", "17 min", "2 h 05 min", "3 days 4 h"."""
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


def plural(count: int, singular: str, plural_form: str | None = None) -> str:
    """Write a count with its noun: "1 sentence", "1,014 sentences"."""
    return f"{count:,} {singular if count == 1 else plural_form or singular + 's'}"


def both(first: int, second: int) -> str:
    """Write the sizes of two sides: "512", or where they differ "512 and 1,024"."""
    return f"{first:,}" if first == second else f"{first:,} and {second:,}"


def on_sentences(count: object) -> str:
    """Write the size of a score's test set, "on 1,014 sentences"; "" where it is not known."""
    return f"on {plural(count, 'sentence')}" if type(count) is int else ""


# ---- CSV with exact numbers and no formulas -------------------------------------------------------------------------

Cell = str | float | None

FORMULA_SIGNS = "=+-@＝＋－＠"  # begin a formula in spreadsheets; the wide ones do in East Asian versions
# A possible start of a formula: at the beginning of a text, or after a character that separates cells or rows in some
# countries' settings, followed by characters that spreadsheets skip.
FORMULA_START = re.compile(rf'((?:^|[;\t\r\n])[\s"\0\u200b\ufeff]*)(?=[{FORMULA_SIGNS}])')


def plain_label(label: str) -> str:
    """Return a token's label without the sign for a space, unless the label is only that sign."""
    return label.replace(SPACE, "").strip() or label


def csv_text(rows: Iterable[Iterable[Cell]]) -> str:
    """Return rows as CSV, each ended by CR LF. A number stays one, with every digit; None is an empty cell."""
    out = io.StringIO()
    # Rows must end in CR LF, as the format says: with another ending, the writer would not quote a CR inside a text.
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerows(map(_cell, row) for row in rows)
    return out.getvalue()


def _cell(value: Cell) -> Cell:
    return FORMULA_START.sub(r"\1'", value) if isinstance(value, str) else value

"""German and English numbers, clock times and dates."""

from headlight.corpora.generated import MONTHS
from headlight.corpora.number_words import english_number, german_number

_MONTHS = (
    "Januar", "Februar", "März", "April", "Mai", "Juni",
    "Juli", "August", "September", "Oktober", "November", "Dezember",
)  # fmt: skip
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def clock_times() -> list[tuple[str, str]]:
    """Return the times of the twelve-hour clock in steps of five minutes, as they are spoken."""
    times = []
    for hour in range(1, 13):
        following = hour % 12 + 1
        de, en = german_number(hour), english_number(hour)
        next_de, next_en = german_number(following), english_number(following)
        times += [
            (f"{german_number(hour, alone=False)} Uhr", f"{en} o'clock"),
            (f"fünf nach {de}", f"five past {en}"),
            (f"zehn nach {de}", f"ten past {en}"),
            (f"Viertel nach {de}", f"a quarter past {en}"),
            (f"zwanzig nach {de}", f"twenty past {en}"),
            (f"fünf vor halb {next_de}", f"twenty-five past {en}"),
            (f"halb {next_de}", f"half past {en}"),
            (f"fünf nach halb {next_de}", f"twenty-five to {next_en}"),
            (f"zwanzig vor {next_de}", f"twenty to {next_en}"),
            (f"Viertel vor {next_de}", f"a quarter to {next_en}"),
            (f"zehn vor {next_de}", f"ten to {next_en}"),
            (f"fünf vor {next_de}", f"five to {next_en}"),
        ]
    return times


def generated_slots() -> dict[str, list[tuple[str, str]]]:
    """Return the slots of frames that numbers fill, each with its (German, English) values."""
    dates = [
        (f"{day}. {month}", f"{english_month} {day}")
        for month, english_month, days in zip(_MONTHS, MONTHS, _DAYS, strict=True)
        for day in range(1, days + 1)
    ]
    terms = [
        *(("plus", "plus", a, b, a + b) for a in range(1, 21) for b in range(1, 21)),
        *(("mal", "times", a, b, a * b) for a in range(2, 11) for b in range(2, 11)),
        *(("minus", "minus", a, b, a - b) for a in range(2, 21) for b in range(1, a)),
    ]
    sums = [
        (f"{german_number(a)} {sign} {german_number(b)} ist {german_number(result)}",
         f"{english_number(a)} {english_sign} {english_number(b)} is {english_number(result)}")
        for sign, english_sign, a, b, result in terms
    ]  # fmt: skip
    return {
        "time": clock_times(),
        "number": _in_words(range(2, 100)),
        "small": _in_words(range(2, 13)),
        "hundred": _in_words(range(100, 1000, 50)),
        "year": [(str(year), str(year)) for year in range(1900, 2031)],
        "date": dates,
        "sum": sums,
    }


def _in_words(numbers: range) -> list[tuple[str, str]]:
    return [(german_number(number), english_number(number)) for number in numbers]

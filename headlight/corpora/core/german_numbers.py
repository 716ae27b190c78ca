"""German and English numbers, clock times and dates."""

from headlight.corpora.number_words import english_number, german_number

_MONTHS = (
    ("Januar", "January"), ("Februar", "February"), ("März", "March"), ("April", "April"), ("Mai", "May"),
    ("Juni", "June"), ("Juli", "July"), ("August", "August"), ("September", "September"), ("Oktober", "October"),
    ("November", "November"), ("Dezember", "December"),
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
    numbers = range(2, 100)
    dates = [
        (f"{day}. {month}", f"{english_month} {day}")
        for (month, english_month), days in zip(_MONTHS, _DAYS, strict=True)
        for day in range(1, days + 1)
    ]
    sums = [
        (f"{german_number(a)} plus {german_number(b)} ist {german_number(a + b)}",
         f"{english_number(a)} plus {english_number(b)} is {english_number(a + b)}")
        for a in range(1, 21) for b in range(1, 21)
    ] + [
        (f"{german_number(a)} mal {german_number(b)} ist {german_number(a * b)}",
         f"{english_number(a)} times {english_number(b)} is {english_number(a * b)}")
        for a in range(2, 11) for b in range(2, 11)
    ] + [
        (f"{german_number(a)} minus {german_number(b)} ist {german_number(a - b)}",
         f"{english_number(a)} minus {english_number(b)} is {english_number(a - b)}")
        for a in range(2, 21) for b in range(1, a)
    ]  # fmt: skip
    return {
        "time": clock_times(),
        "number": [(german_number(number), english_number(number)) for number in numbers],
        "small": [(german_number(number), english_number(number)) for number in range(2, 13)],
        "hundred": [(german_number(number), english_number(number)) for number in range(100, 1000, 50)],
        "year": [(str(year), str(year)) for year in range(1900, 2031)],
        "date": dates,
        "sum": sums,
    }

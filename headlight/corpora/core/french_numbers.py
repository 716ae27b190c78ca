"""Numbers, clock times and years in English and French."""

from collections.abc import Iterable

from headlight.corpora.number_words import english_number, french_number


def generated_slots() -> dict[str, list[tuple[str, str]]]:
    """Return the English-French entries of the categories "time", "number", "count", "hundred" and "year".

    The French words of "count" do not end in "un", so that they may stand before feminine nouns, too.
    """
    return {
        "time": _times(),
        "number": _in_words_and_digits(range(2, 101)),
        "count": _in_words_and_digits(number for number in range(2, 61) if number % 10 != 1 or number == 11),
        "hundred": _in_words_and_digits(number for number in range(100, 1000) if number % 10 != 1),
        "year": [(str(year), str(year)) for year in range(1900, 2027)],
    }


def _in_words_and_digits(numbers: Iterable[int]) -> list[tuple[str, str]]:
    spellings = (((english_number(number), french_number(number)), (str(number), str(number))) for number in numbers)
    return [pair for both in spellings for pair in both]


def _times() -> list[tuple[str, str]]:
    times = [("noon", "midi"), ("midnight", "minuit"), ("half past twelve", "midi et demi")]
    for hour in range(1, 12):
        after = hour + 1
        name, french = english_number(hour), _french_hour(hour)
        next_name, next_french = english_number(after), "midi" if after == 12 else _french_hour(after)
        times += [
            (f"{name} o'clock", french),
            (f"half past {name}", f"{french} et demie"),
            (f"a quarter past {name}", f"{french} et quart"),
            (f"quarter past {name}", f"{french} et quart"),
            (f"a quarter to {next_name}", f"{next_french} moins le quart"),
            (f"quarter to {next_name}", f"{next_french} moins le quart"),
            (f"{name} in the morning", f"{french} du matin"),
        ]
        minutes = (("five", "cinq"), ("ten", "dix"), ("twenty", "vingt"))
        times += [(f"{minute} past {name}", f"{french} {minute_french}") for minute, minute_french in minutes]
        times += [
            (f"{minute} to {next_name}", f"{next_french} moins {minute_french}") for minute, minute_french in minutes
        ]
        times += [(f"{hour}:{minute}", f"{hour} h {minute}") for minute in (15, 30, 45)]
    times += [(f"{english_number(hour)} in the evening", f"{_french_hour(hour)} du soir") for hour in range(6, 12)]
    return times


def _french_hour(hour: int) -> str:
    return "une heure" if hour == 1 else f"{french_number(hour)} heures"

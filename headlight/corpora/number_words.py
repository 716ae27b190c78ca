"""Numbers in English, French and German words."""

_ENGLISH = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_ENGLISH_TENS = (
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
# The asterisk marks a first letter that blocks elision ("le huit", "le onze").
_FRENCH = (
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "*huit", "neuf", "dix", "*onze", "douze",
    "treize", "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf",
)  # fmt: skip
_FRENCH_TENS = (
    "vingt", "trente", "quarante", "cinquante", "soixante", "soixante", "quatre-vingt", "quatre-vingt",
)  # fmt: skip
_GERMAN = (
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
    "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
)  # fmt: skip
_GERMAN_TENS = (
    "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
)  # fmt: skip

_ENGLISH_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
                     "nine": "ninth", "twelve": "twelfth", "twenty": "twentieth", "thirty": "thirtieth"}  # fmt: skip
_GERMAN_ORDINALS = {1: "ersten", 3: "dritten", 7: "siebten", 8: "achten"}


def english_number(number: int) -> str:
    """Return 0 to 999 in words: "one hundred and thirty-one"."""
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        return f"{_ENGLISH[hundreds]} hundred" + (f" and {english_number(rest)}" if rest else "")
    if number < 20:
        return _ENGLISH[number]
    tens, rest = divmod(number, 10)
    return f"{_ENGLISH_TENS[tens - 2]}-{_ENGLISH[rest]}" if rest else _ENGLISH_TENS[tens - 2]


def french_number(number: int) -> str:
    """Return 0 to 999 in words, in the masculine, with an asterisk before an h or o that blocks elision."""
    if number < 20:
        return _FRENCH[number]
    if number == 80:
        return "quatre-vingts"
    if number < 100:
        tens = number // 10
        unit = number - tens * 10 + (10 if tens in (7, 9) else 0)
        if unit == 0:
            return _FRENCH_TENS[tens - 2]
        link = " et " if unit in (1, 11) and tens < 8 else "-"
        return _FRENCH_TENS[tens - 2] + link + _FRENCH[unit].lstrip("*")
    hundreds, rest = divmod(number, 100)
    hundred = "cent" if hundreds == 1 else f"{_FRENCH[hundreds]} cent" + ("" if rest else "s")
    return f"{hundred} {french_number(rest).lstrip('*')}" if rest else hundred


def german_number(number: int, alone: bool = True) -> str:
    """Return 0 to 999 in words; 1 is "eins" where it stands alone and "ein" before a noun, 100 is "hundert"."""
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        return ("" if hundreds == 1 else _GERMAN[hundreds]) + "hundert" + (german_number(rest) if rest else "")
    if number < 20:
        return "eins" if number == 1 and alone else _GERMAN[number]
    tens, rest = divmod(number, 10)
    return f"{_GERMAN[rest]}und{_GERMAN_TENS[tens - 2]}" if rest else _GERMAN_TENS[tens - 2]


def in_words(number: int, language: str) -> str:
    """Return 0 to 9,999 in words of "en", "fr" or "de": "twenty-five", "vingt-cinq", "fünfundzwanzig"."""
    thousands, rest = divmod(number, 1000)
    if thousands:
        thousands_words, link = {
            "en": (f"{_ENGLISH[thousands]} thousand", ", " if rest >= 100 else " and "),
            "fr": ("mille" if thousands == 1 else f"{_FRENCH[thousands].lstrip('*')} mille", " "),
            "de": (f"{_GERMAN[thousands]}tausend", ""),
        }[language]
        return thousands_words + link + in_words(rest, language) if rest else thousands_words
    if language == "de":
        return ("ein" if 100 <= number < 200 else "") + german_number(number)
    return english_number(number) if language == "en" else french_number(number).replace("*", "")


def day_of_month(day: int, language: str, digits: bool) -> str:
    """Return a day from 1 to 31 as a date has it: "third" or "3rd", in French "trois" or "3", in German "dritten"."""
    if language == "fr":
        if day == 1:
            return "1er" if digits else "premier"
        return str(day) if digits else in_words(day, "fr")
    if language == "de":
        ending = "ten" if day < 20 else "sten"
        return f"{day}." if digits else _GERMAN_ORDINALS.get(day, german_number(day) + ending)
    tens, hyphen, unit = english_number(day).rpartition("-")
    ordinal = _ENGLISH_ORDINALS.get(unit, f"{unit}th")
    return f"{day}{ordinal[-2:]}" if digits else tens + hyphen + ordinal

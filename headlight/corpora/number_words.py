"""Numbers in English, French and German words."""

from headlight.corpora.word_tables import IRREGULAR, read_table

_ROWS = read_table(IRREGULAR / "numbers.tsv", dict)
_ENGLISH, _FRENCH, _GERMAN, _GERMAN_ORDINALS = (
    {int(row["number"]): row[column] for row in _ROWS if column in row} for column in ("en", "fr", "de", "de_ordinal")
)
_ENGLISH_ORDINALS = {row["en"]: row["en_ordinal"] for row in _ROWS if "en_ordinal" in row}


def english_number(number: int) -> str:
    """Return 0 to 999 in words: "one hundred and thirty-one"."""
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        return f"{_ENGLISH[hundreds]} hundred" + (f" and {english_number(rest)}" if rest else "")
    unit = number % 10
    return _ENGLISH[number] if number in _ENGLISH else f"{_ENGLISH[number - unit]}-{_ENGLISH[unit]}"


def french_number(number: int) -> str:
    """Return 0 to 999 in words, in the masculine, with an asterisk before an h or o that blocks elision."""
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        hundred = "cent" if hundreds == 1 else f"{_FRENCH[hundreds]} cent" + ("" if rest else "s")
        return f"{hundred} {french_number(rest).lstrip('*')}" if rest else hundred
    if number == 80:
        return "quatre-vingts"
    if number in _FRENCH:
        return _FRENCH[number]
    unit = number % 20 if number > 60 else number % 10
    link = " et " if unit in (1, 11) and number < 80 else "-"
    return _FRENCH[number - unit] + link + _FRENCH[unit].lstrip("*")


def german_number(number: int, alone: bool = True) -> str:
    """Return 0 to 999 in words; 1 is "eins" where it stands alone and "ein" before a noun, 100 is "hundert"."""
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        return ("" if hundreds == 1 else _GERMAN[hundreds]) + "hundert" + (german_number(rest) if rest else "")
    if number in _GERMAN:
        return "eins" if number == 1 and alone else _GERMAN[number]
    unit = number % 10
    return f"{_GERMAN[unit]}und{_GERMAN[number - unit]}"


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

"""Numbers in English, French and German words."""

import hashlib

import pytest

from headlight.corpora.number_words import french_number, german_number, in_words

# Of 0 to 9,999 in the words of num2words 0.5.14, one number a line.
DIGESTS = {"en": "25fe7882ff29a255", "fr": "5ac4abc9d653cdbc", "de": "4861edde14877493"}
WRITTEN = {
    "en": {25: "twenty-five", 100: "one hundred", 131: "one hundred and thirty-one"},
    "fr": {21: "vingt et un", 71: "soixante et onze", 80: "quatre-vingts", 81: "quatre-vingt-un", 108: "cent huit",
           200: "deux cents", 201: "deux cent un"},
    "de": {1: "eins", 21: "einundzwanzig", 131: "einhunderteinunddreißig", 201: "zweihunderteins"},
}  # fmt: skip


@pytest.mark.parametrize("language", DIGESTS)
def test_numbers_in_words(language: str) -> None:
    assert {number: in_words(number, language) for number in WRITTEN[language]} == WRITTEN[language]
    lines = "\n".join(in_words(number, language) for number in range(10_000))
    assert hashlib.sha256(lines.encode()).hexdigest()[:16] == DIGESTS[language]


def test_forms_that_only_sentences_have() -> None:
    assert french_number(8) == "*huit" and german_number(1, alone=False) == "ein" and german_number(100) == "hundert"

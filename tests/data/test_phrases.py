"""The phrase books: every line is a pair, properly written, and no sentence of tests/everyday is in them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from headlight.analysis.accepted_translations import sentences
from headlight.corpora.files import lines

ROOT = Path(__file__).resolve().parents[2]
BOOKS = sorted((ROOT / "headlight" / "corpora" / "phrases").glob("*.tsv"))
EVERYDAY = sorted((ROOT / "tests" / "everyday").glob("*.tsv"))
MIN_PAIRS = 800
MAX_TRANSLATIONS = 2  # of one English sentence; a model that meets three of them hesitates

books = pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)


def letters_and_digits(text: str) -> str:
    """Return what is left of `text` without case, accents, punctuation, apostrophes and spaces."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if character.isalnum())


def test_there_is_a_book_and_something_to_keep_out_of_it() -> None:
    assert "en-fr" in {book.stem for book in BOOKS}
    assert {"en-fr", "short.en-fr"} <= {table.stem for table in EVERYDAY}


@books
def test_each_line_is_a_pair(book: Path) -> None:
    rows = list(lines(book))
    assert len(rows) >= MIN_PAIRS
    for row in rows:
        cells = row.split("\t")
        assert len(cells) == 2, row
        assert all(cell and cell == " ".join(cell.split()) for cell in cells), row
        assert unicodedata.is_normalized("NFC", row), row
        assert "’" not in row and row.replace("\t", "").isprintable(), row
    assert [row for row, count in Counter(rows).items() if count > 1] == []


@books
def test_no_sentence_of_the_everyday_lists_is_in_a_book(book: Path) -> None:
    # The lists of another pair of languages judge other models; and "Butter" in German is no leak of "butter".
    tables = [table for table in EVERYDAY if table.stem.removeprefix("short.") == book.stem]
    tested = {letters_and_digits(sentence.source) for table in tables for sentence in sentences(lines(table))}
    assert len(tested) >= 100
    assert [row for row in lines(book) if letters_and_digits(row.split("\t")[0]) in tested] == []


def test_the_french_is_typed_as_the_corpora_have_it() -> None:
    pairs = [row.split("\t") for row in lines(ROOT / "headlight" / "corpora" / "phrases" / "en-fr.tsv")]
    for english, french in pairs:
        assert all(french[n - 1] == " " for n, mark in enumerate(french) if mark in "!?:;»"), french
        if english[-1] in ".!?":
            assert french[-1] in ".!?" and french[0] == french[0].upper(), french
    translations = Counter(english for english, _ in pairs)
    assert [english for english, count in translations.items() if count > MAX_TRANSLATIONS] == []

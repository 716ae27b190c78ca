import random
from datetime import date, datetime

import pytest

from headlight.corpora.generated import DATE_FORMATS, MONTHS, WEEKDAYS, Generated, write_date

SPLITS = ("train", "validation", "test")


@pytest.mark.parametrize("task", ["copy", "reverse", "dates"])
def test_same_seed_same_pairs_each_time(task: str) -> None:
    corpus = Generated(task, size=200)
    assert list(corpus) == list(corpus) == list(Generated(task, size=200))
    assert list(corpus) != list(Generated(task, size=200, seed=1))
    assert [pair.line for pair in corpus] == list(range(1, 201))
    assert (corpus.report.read, corpus.report.accepted) == (200, 200)


@pytest.mark.parametrize("task", ["copy", "reverse", "dates"])
def test_splits_share_nothing_whatever_their_seeds(task: str) -> None:
    pairs = [
        [pair for seed in range(2) for pair in Generated(task, split, size, seed)]
        for split, size in zip(SPLITS, (1000, 200, 200), strict=True)
    ]
    for side in ("source", "target"):
        train, validation, test = ({getattr(pair, side) for pair in split} for split in pairs)
        assert not train & validation and not train & test and not validation & test


@pytest.mark.parametrize("split", ["validation", "test"])
def test_no_sequence_is_tested_twice(split: str) -> None:
    sources = [pair.source for pair in Generated("reverse", split)]
    assert len(sources) == len(set(sources)) == 1000


def test_sequences_are_copied_and_reversed() -> None:
    for pair in Generated("copy", size=100):
        assert pair.target == pair.source
    pairs = list(Generated("reverse", size=1000))
    assert all(pair.target[::-1] == pair.source for pair in pairs)
    assert {len(pair.source) for pair in pairs} == set(range(1, 21))
    assert all(pair.source.isascii() and pair.source.islower() for pair in pairs)


def parse(text: str) -> tuple[date, int | None]:
    """Read a date the way a reader would, by what the words mean, not by how they were written."""
    words = text.replace(",", " ").replace("of", " ").split()
    month = next(MONTHS.index(word) + 1 for word in words if word in MONTHS)
    day, year = sorted(int(number) for word in words if (number := word.strip("stndrh")).isdecimal())
    weekday = next((WEEKDAYS.index(word) for word in words if word in WEEKDAYS), None)
    return date(year, month, day), weekday


def test_dates_mean_what_they_are_written_as() -> None:
    for pair in Generated("dates", size=2000):
        day, weekday = parse(pair.source)
        assert day.isoformat() == pair.target
        assert weekday in (None, datetime.fromisoformat(pair.target).weekday())


def test_ways_of_writing_a_date() -> None:
    ways = [write_date(date(2021, 5, 3), form) for form in DATE_FORMATS]
    assert {"3 May 2021", "May 3, 2021", "Monday, 3 May 2021", "3rd of May 2021"} <= set(ways)
    ordinals = {
        number: write_date(date(2021, 1, number), "{nth}") for number in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30)
    }
    assert " ".join(ordinals.values()) == "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 23rd 30th"


def test_dates_use_every_form_and_leave_the_global_generator_alone() -> None:
    random.seed(0)
    before = random.getstate()
    sources = [pair.source for pair in Generated("dates", size=500)]
    assert random.getstate() == before
    for mark in ("Monday", "the ", " of ", "May", "st "):
        assert any(mark in source for source in sources)


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'sort'.*copy, reverse, dates"):
        Generated("sort")
    with pytest.raises(ValueError, match="'dev'.*train, validation, test"):
        Generated("copy", "dev")

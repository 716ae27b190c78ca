"""Generated tasks (copy a word, reverse it, write a date in ISO form), and the five pairs of a tutorial's toy run."""

import hashlib
import random
import string
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from headlight.corpora.number_words import day_of_month
from headlight.corpora.pairs import Corpus, Pair
from transformer.quoting import quoted

SPLIT_PAIRS = {"train": 100_000, "validation": 1_000, "test": 1_000}
MAX_LETTERS = 20

# Not from `calendar`, whose names change with the machine's language.
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

# 03/05/2021 is left out: it is in May in one country and in March in another.
DATE_FORMATS = (
    "{day} {month} {year}",
    "{month} {day}, {year}",
    "{nth} {month} {year}",
    "{month} {nth}, {year}",
    "{nth} of {month} {year}",
    "the {nth} of {month}, {year}",
    "{weekday}, {day} {month} {year}",
    "{weekday}, {month} {day}, {year}",
)
FIRST_DAY, LAST_DAY = date(1700, 1, 1), date(2099, 12, 31)

TOY = "toy"  # the run of "Transformer: implementing a transformer architecture from scratch" (2025)
_PAIRS = (
    ("hello world", "bonjour le monde"),
    ("how are you", "comment ça va"),
    ("good morning", "bonjour"),
    ("thank you", "merci"),
    ("see you soon", "à bientôt"),
)


def copy(rng: random.Random) -> tuple[str, str]:
    word = _word(rng)
    return word, word


def reverse(rng: random.Random) -> tuple[str, str]:
    word = _word(rng)
    return word, word[::-1]


def dates(rng: random.Random) -> tuple[str, str]:
    day = FIRST_DAY + timedelta(days=rng.randrange((LAST_DAY - FIRST_DAY).days + 1))
    return write_date(day, rng.choice(DATE_FORMATS)), day.isoformat()


def write_date(day: date, form: str) -> str:
    return form.format(
        day=day.day,
        nth=day_of_month(day.day, "en", digits=True),
        month=MONTHS[day.month - 1],
        year=day.year,
        weekday=WEEKDAYS[day.weekday()],
    )


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(1, MAX_LETTERS)))


TASKS = {"copy": copy, "reverse": reverse, "dates": dates}


class Generated(Corpus):
    """The `size` pairs of a task, the same for the same seed.

    A hash of the answer decides the split that a pair belongs to, so the splits share no source and no target whatever
    their seeds and sizes. Validation and test have no pair twice.
    """

    def __init__(self, task: str, split: str = "train", size: int | None = None, seed: int = 0) -> None:
        if task not in TASKS:
            raise ValueError(f"There is no generated task {quoted(task)}; choose one of {', '.join(TASKS)}.")
        pairs = split_pairs(SPLIT_PAIRS, split)
        super().__init__(f"{task} ({split})")
        self.task, self.split, self.seed = task, split, seed
        self.size = pairs if size is None else size

    def rows(self) -> Iterator[Pair]:
        rng = random.Random(f"{self.task} {self.split} {self.seed}")
        sources: set[str] = set()
        line = 0
        while line < self.size:
            source, target = TASKS[self.task](rng)
            if split_of_target(target) != self.split or source in sources:
                continue
            if self.split != "train":  # train repeats words: few are short, and repeats keep these frequent
                sources.add(source)
            line += 1
            yield Pair(line, source, target)


def split_pairs(sizes: Mapping[str, int], split: str) -> int:
    """Return how many pairs a split has by default. Raises ValueError for an unknown split."""
    if split not in sizes:
        raise ValueError(f"There is no split {quoted(split)}; choose one of {', '.join(sizes)}.")
    return sizes[split]


def split_of_target(target: str) -> str:
    """Return the split of a pair by the hash of its target: 2 % are validation, 2 % test."""
    share = text_hash(target) % 100
    return "validation" if share < 2 else "test" if share < 4 else "train"


def text_hash(text: str) -> int:
    """Return a hash of a text from 0 to 2^64 - 1 that is the same in every process."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def toy_pairs() -> list[Pair]:
    return [Pair(line, *pair) for line, pair in enumerate(_PAIRS, 1)]

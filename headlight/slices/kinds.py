"""Slices: groups of sentences with a property in common. The slices of one kind partition a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from headlight.analysis.typical import has_unread
from headlight.slices import words
from transformer.quoting import quoted, short
from transformer.yielding import yield_turn

LENGTH_BOUNDS = (5, 10, 20, 40)  # the most words of a sentence in each slice; longer ones are in a slice of their own
MAX_COLUMN_SLICES = 12  # the most frequent values of a column have a slice each
MAX_VALUE_CHARACTERS = 60  # longer values are cut, and values with the same beginning share a slice
COLUMN_PREFIX = "column:"  # prefix of a kind that is a column of the file
ALL = "all"
# The property that tells the slices of a kind apart, as tables and pages write it.
KINDS = {
    "length": "Length of the source, in words",
    "rare": "Words that the training lacks",
    "names": "Names",
    "negation": "Negation",
    "pronouns": "Pronouns of the third person",
}
_SLICE_NAMES = {
    "rare": ("with a word that the training lacks", "all words in the training"),
    "names": ("with a name", "without names"),
    "negation": ("with a negation", "without negation"),
    "pronouns": ("with a pronoun", "without pronouns"),
}


@dataclass(frozen=True)
class Slice:
    """A set of sentences: `kind` is one of KINDS, "column:NAME", or "all"; `rows` are their indices in order."""

    kind: str
    name: str
    rows: tuple[int, ...]


def check_kinds(kinds: Iterable[str]) -> list[str]:
    """Return the kinds without duplicates. Raises ValueError for an unknown kind."""
    chosen = list(dict.fromkeys(kinds))
    for kind in chosen:
        if kind not in KINDS and (not kind.startswith(COLUMN_PREFIX) or kind == COLUMN_PREFIX):
            choices = f"{', '.join(KINDS)} and {COLUMN_PREFIX}NAME"
            raise ValueError(f"{quoted(kind)} is not a kind of slice; choose among {choices}.")
    return chosen


def slice_sentences(
    sources: Sequence[str],
    kinds: Iterable[str],
    *,
    language: str = "",
    read: Collection[str] = frozenset(),
    columns: Mapping[str, Sequence[str]] | None = None,
) -> tuple[list[Slice], dict[str, str]]:
    """Return the slices of each kind, and why other kinds do not apply, by kind.

    The slices of a kind partition the sentences; empty slices are left out. `language` is that of the sources, by its
    English name, `read` are the words of the training in lower case (`headlight.checkpoints.read_words`), and `columns`
    has the value of each sentence, by the name of a column.

    - length: words between spaces, 1 to 5, 6 to 10, 11 to 20, 21 to 40, and more;
    - rare: whether a word, letters alone and in lower case, is not in `read`;
    - names: whether a capitalised word that is no weekday, month or "I" stands inside a sentence; English and French;
    - negation, pronouns (of the third person): whether one of the words in `headlight.slices.words` occurs; English,
      French, German and Hindi;
    - column:NAME: the value of a column; the 12 most frequent have a slice each, and the others share one.

    Raises ValueError for an unknown kind, and for a column that is not among `columns`.
    """
    sources, slices, left_out = list(sources), list[Slice](), dict[str, str]()
    spaced = words.has_spaces(sources[:1000])
    for kind in check_kinds(kinds):
        yield_turn()
        if kind.startswith(COLUMN_PREFIX):
            name = kind.removeprefix(COLUMN_PREFIX)
            if columns is None or name not in columns:
                raise ValueError(f"There is no column {quoted(name)} in this data set.")
            slices += _by_value(kind, columns[name])
        elif kind in ("length", "rare") and not spaced:
            left_out[kind] = "it counts words, and no spaces separate them in these sentences"
        elif kind == "length":
            slices += _by_length(sources)
        else:
            test = _test(kind, language, read)
            if isinstance(test, str):
                left_out[kind] = test
                continue
            having = [test(source) for source in sources]
            slices += _slices_by_value(kind, dict(zip(_SLICE_NAMES[kind], (True, False), strict=True)), having)
    return slices, left_out


def _test(kind: str, language: str, read: Collection[str]) -> words.Test | str:
    if kind == "rare":
        if not read:
            return "the model's folder has no list of the words that it was trained on (words.txt.gz)"
        return lambda source: has_unread(source, read)
    return {"names": words.names, "negation": words.negation, "pronouns": words.pronouns}[kind](language)


def _slices_by_value(kind: str, values: Mapping[str, object], of_rows: Sequence[object]) -> list[Slice]:
    """Return the slices whose rows have these values, without empty ones."""
    slices = (
        Slice(kind, name, tuple(row for row, of_row in enumerate(of_rows) if of_row == value))
        for name, value in values.items()
    )
    return [of_value for of_value in slices if of_value.rows]


def _by_length(sources: Sequence[str]) -> list[Slice]:
    bins = [sum(len(source.split()) > most for most in LENGTH_BOUNDS) for source in sources]
    least = (1, *(most + 1 for most in LENGTH_BOUNDS))
    names = [f"{low} to {high} words" for low, high in zip(least, LENGTH_BOUNDS, strict=False)]
    names.append(f"more than {LENGTH_BOUNDS[-1]} words")
    return _slices_by_value("length", {name: number for number, name in enumerate(names)}, bins)


def _by_value(kind: str, values: Sequence[str]) -> list[Slice]:
    names = [shortened_value(value) for value in values]
    frequent = [name for name, _ in Counter(names).most_common(MAX_COLUMN_SLICES)]
    other_values = f"({len(set(names)) - len(frequent):,} other values)"
    of_rows = [name if name in frequent else other_values for name in names]
    return _slices_by_value(kind, {name: name for name in (*frequent, other_values)}, of_rows)


def shortened_value(value: str) -> str:
    """Return a value of a column as the name of its slice."""
    value = value.strip()
    return f"{value[: MAX_VALUE_CHARACTERS - 1]}…" if len(value) > MAX_VALUE_CHARACTERS else value or "(empty)"


def kind_title(kind: str) -> str:
    """Return the title of a kind, such as "Names"."""
    if kind == ALL:
        return "All sentences"
    return KINDS.get(kind) or f"Column {short(kind.removeprefix(COLUMN_PREFIX))}"

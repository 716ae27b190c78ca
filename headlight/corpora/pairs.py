"""Sentence pairs, the corpora that yield them, and reports of the rows that were rejected."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from transformer.yielding import yield_turn

MAX_CHARACTERS = 2000


class Pair(NamedTuple):
    line: int  # from 1, as editors count
    source: str
    target: str
    origin: str = ""  # the corpus of a mixture that it comes from


class Rejected(NamedTuple):
    line: int
    reason: str


@dataclass
class Report:
    """The number of pairs that one pass over a corpus read, accepted and rejected, with the first rejected rows."""

    name: str
    read: int = 0
    accepted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)  # how many for each reason
    first: list[Rejected] = field(default_factory=list)  # the first 100

    def reject(self, line: int, reason: str) -> None:
        self.rejected[reason] += 1
        if len(self.first) < 100:
            self.first.append(Rejected(line, reason))

    def followed_by(self, following: "Report") -> "Report":
        """Return the report of this pass and of a check that rejected some of its accepted pairs."""
        accepted = self.accepted - following.rejected.total()
        first = sorted(self.first + following.first)[:100]
        return Report(self.name, self.read, accepted, self.rejected + following.rejected, first)

    def __str__(self) -> str:
        rejected = self.rejected.total()
        text = f"{self.name}: {self.read:,} pairs read, {self.accepted:,} kept, {rejected:,} rejected"
        for reason, count in self.rejected.most_common():
            lines = [str(line) for line, line_reason in self.first if line_reason == reason][:10]
            more = [f"and {count - len(lines):,} more"] if count > len(lines) else []
            text += f"\n  {count:,} {reason}" + (f": line {', '.join(lines + more)}" if lines else "")
        return text


class Corpus(ABC):
    """Sentence pairs that can be iterated any number of times; each `iter()` starts from the first.

    `report` counts the rejected rows of the last complete pass.
    """

    def __init__(self, name: str, max_characters: int = MAX_CHARACTERS) -> None:
        self.name = name
        self.max_characters = max_characters
        self.report = Report(name)

    def count_rows(self) -> None:  # noqa: B027 only mixtures need it
        """Count the rows, if iterating needs their number; this may read the whole corpus."""

    @abstractmethod
    def rows(self) -> Iterator[Pair | Rejected]:
        """Yield every row unchanged, with surrogates for undecodable bytes."""

    def __iter__(self) -> Iterator[Pair]:
        report = Report(self.name)
        for row in self.rows():
            report.read += 1
            checked = self._checked(row)
            if isinstance(checked, Pair):
                report.accepted += 1
                yield checked
            else:
                report.reject(*checked)
        self.report = report

    def _checked(self, row: Pair | Rejected) -> Pair | Rejected:
        if isinstance(row, Rejected):
            return row
        line, source, target = row.line, row.source.strip(), row.target.strip()
        if not source:
            return Rejected(line, "empty source")
        if not target:
            return Rejected(line, "empty target")
        if max(len(source), len(target)) > self.max_characters:
            return Rejected(line, "too long")
        for text, side in ((source, "source"), (target, "target")):
            if not is_unicode(text):
                return Rejected(line, f"undecodable {side}")
        return row._replace(source=source, target=target)


class Pairs(Corpus):
    """A corpus in memory."""

    def __init__(self, name: str, pairs: Iterable[Pair], max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(name, max_characters)
        self.pairs = list(pairs)

    def rows(self) -> Iterator[Pair]:
        yield from self.pairs


class ChangedCorpus(Corpus):
    """A corpus whose pairs are changed or rejected one by one."""

    def __init__(self, corpus: Corpus, name: str = "") -> None:
        super().__init__(name or corpus.name, corpus.max_characters)
        self.corpus = corpus

    def count_rows(self) -> None:
        self.corpus.count_rows()

    @abstractmethod
    def change(self, pair: Pair) -> Pair | Rejected: ...

    def rows(self) -> Iterator[Pair | Rejected]:
        for row in self.corpus.rows():
            yield self.change(row) if isinstance(row, Pair) else row


class FirstRows(Corpus):
    """The first `count` rows of a corpus, usable or not."""

    def __init__(self, corpus: Corpus, count: int) -> None:
        super().__init__(corpus.name, corpus.max_characters)
        self.corpus, self.count = corpus, count

    def rows(self) -> Iterator[Pair | Rejected]:
        for row in islice(self.corpus.rows(), self.count):
            yield_turn()
            yield row


def is_unicode(text: str) -> bool:
    """Return whether a text was decoded without errors, which leave surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

"""Sentence pairs with alternatives: "Das Hotel ist {gut/schön}. = The hotel is {good/nice}."

A group in braces lists alternatives. The first group of a side is called a, the second b, and so on; a group with
the same name chooses the alternative with the same number, on both sides. A group may give its name in front:
"{b:here/there}" takes its choice from group b wherever it stands, and does not count as the first, second, ... group.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SentencePair = tuple[str, str]  # source and target
_GROUP = re.compile(r"\{(?:([a-z]):)?([^{}]*)\}")


class Template(NamedTuple):
    """The text between groups and the groups of both sides; `sizes` has the number of alternatives of each group."""

    source: tuple[str | tuple[str, list[str]], ...]
    target: tuple[str | tuple[str, list[str]], ...]
    sizes: dict[str, int]

    def n_choices(self) -> int:
        """Return the number of ways to choose the alternatives."""
        return math.prod(self.sizes.values())

    def fill(self, number: int) -> SentencePair:
        """Return the pair of choice `number`, which is below `n_choices()`."""
        choice = {}
        for name, size in self.sizes.items():
            number, choice[name] = divmod(number, size)
        return _fill(self.source, choice), _fill(self.target, choice)


def parse_template(line: str) -> Template:
    """Parse "source = target". Raises ValueError where a group's alternatives differ in number."""
    if line.count(" = ") != 1:
        raise ValueError(f"A template is written 'source = target', not {line!r}.")
    sizes: dict[str, int] = {}
    source, target = (_parse_side(side, sizes, line) for side in line.split(" = "))
    names = {part[0] for part in source if not isinstance(part, str)}
    if unknown := sizes.keys() - names:
        raise ValueError(f"Only the target has the group {sorted(unknown)[0]!r}: {line!r}.")
    return Template(source, target, sizes)


def spread(template: Template, max_pairs: int) -> Iterator[SentencePair]:
    """Yield up to `max_pairs` pairs in which every alternative of every group occurs about equally often."""
    count = template.n_choices()
    if count <= max_pairs:
        numbers: Sequence[int] = range(count)
    else:
        step = next(step for step in itertools.count(count * 5 // 8) if math.gcd(step, count) == 1)
        numbers = [step * index % count for index in range(max_pairs)]
    for number in numbers:
        yield template.fill(number)


def _parse_side(side: str, sizes: dict[str, int], line: str) -> tuple[str | tuple[str, list[str]], ...]:
    parts: list[str | tuple[str, list[str]]] = []
    unnamed = end = 0
    for match in _GROUP.finditer(side):
        name, alternatives = match[1], match[2].split("/")
        if name is None:
            name = chr(ord("a") + unnamed)
            unnamed += 1
        if sizes.setdefault(name, len(alternatives)) != len(alternatives):
            raise ValueError(f"Group {name} has {sizes[name]} and {len(alternatives)} alternatives: {line!r}.")
        parts += [side[end : match.start()], (name, alternatives)]
        end = match.end()
    return (*parts, side[end:])


def _fill(parts: tuple[str | tuple[str, list[str]], ...], choice: dict[str, int]) -> str:
    text = "".join(part if isinstance(part, str) else part[1][choice[part[0]]] for part in parts)
    return text[:1].upper() + text[1:]

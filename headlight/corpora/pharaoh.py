"""Word alignments in the Pharaoh format: a line for each sentence pair, such as `0-0 1-2 3p4`.

`1-2` is a sure link from word 1 of the source to word 2 of the target, `3p4` or `3?4` a possible one. Words are counted
from 0.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from headlight.corpora.files import lines
from transformer.quoting import quoted, short

Link = tuple[int, int]  # (word of the source, word of the target)
_LINK = re.compile(r"([0-9]{1,6})([-p?])([0-9]{1,6})")


class Links(NamedTuple):
    """The gold alignment of a sentence pair (Och and Ney 2003). Every sure link is possible, too."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    @property
    def reversed(self) -> Links:
        """The same links from the target to the source."""
        return Links(*(frozenset((target, source) for source, target in links) for links in self))


def parse_links(line: str, one_based: bool = False) -> Links:
    """Return the links of a line; `one_based` if its words are counted from 1. Raises ValueError for anything else."""
    sure, possible = set(), set()
    for text in line.split():
        match = _LINK.fullmatch(text)
        if match is None:
            raise ValueError(
                f"{quoted(text)} is not a link; write SOURCE-TARGET for a sure link and SOURCEpTARGET or SOURCE?TARGET "
                "for a possible one, such as 0-0 1-2 3p4."
            )
        link = int(match[1]) - one_based, int(match[3]) - one_based
        if min(link) < 0:
            raise ValueError(f"{quoted(text)} has a word 0, but words are counted from 1 here.")
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return Links(frozenset(sure), frozenset(possible))


def read_links(path: str | Path, one_based: bool = False) -> list[Links]:
    """Return the links of each line of a file. Raises ValueError, naming the line, for a line in another format."""
    links = []
    for number, line in enumerate(lines(path), 1):
        try:
            links.append(parse_links(line, one_based))
        except ValueError as error:
            raise ValueError(f"{short(path)}, line {number}: {error}") from None
    return links

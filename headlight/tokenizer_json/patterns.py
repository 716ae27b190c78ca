r"""Regular expressions from untrusted files, and what matching them may cost.

The library matches by backtracking: where a part can match in several ways, each is tried until the rest matches too,
so `(a+)+$` takes exponential time to fail. This parser accepts the part of Oniguruma's syntax whose steps can be
counted: characters, classes, alternatives, groups, lookaround, and repetition of a part that can match in one way only.
Everything else is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import NamedTuple

MAX_PATTERN_CHARACTERS = 2**22  # a class of a whole vocabulary's characters has 100,000
MAX_DEPTH = 20  # groups inside groups
MAX_REPEATS = 1_000

_INTERVAL = re.compile(r"\{(\d{1,4})?(?:(,)(\d{1,4})?)?\}")
# A class without nested classes is matched at once: one made from a vocabulary has thousands of characters.
_ESCAPE = r"\\(?:[pP]\{\^?[\w ]{1,40}\}|x\{[0-9A-Fa-f]{1,8}\}|x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{4}|[sSdDwWhHnrtfv]|\W)"
_CLASS = re.compile(rf"\[\^?\]?(?:[^\\\[\]]|{_ESCAPE})*")
_SINGLE_ESCAPE = re.compile(_ESCAPE)
_INSIDE = re.compile(rf"(?:[^\\\[\]]|{_ESCAPE})*")
_ANCHOR = re.compile(r"\\[bBAzZ]|[\^$]")
_GROUP = re.compile(r"\((?:\?(?:i?:|<?[=!]))?(?!\?)")
# Literal characters are matched at once: there may be 100,000 from a vocabulary.
_RUN = re.compile(r"(?:(?:\\x\{[0-9a-f]{1,5}\}|[^\W_])(?![*+?{]))+")
_CODE = re.compile(r"\\(?:x\{([0-9A-Fa-f]+)\}|[xu]([0-9A-Fa-f]+))")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}


class Steps(NamedTuple):
    """A number of steps: `fixed`, plus `per_character` for each character of the longest run that repeats can match."""

    fixed: float
    per_character: float = 0

    def plus(self, other: Steps) -> Steps:
        return Steps(self.fixed + other.fixed, self.per_character + other.per_character)

    def times(self, other: Steps) -> Steps:
        if self.per_character and other.per_character:
            raise ValueError("repeats inside or after what repeats, which may take forever")
        per_character = self.fixed * other.per_character + self.per_character * other.fixed
        return Steps(self.fixed * other.fixed, per_character)


_ONCE = Steps(1)
_UNBOUNDED = Steps(1, 1)


class Cost(NamedTuple):
    """The cost of matching at one position."""

    shortest: int  # the fewest characters of a match
    ways: Steps  # the number of ways to match
    work: Steps  # steps to try them all
    always: bool  # whether it matches at every position


@dataclass
class _Item:
    """A part of a pattern, repeated `least` to `most` times (None: unbounded)."""

    text: str = ""  # the text that it matches, if there is only one
    width: int = 1  # characters that it matches; 0 for an anchor such as "^"
    branches: list[list[_Item]] | None = None  # of a group
    looks: bool = False  # whether it is a lookahead or lookbehind
    least: int = 1
    most: int | None = 1

    @property
    def once(self) -> bool:
        return self.least == self.most == 1


@lru_cache(maxsize=4)  # one import needs the same pattern several times, and it may be as long as a vocabulary
def cost(pattern: str) -> Cost:
    """Return the cost of matching. Raises ValueError, whose message continues "a pattern that", if it is unbounded."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise ValueError(f"has over {MAX_PATTERN_CHARACTERS:,} characters")
    parser = _PatternParser(pattern)
    branches = parser.branches(0)
    if parser.at < len(pattern):
        raise ValueError(f"has a {pattern[parser.at]!r} too many")
    return _cost_of_any(branches, True)


class _PatternParser:
    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def branches(self, depth: int) -> list[list[_Item]]:
        """Parse alternatives up to the end of the group or pattern."""
        if depth > MAX_DEPTH:
            raise ValueError(f"has over {MAX_DEPTH} groups inside each other")
        branches: list[list[_Item]] = [[]]
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                self.at += 1
                branches.append([])
            else:
                item = self._item(depth)
                self._repeat(item)
                branches[-1].append(item)
        return branches

    def _item(self, depth: int) -> _Item:
        for read in (self._run, self._anchor, self._escaped, self._class):
            item = read()
            if item is not None:
                return item
        character = self.pattern[self.at]
        if character == "(":
            return self._group(depth)
        if character in "*+?{\\":
            raise ValueError(f"has {self.pattern[self.at : self.at + 8]!r}, which is not understood here")
        self.at += 1
        return _Item("" if character == "." else character)

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.pattern, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match[0]

    def _run(self) -> _Item | None:
        run = self._match(_RUN)
        text = _CODE.sub(lambda code: chr(int(code[1], 16)), run)
        return _Item(text, len(text)) if run else None

    def _anchor(self) -> _Item | None:
        return _Item(width=0) if self._match(_ANCHOR) else None

    def _escaped(self) -> _Item | None:
        text = self._match(_SINGLE_ESCAPE)
        if not text:
            return None
        code = _CODE.fullmatch(text)
        if code is not None:
            number = int(code[1] or code[2], 16)
            return _Item(chr(number) if number < 0x110000 else "")
        return _Item(text[1] if not text[1].isalnum() else _CONTROLS.get(text[1], "") if len(text) == 2 else "")

    def _class(self, depth: int = 0) -> _Item | None:
        """Parse a character class, which may contain classes."""
        if not self._match(_CLASS):
            return None
        while self.at < len(self.pattern) and self.pattern[self.at] == "[":
            if depth > MAX_DEPTH or not self._class(depth + 1):
                raise ValueError("has a class that is not understood here")
            self._match(_INSIDE)
        if self.at >= len(self.pattern) or self.pattern[self.at] != "]":
            raise ValueError("has a class that is not understood here")
        self.at += 1
        return _Item()

    def _group(self, depth: int) -> _Item:
        start = self._match(_GROUP)
        if not start:
            raise ValueError(f"has {self.pattern[self.at : self.at + 8]!r}, which is not understood here")
        inside = self.branches(depth + 1)
        if self.at >= len(self.pattern):
            raise ValueError("has a group that does not end")
        self.at += 1
        return _Item(branches=inside, looks=start.endswith(("=", "!")))

    def _repeat(self, item: _Item) -> None:
        sign = self.pattern[self.at : self.at + 1]
        if sign and sign in "*+?":
            item.least, item.most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
            self.at += 1
            if self.pattern[self.at : self.at + 1] in ("?", "+"):  # lazy or possessive
                self.at += 1
        elif sign == "{":
            text = self._match(_INTERVAL)
            interval = _INTERVAL.fullmatch(text)
            if interval is None or not (interval[1] or interval[3]):
                raise ValueError("has a '{' that is not understood here")
            item.least = int(interval[1] or 0)
            item.most = item.least if not interval[2] else int(interval[3]) if interval[3] else None
            if max(item.least, item.most or 0) > MAX_REPEATS or item.least > (item.most or MAX_REPEATS):
                raise ValueError(f"repeats over {MAX_REPEATS:,} times")
        again = self.pattern[self.at : self.at + 1]
        if not item.once and (again and again in "*+?{" or not item.width or item.looks):
            raise ValueError("repeats what is repeated, or a place")


def _cost_of_any(branches: list[list[_Item]], rest_matches: bool) -> Cost:
    costs = [_cost_of_all(branch, rest_matches) for branch in branches]
    texts = {_literal(branch) for branch in branches}
    if len(texts) == len(branches) and None not in texts:  # at one position, texts of one length exclude each other
        ways = Steps(len({len(text) for text in texts if text is not None}))
    else:
        ways = reduce(Steps.plus, (each.ways for each in costs))
    work = reduce(Steps.plus, (each.work for each in costs))
    return Cost(min(each.shortest for each in costs), ways, work, any(each.always for each in costs))


def _literal(branch: list[_Item]) -> str | None:
    """Return the text that a branch matches, case-folded; None if there are several."""
    if all(item.text and item.once for item in branch):
        return "".join(item.text for item in branch).casefold()
    return None


def _cost_of_all(items: list[_Item], rest_matches: bool) -> Cost:
    """Return the cost of a sequence: each item is tried once for every way in which those before it match."""
    costs: list[Cost] = []
    for item in reversed(items):
        each = _repeated(item, rest_matches)
        costs.append(each)
        rest_matches = rest_matches and each.always
    ways, work = _ONCE, _ONCE
    for each in reversed(costs):
        work = work.plus(ways.times(each.work))
        ways = ways.times(each.ways)
    return Cost(sum(each.shortest for each in costs), ways, work, all(each.always for each in costs))


def _repeated(item: _Item, rest_matches: bool) -> Cost:
    """Return the cost of a repetition. If `rest_matches`, the rest always matches, so there is no backtracking."""
    if item.branches is not None:
        return _repeated_group(item, item.branches, rest_matches)
    if item.once or not item.width:
        return Cost(item.width, _ONCE, _ONCE, False)
    if item.most is None:
        ways = _ONCE if rest_matches else _UNBOUNDED
        return Cost(item.least, ways, ways.plus(Steps(item.least)), item.least == 0)
    ways = _ONCE if rest_matches else Steps(item.most - item.least + 1)
    return Cost(item.least, ways, Steps(max(item.most, 1)), item.least == 0)


def _repeated_group(item: _Item, branches: list[list[_Item]], rest_matches: bool) -> Cost:
    if item.looks:
        inside = _cost_of_any(branches, False)  # what it matches is matched again by the next item
        return Cost(0, _ONCE, inside.work, False)
    if item.once:
        return _cost_of_any(branches, rest_matches)
    if (item.least, item.most) == (0, 1):
        inside = _cost_of_any(branches, rest_matches)
        return Cost(0, inside.ways.plus(_ONCE), inside.work.plus(_ONCE), True)
    inside = _cost_of_any(branches, False)
    if inside.ways != _ONCE or not inside.shortest:
        raise ValueError("repeats a group that matches in several ways, which may take forever")
    times = _UNBOUNDED if item.most is None else Steps(item.most - item.least + 1)
    most = Steps(item.least).plus(_UNBOUNDED) if item.most is None else Steps(item.most)
    return Cost(item.least * inside.shortest, times, most.times(inside.work), item.least == 0)

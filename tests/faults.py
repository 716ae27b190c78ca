"""Small faults in bytes for fuzzers: flipped bits, cuts, copied pieces and other numbers."""

import random
import re
from collections.abc import Callable

NUMBERS = (b"-1", b"0", b"1e400", b"NaN", b"2147483648", b"9223372036854775808", b"9" * 30, b'"7"', b"[]", b"null")


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return a copy with one to three small faults."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        FAULTS[chance.randrange(len(FAULTS))](data, chance)
    return bytes(data)


def _flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 4, 32))):
        if data:
            data[_spot(data, chance)] ^= 1 << chance.randrange(8)


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[_spot(data, chance) :]


def _remove(data: bytearray, chance: random.Random) -> None:
    start = _spot(data, chance)
    del data[start : start + chance.choice((1, 8, 200))]


def _insert(data: bytearray, chance: random.Random) -> None:
    start = _spot(data, chance)
    data[start:start] = chance.randbytes(chance.choice((1, 8, 200)))


def _copy(data: bytearray, chance: random.Random) -> None:
    start, to = _spot(data, chance), _spot(data, chance)
    piece = data[start : start + 64]
    data[to : to + len(piece)] = piece


def _fill(data: bytearray, chance: random.Random) -> None:
    start = _spot(data, chance)
    data[start : start + 8] = chance.choice((b"\0", b"\xff", b"\x7f")) * chance.choice((1, 4, 8))


def _renumber(data: bytearray, chance: random.Random) -> None:
    """Replace a number in the first 20,000 bytes, which are often text."""
    numbers = list(re.finditer(rb"\d+", data[:20_000]))
    if numbers:
        start, end = chance.choice(numbers).span()
        data[start:end] = chance.choice(NUMBERS)


FAULTS = (_flip, _cut, _remove, _insert, _copy, _fill, _renumber)


def _spot(data: bytearray, chance: random.Random) -> int:
    """Return a random position, most often near the beginning or the end, where formats keep their headers."""
    near = min(len(data), 600)
    return max(chance.choice((chance.randrange(near or 1), len(data) - chance.randint(1, near or 1), -1)), 0) or (
        chance.randrange(len(data) or 1)
    )


def in_one_sentence(action: Callable[[], object]) -> bool:
    """Return whether `action` succeeded; a ValueError of one line returns False, any other error fails the test."""
    try:
        action()
    except ValueError as error:
        assert str(error) and "\n" not in str(error) and len(str(error)) < 1_000
        return False
    return True

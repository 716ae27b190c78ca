"""Judge guesses. Nothing here needs a model: the server of a class judges without opening one.

Everything is plain JSON. A question of each kind, as it may be sent before the answer, and its guess:

    word    {"labels": [...], "query": str, "picture": {...}}      the index of a label
    row     the same                                               per cent for each label, 100 together
    head    {"kind": str, "layers": L, "heads": H, "thumbnails"}   [layer, head], from 1
    number  {"least", "most", "step", "unit"}                      a number
    choice  {"choices": [...]}                                     the index of a choice
    order   {"items": [...]}                                       the indices of the items, in the guessed order

A question about a number also has the fields of a row if the number is a weight, and those of a head if it counts
heads; so does an order of heads. They are the picture beside the question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

from headlight.formatting import lesson_number, percent
from headlight.language import ORIGINAL_LANGUAGE, current, gettext, pgettext, translatable

QUESTION_KINDS = ("word", "row", "head", "number", "choice", "order")
CLOSE_TOLERANCE = 0.1  # share of the slider's range within which a number counts as right
SAME_ROW_PERCENT = 75  # overlap from which a drawn row counts as right

Json = dict[str, Any]
Posed = Mapping[str, Any]


def check_guess(posed: Posed, guess: object) -> Any:
    """Return the guess in the form in which it is judged.

    Raises ValueError for a guess that does not answer the question, since it comes from a browser.
    """
    return _CHECKS[posed["ask"]](posed, guess)


def judge(posed: Posed, truth: Posed, guess: Any) -> Json:
    """Compare a checked guess with the truth.

    Returns `right`, a `score` from 0 to 1, and a `sentence`; for a row also its `overlap`, that of a uniform row
    (`evenly`), both in per cent, and the `difference` for each label; for a wrong choice with a misconception
    (`betrays`) its name, the belief and the correction.
    """
    return _JUDGES[posed["ask"]](posed, truth, guess)


def overlap(left: list[float], right: list[float]) -> float:
    """Return Σ min(left, right): what two rows that sum to 100 have in common, in percent."""
    return sum(map(min, left, right))


# ---- checks --------------------------------------------------------------------------------------------------------


def _index(count: int, guess: object, options: str) -> int:
    if type(guess) is not int or not 0 <= guess < count:
        raise ValueError(f"A guess is the place of one of {count} {options}, from 0.")
    return guess


def _number(value: object) -> float:
    try:
        number = float(value) if type(value) in (int, float) else math.nan  # type: ignore[arg-type]
    except OverflowError:  # an int of hundreds of digits
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("A guess is a number.")
    return number


def _list(value: object, count: int) -> list[object]:
    if not isinstance(value, list) or len(value) != count:
        raise ValueError(f"A guess is a list of {count}.")
    return value


def _check_row(posed: Posed, guess: object) -> list[float]:
    row = [_number(value) for value in _list(guess, len(posed["labels"]))]
    if min(row) < 0 or abs(sum(row) - 100) > 1:
        raise ValueError("A row shares out 100 per cent, and none of it is negative.")
    return row


def _check_head(posed: Posed, guess: object) -> list[int]:
    indices = zip(_list(guess, 2), (posed["layers"], posed["heads"]), strict=True)
    if any(type(index) is not int or not 1 <= index <= count for index, count in indices):
        raise ValueError(f"A guess is a layer from 1 to {posed['layers']} and a head from 1 to {posed['heads']}.")
    return guess  # type: ignore[return-value]


def _check_number(posed: Posed, guess: object) -> float:
    value = _number(guess)
    if not posed["least"] <= value <= posed["most"]:
        raise ValueError(f"A guess lies from {posed['least']} to {posed['most']}.")
    return value


def _check_order(posed: Posed, guess: object) -> list[int]:
    order = [_index(len(posed["items"]), item, "items") for item in _list(guess, len(posed["items"]))]
    if len(set(order)) < len(order):
        raise ValueError("An order has every item once.")
    return order


_CHECKS: dict[str, Callable[[Posed, Any], Any]] = {
    "word": lambda posed, guess: _index(len(posed["labels"]), guess, "words"),
    "row": _check_row,
    "head": _check_head,
    "number": _check_number,
    "choice": lambda posed, guess: _index(len(posed["choices"]), guess, "choices"),
    "order": _check_order,
}


# ---- judges --------------------------------------------------------------------------------------------------------


def _judged(right: bool, score: float, sentence: str, **more: Any) -> Json:
    return {"right": right, "score": round(score, 4), "sentence": sentence, **more}


def _judge_word(posed: Posed, truth: Posed, guess: int) -> Json:
    row, labels = truth["row"], posed["labels"]
    largest = max(row)
    right = row[guess] == largest
    sentence = translatable("“{word}” gets {share}, the most.")
    if not right:
        sentence = translatable("“{word}” gets {share}, not the most.")
    words = gettext(sentence, word=labels[guess], share=percent(row[guess] / 100))
    return _judged(right, row[guess] / largest, words)


def _judge_row(posed: Posed, truth: Posed, guess: list[float]) -> Json:
    row: list[float] = truth["answer"]
    # Rounded here, so that all pages show the same numbers.
    common, even = round(overlap(guess, row)), round(overlap([100 / len(row)] * len(row), row))
    sentence = gettext(
        "{common} of your row lies where the head looks; shared out evenly, it would be {evenly}.",
        common=percent(common / 100),
        evenly=percent(even / 100),
    )
    difference = [round(guessed - its, 1) for guessed, its in zip(guess, row, strict=True)]
    return _judged(
        common >= SAME_ROW_PERCENT,
        common / 100,
        sentence,
        overlap=common,
        evenly=even,
        difference=difference,
    )


def _judge_head(posed: Posed, truth: Posed, guess: list[int]) -> Json:
    values, (layer, head) = truth["values"], guess
    flat = sorted((value for row in values for value in row), reverse=not truth.get("smallest"))
    rank = flat.index(values[layer - 1][head - 1]) + 1
    right = guess == truth["answer"]
    if right:
        sentence = gettext("That head it is.")
    else:
        sentence = gettext("Of {heads} heads, yours comes {rank}.", heads=len(flat), rank=_ordinal(rank))
    return _judged(right, 1 - (rank - 1) / len(flat), sentence, place=rank)


def _judge_number(posed: Posed, truth: Posed, guess: float) -> Json:
    off = guess - truth["answer"]
    # Percentages differ by percentage points.
    unit = gettext("points") if posed["unit"] == "%" else posed["unit"]
    span = posed["most"] - posed["least"]
    right = abs(off) <= max(CLOSE_TOLERANCE * span, posed["step"] / 2)
    distance = f"{lesson_number(abs(off))} {unit}".rstrip()
    if abs(off) < posed["step"] / 2:
        sentence = gettext("Exactly.")
    elif off > 0:
        sentence = gettext("{distance} too high.", distance=distance)
    else:
        sentence = gettext("{distance} too low.", distance=distance)
    return _judged(right, max(0.0, 1 - abs(off) / span), sentence, difference=round(off, 4))


def _judge_choice(posed: Posed, truth: Posed, guess: int) -> Json:
    right = guess == truth["answer"]
    betrayed = None if right else dict(enumerate(truth.get("betrays", ()))).get(guess)
    more = {"betrays": betrayed} if betrayed else {}
    return _judged(
        right, float(right), gettext("As you expected.") if right else gettext("Not as you expected."), **more
    )


def _judge_order(posed: Posed, truth: Posed, guess: list[int]) -> Json:
    rank = {item: i for i, item in enumerate(truth["answer"])}
    pairs = list(combinations(guess, 2))
    in_order = sum(rank[first] < rank[second] for first, second in pairs)
    right = in_order == len(pairs)
    if right:
        sentence = gettext("In that order.")
    else:
        sentence = gettext("{number} of {all} pairs stand in the right order.", number=in_order, all=len(pairs))
    return _judged(right, in_order / len(pairs), sentence)


_JUDGES: dict[str, Callable[[Posed, Posed, Any], Json]] = {
    "word": _judge_word,
    "row": _judge_row,
    "head": _judge_head,
    "number": _judge_number,
    "choice": _judge_choice,
    "order": _judge_order,
}


def _ordinal(number: int) -> str:
    if current() != ORIGINAL_LANGUAGE:
        return pgettext("ordinal", "{number}th", number=number)
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"

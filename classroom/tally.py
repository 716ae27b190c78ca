"""What a class said together, and each answer in words. Nobody's name is in either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

Posed = Mapping[str, Any]


def tally(posed: Posed, guesses: Sequence[Any]) -> dict[str, Any]:
    """{"count": answers, and by the kind of question: "counts" of each word, choice or head (layer by layer),
    "mean" and "spread" (standard deviation) of rows in per cent with the "counts" of where the highest bar stood,
    "values" of numbers, or "orders"}."""
    ask, whole = posed["ask"], {"count": len(guesses)}
    if ask == "number":
        return whole | {"values": sorted(guesses)}
    if ask == "order":
        return whole | {"orders": sorted(guesses)}
    if ask == "row" and guesses:
        columns = list(zip(*guesses, strict=True))
        whole |= {"mean": [fmean(column) for column in columns], "spread": [pstdev(column) for column in columns]}  # type: ignore[dict-item]
    counts = [0] * size(posed)
    for guess in guesses:
        counts[place(posed, guess)] += 1
    return whole | {"counts": counts}


def size(posed: Posed) -> int:
    """How many things there are to choose among."""
    if posed["ask"] == "head":
        return int(posed["layers"]) * int(posed["heads"])
    return len(posed["choices"] if posed["ask"] == "choice" else posed["labels"])


def place(posed: Posed, guess: Any) -> int:
    """Which of them was chosen; of a row, where its highest bar stands."""
    if posed["ask"] == "head":
        return int((guess[0] - 1) * posed["heads"] + guess[1] - 1)
    return int(guess.index(max(guess)) if posed["ask"] == "row" else guess)


def in_words(posed: Posed, guess: Any) -> str:
    """An answer as a person reads it."""
    match posed["ask"]:
        case "word":
            return str(posed["labels"][guess])
        case "choice":
            return str(posed["choices"][guess]).replace("**", "")  # the only emphasis that a choice has
        case "head":
            return f"layer {guess[0]}, head {guess[1]}"
        case "number":
            return f"{guess:.6g} {posed.get('unit') or ''}".strip()
        case "order":
            return ", ".join(str(posed["items"][item]) for item in guess)
        case _:
            given = zip(posed["labels"], guess, strict=True)
            return ", ".join(f"{label} {share:.4g} %" for label, share in given if share)

"""Count the answers of a class, and write them in words; neither contains anybody's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

from headlight.formatting import lesson_number, percent_sign
from headlight.language import gettext
from headlight.teaching.lessons.judging import Posed, judge

# Peer instruction: the right answers, in per cent, between which pupils should discuss. With fewer a discussion spreads
# the mistake; with more it is no longer needed.
TALK_FROM, TALK_TO = 30, 70
MAX_BARS = 8  # of `split`; with more options, those that nobody chose are left out
MAX_SURENESS = 3  # how sure an answer is: 1 unsure, 2 fairly sure, 3 sure


def tally(posed: Posed, guesses: Sequence[Any]) -> dict[str, Any]:
    """Return the counts of a class's answers.

    {"count": answers, and by the kind of question: "counts" of each word, choice or head (layer by layer), "mean" and
    "spread" (standard deviation) of rows in per cent with the "counts" of where the highest bar stood, "values" of
    numbers, or "orders"}.
    """
    ask, result = posed["ask"], {"count": len(guesses)}
    if ask == "number":
        return result | {"values": sorted(guesses)}
    if ask == "order":
        return result | {"orders": sorted(guesses)}
    if ask == "row" and guesses:
        columns = list(zip(*guesses, strict=True))
        result |= {"mean": [fmean(column) for column in columns], "spread": [pstdev(column) for column in columns]}  # type: ignore[dict-item]
    counts = [0] * size(posed)
    for guess in guesses:
        counts[chosen_index(posed, guess)] += 1
    return result | {"counts": counts}


def size(posed: Posed) -> int:
    """Return the number of options."""
    if posed["ask"] == "head":
        return int(posed["layers"]) * int(posed["heads"])
    return len(posed["choices"] if posed["ask"] == "choice" else posed["labels"])


def chosen_index(posed: Posed, guess: Any) -> int:
    """Return the index of the option that was chosen; of a row, that of its highest bar."""
    if posed["ask"] == "head":
        return int((guess[0] - 1) * posed["heads"] + guess[1] - 1)
    return int(guess.index(max(guess)) if posed["ask"] == "row" else guess)


def in_words(posed: Posed, guess: Any) -> str:
    """Return an answer as a person reads it."""
    match posed["ask"]:
        case "word":
            return str(posed["labels"][guess])
        case "choice":
            return without_emphasis(str(posed["choices"][guess]))
        case "head":
            return gettext("layer {layer}, head {head}", layer=guess[0], head=guess[1])
        case "number":
            number, unit = lesson_number(guess), posed.get("unit") or ""
            return percent_sign(number) if unit == "%" else f"{number} {unit}".strip()
        case "order":
            return ", ".join(str(posed["items"][item]) for item in guess)
        case _:
            shares = zip(posed["labels"], guess, strict=True)
            return ", ".join(f"{label} {percent_sign(lesson_number(share))}" for label, share in shares if share)


def without_emphasis(text: str) -> str:
    return text.replace("**", "")  # the only emphasis that questions and choices have


def is_right(posed: Posed, truth: Posed, guess: Any) -> bool:
    """Return whether an answer is right.

    A drawn row is right where its highest bar stands where the head looks most.
    """
    if posed["ask"] == "row":
        return chosen_index(posed, guess) == chosen_index(posed, truth["answer"])
    return bool(judge(posed, truth, guess)["right"])


def share_right(posed: Posed, truth: Posed, guesses: Sequence[Any]) -> float | None:
    """Return the share of the answers that are right, from 0 to 1; None without answers."""
    return fmean(is_right(posed, truth, guess) for guess in guesses) if guesses else None


def split(posed: Posed, truth: Posed, guesses: Sequence[Any]) -> dict[str, Any]:
    """Return the distribution of a class's answers so far, for the teacher alone.

    Returns {"share": of right answers, from 0 to 1, "cue": "explain", "talk" or "go", "right": how many are right,
    "bars": [{"label", "count", "right"}], "misconceptions": see `misconceptions`}; share and cue are None without
    answers.
    """
    share = share_right(posed, truth, guesses)
    return {
        "share": share,
        "cue": None if share is None else cue(round(100 * share)),
        "right": sum(is_right(posed, truth, guess) for guess in guesses),
        "bars": _bars(posed, truth, guesses),
        "misconceptions": misconceptions(posed, truth, guesses),
    }


def class_result(posed: Posed, truth: Posed, rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how the class did in a step that was revealed.

    {"right": the share of right answers in each round, and of the last round "count": how many are right,
    "misconceptions": see `misconceptions`, "sure": how many "said" how sure they were, how many were sure but "wrong",
    and how many unsure but "right", and of rows "mean": what the mean row has in common with the head's}.
    """
    guesses, sure = rounds[-1]["guesses"], rounds[-1]["sure"]
    are_right = [is_right(posed, truth, guess) for guess in guesses]
    answers = list(zip(sure, are_right, strict=True))
    result: dict[str, Any] = {
        "right": [share_right(posed, truth, round_["guesses"]) for round_ in rounds],
        "count": sum(are_right),
        "misconceptions": misconceptions(posed, truth, guesses),
        "sure": {
            "said": sum(level is not None for level in sure),
            "wrong": answers.count((MAX_SURENESS, False)),
            "right": answers.count((1, True)),
        },
    }
    if posed["ask"] == "row" and "mean" in rounds[-1]:
        result["mean"] = judge(posed, truth, rounds[-1]["mean"])
    return result


def misconception(posed: Posed, truth: Posed, guess: Any) -> Mapping[str, str] | None:
    """Return the misconception that a wrong answer betrays, {"name", "belief", "correction"}, if it betrays one."""
    betrayed: Mapping[str, str] | None = judge(posed, truth, guess).get("betrays")
    return betrayed


def misconceptions(posed: Posed, truth: Posed, guesses: Sequence[Any]) -> list[dict[str, Any]]:
    """Return how many answers betray each misconception, the most frequent first: name, belief, correction, count."""
    betrayed = [known for guess in guesses if (known := misconception(posed, truth, guess))]
    counts = Counter(known["name"] for known in betrayed)
    by_name = {known["name"]: known for known in betrayed}
    return [{**by_name[name], "count": count} for name, count in counts.most_common()]


def cue(percent: int) -> str:
    """Return what peer instruction advises for this percentage of right answers: "explain", "talk" or "go"."""
    return "explain" if percent < TALK_FROM else "talk" if percent <= TALK_TO else "go"


def _bars(posed: Posed, truth: Posed, guesses: Sequence[Any]) -> list[dict[str, Any]]:
    ask, answer = posed["ask"], truth["answer"]
    if ask == "number":
        close = [guess for guess in guesses if is_right(posed, truth, guess)]
        low = sum(guess < answer for guess in guesses if guess not in close)
        right = gettext("close to {number}", number=in_words(posed, answer))
        high = len(guesses) - low - len(close)
        counts = [(gettext("lower"), low), (right, len(close)), (gettext("higher"), high)]
        return [{"label": label, "count": count, "right": label == right} for label, count in counts]
    if ask == "order":
        orders = sorted({*map(tuple, guesses), tuple(answer)}, key=lambda order: -guesses.count(list(order)))
        bars = [(in_words(posed, order), guesses.count(list(order)), list(order) == answer) for order in orders]
    else:
        its, counted = chosen_index(posed, answer), tally(posed, guesses)["counts"]
        bars = [(_option(posed, i), count, i == its) for i, count in enumerate(counted)]
    if len(bars) > MAX_BARS:
        bars = [bar for bar in bars if bar[1] or bar[2]]
    return [{"label": label, "count": count, "right": right} for label, count, right in bars]


def _option(posed: Posed, at: int) -> str:
    """Return the label of one entry in the counts of `tally`."""
    if posed["ask"] == "head":
        return in_words(posed, [at // posed["heads"] + 1, at % posed["heads"] + 1])
    return str(posed["labels"][at]) if posed["ask"] == "row" else in_words(posed, at)

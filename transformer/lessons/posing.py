"""A step as a question without its answer, and as its answer."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import numpy as np

from transformer.lessons.judging import Json
from transformer.lessons.language import Named, Run
from transformer.lessons.measuring import Extreme, Measuring, Row, comparable, plain
from transformer.lessons.reading import Step, filled, places
from transformer.quoting import quoted
from transformer.trace import Trace

NAMED = {"word": ("top",), "row": ("row",), "head": ("extreme",)}  # what answers a question of each kind


def base(step: Step) -> Run:
    """What a step's expressions are about where they don't say otherwise: its view's sentence and model."""
    return Run(text=step.query.get("text"), target=step.query.get("target"), model=step.model)


def pose(step: Step, measuring: Measuring) -> Json:
    """The question, with nothing in it that tells the answer. Raises ValueError where the model has no such view."""
    posed: Json = {"ask": step.ask, "question": _text(step.question, measuring)}
    return posed | _POSED[step.ask](step, measuring)


def truth(step: Step, measuring: Measuring) -> Json:
    """The answer as `judging` has it, and the explanation with its numbers."""
    return _TRUE[step.ask](step, measuring) | {"explanation": _text(step.explanation, measuring)}


def introduction(step: Step, measuring: Measuring) -> str:
    """What stands before the question."""
    return _text(step.text, measuring)


def failing(step: Step, measuring: Measuring) -> list[str]:
    """The claims of a step that do not hold, and what else its texts get wrong about this model."""
    return [claim.text for claim in step.claims if not measuring(claim)]


def _text(text: str, measuring: Measuring) -> str:
    return filled(text, [written(place, measuring(place)) for place in places(text)])


def written(named: Named, value: Any) -> str:
    """A value as a text says it: "35 %", "0.98", "encoder 2.2", the words themselves."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Extreme):
        return f"{named.kind} {'.'.join(map(str, value.head))}"
    if isinstance(value, str | Row):
        return str(comparable(value))
    if named.share:
        return _percent(100 * value)
    number = f"{value:.0f}" if value == int(value) else f"{value:.2g}" if abs(value) < 1 else f"{value:.3g}"
    return number.replace("-", "−")


def _percent(value: float) -> str:
    """Never all or nothing where it is only nearly so."""
    if 0 < value < 0.5:
        return "less than 1 %"
    return "more than 99 %" if 99.5 <= value < 100 else f"{value:.0f} %"


def _answer(step: Step, measuring: Measuring) -> Any:
    assert step.answer is not None
    allowed = NAMED.get(step.ask)
    if allowed and step.answer.what not in allowed:
        raise ValueError(f"line {step.line}: {quoted(step.answer.text)} does not answer a question of kind {step.ask}.")
    return measuring(step.answer)


# ---- words and rows ------------------------------------------------------------------------------------------------


def _pose_row(step: Step, measuring: Measuring) -> Json:
    row, named = _answer(step, measuring), step.answer
    assert isinstance(row, Row)
    assert named is not None and named.head is not None
    trace = measuring.trace(named.run)
    query = measuring.words(named.words[0], trace.row_tokens(named.head.kind))
    return {
        "labels": [plain(label) for label in row.labels],
        "query": named.words[0].text,
        "head": str(named.head),
        "picture": _picture(trace, named, query),
    }


def _picture(trace: Trace, named: Named, query: int) -> Json:
    """The head's matrix without the row that is asked for."""
    assert named.head is not None
    kind, layer, head = named.head
    masked = trace.masked(kind)
    weights: list[list[float | None]] = trace.pattern(kind)[layer - 1, head - 1].astype(np.float64).round(3).tolist()
    weights[query] = [None] * len(weights[query])
    return {
        "kind": kind,
        "layer": layer,
        "head": head,
        "rows": [plain(label) for label in trace.rows(kind)],
        "columns": [plain(label) for label in trace.columns(kind)],
        "weights": weights,
        "masked": masked.tolist(),
        "asked": query,
    }


def _true_row(step: Step, measuring: Measuring) -> Json:
    row = _answer(step, measuring)
    return {"answer": row.shares, "row": row.shares}


def _true_word(step: Step, measuring: Measuring) -> Json:
    row = _answer(step, measuring)
    return {"answer": row.top, "row": row.shares}


# ---- heads ---------------------------------------------------------------------------------------------------------


def _pose_head(step: Step, measuring: Measuring) -> Json:
    named = step.answer
    assert named is not None
    _answer(step, measuring)
    trace = measuring.trace(named.run)
    patterns = trace.pattern(named.kind)
    return {
        "kind": named.kind,
        "layers": patterns.shape[0],
        "heads": patterns.shape[1],
        "thumbnails": patterns.astype(np.float64).round(2).tolist(),
        "masked": trace.masked(named.kind).tolist(),
        "rows": [plain(label) for label in trace.rows(named.kind)],
        "columns": [plain(label) for label in trace.columns(named.kind)],
    }


def _true_head(step: Step, measuring: Measuring) -> Json:
    extreme = _answer(step, measuring)
    return {"answer": extreme.head, "values": extreme.values, "smallest": extreme.smallest}


# ---- numbers, choices, orders --------------------------------------------------------------------------------------


def _pose_number(step: Step, measuring: Measuring) -> Json:
    assert step.scale is not None
    scale = step.scale
    return {"least": scale.least, "most": scale.most, "step": scale.step, "unit": scale.unit}


def _true_number(step: Step, measuring: Measuring) -> Json:
    """In the units of the slider: a share in per cent where that is its unit."""
    assert step.scale is not None
    value = float(_answer(step, measuring)) * (100 if step.scale.unit == "%" else 1)
    if not step.scale.least <= value <= step.scale.most:
        raise ValueError(f"line {step.line}: the answer is {value:.4g}, and the slider cannot say it.")
    return {"answer": value}


def shuffled(step: Step) -> list[int]:
    """The order in which a step's options are shown: by its name alone, so the same for everybody."""
    order = list(range(len(step.options)))
    random.Random(hashlib.sha256(step.name.encode()).digest()).shuffle(order)
    return order


def _pose_choice(step: Step, measuring: Measuring) -> Json:
    return {"choices": [_text(step.options[i].text, measuring) for i in shuffled(step)]}


def _true_choice(step: Step, measuring: Measuring) -> Json:
    holds = [bool(measuring(step.options[i].by)) for i in shuffled(step)]
    if sum(holds) != 1:
        raise ValueError(f"line {step.line}: {sum(holds)} of the choices are right with this model; one must be.")
    return {"answer": holds.index(True)}


def _pose_order(step: Step, measuring: Measuring) -> Json:
    return {"items": [_text(step.options[i].text, measuring) for i in shuffled(step)]}


def _true_order(step: Step, measuring: Measuring) -> Json:
    """From the largest value to the smallest."""
    values = [float(comparable(measuring(step.options[i].by))) for i in shuffled(step)]
    order = sorted(range(len(values)), key=lambda i: -values[i])
    return {"answer": order, "values": values}


_POSED = {
    "word": _pose_row,
    "row": _pose_row,
    "head": _pose_head,
    "number": _pose_number,
    "choice": _pose_choice,
    "order": _pose_order,
}
_TRUE = {
    "word": _true_word,
    "row": _true_row,
    "head": _true_head,
    "number": _true_number,
    "choice": _true_choice,
    "order": _true_order,
}

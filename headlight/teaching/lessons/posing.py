"""Turn a step into a question without its answer, and into its answer."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from typing import Any

import numpy as np

from headlight.formatting import lesson_number, percent
from headlight.language import gettext, translatable
from headlight.teaching.lessons.judging import Json
from headlight.teaching.lessons.language import Expression, Run
from headlight.teaching.lessons.measuring import Extreme, LessonComputer, Row, comparable, plain
from headlight.teaching.lessons.reading import Step, expressions_in, filled
from headlight.teaching.misconceptions import in_words
from transformer.quoting import quoted
from transformer.trace import Trace

ANSWER_EXPRESSIONS = {"word": ("top",), "row": ("row",), "head": ("extreme",)}  # by kind of question


def base(step: Step) -> Run:
    """Return the default run of a step's expressions: the sentence and model of its view."""
    return Run(text=step.query.get("text"), target=step.query.get("target"), model=step.model)


def pose(step: Step, measuring: LessonComputer) -> Json:
    """Return the question without its answer.

    Raises ValueError where the model has no such view.
    """
    posed: Json = {"ask": step.ask, "question": _text(step.question, measuring)}
    return posed | _QUESTIONS[step.ask](step, measuring)


def truth(step: Step, measuring: LessonComputer) -> Json:
    """Return the answer in the form that `judging` expects, and the explanation with its numbers filled in."""
    return _ANSWERS[step.ask](step, measuring) | {"explanation": _text(step.explanation, measuring)}


HEAD_NAMES = {
    "encoder": translatable("encoder layer {layer}, head {head}"),
    "decoder": translatable("decoder layer {layer}, head {head}"),
    "cross": translatable("cross-attention layer {layer}, head {head}"),
}


def introduction(step: Step, measuring: LessonComputer) -> str:
    """Return the text before the question."""
    return _text(step.text, measuring)


def failing(step: Step, measuring: LessonComputer) -> list[str]:
    """Return the claims of a step that do not hold, and other errors of its texts about this model."""
    return [claim.text for claim in step.claims if not measuring(claim)]


def _text(text: str, measuring: LessonComputer) -> str:
    return filled(text, [value_text(expression, measuring(expression)) for expression in expressions_in(text)])


def value_text(expression: Expression, value: Any) -> str:
    """Return a value as a text says it: "35 %", "0.98", "encoder layer 2, head 2", the words themselves."""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, Extreme):
        layer, head = value.head
        return gettext(HEAD_NAMES[expression.kind], layer=layer, head=head)
    if isinstance(value, str | Row):
        return str(comparable(value))
    return percent(value) if expression.share else lesson_number(value)


def _answer(step: Step, measuring: LessonComputer) -> Any:
    assert step.answer is not None
    allowed = ANSWER_EXPRESSIONS.get(step.ask)
    if allowed and step.answer.what not in allowed:
        raise ValueError(f"line {step.line}: {quoted(step.answer.text)} does not answer a question of kind {step.ask}.")
    return measuring(step.answer)


# ---- words and rows ------------------------------------------------------------------------------------------------


def _pose_row(step: Step, measuring: LessonComputer) -> Json:
    _answer(step, measuring)
    assert step.answer is not None
    return _pose_of_row(step.answer, measuring)


def _pose_of_row(expression: Expression, measuring: LessonComputer) -> Json:
    row = measuring(expression)
    assert isinstance(row, Row)
    assert expression.head is not None
    trace = measuring.trace(expression.run)
    query = measuring.words(expression.words[0], trace.row_tokens(expression.head.kind))
    return {
        "labels": [plain(label) for label in row.labels],
        "query": expression.words[0].text or plain(trace.row_tokens(expression.head.kind).labels[query]),
        "head": str(expression.head),
        "picture": _picture(trace, expression, query),
    }


def _picture(trace: Trace, expression: Expression, query: int) -> Json:
    """Return the head's matrix without the row that is asked for."""
    assert expression.head is not None
    kind, layer, head = expression.head
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


def _true_row(step: Step, measuring: LessonComputer) -> Json:
    row = _answer(step, measuring)
    return {"answer": row.shares, "row": row.shares}


def _true_word(step: Step, measuring: LessonComputer) -> Json:
    row = _answer(step, measuring)
    return {"answer": row.top, "row": row.shares}


# ---- heads ---------------------------------------------------------------------------------------------------------


def _pose_head(step: Step, measuring: LessonComputer) -> Json:
    expression = step.answer
    assert expression is not None
    _answer(step, measuring)
    trace = measuring.trace(expression.run)
    posed = _thumbnails(trace, expression.kind)
    if expression.words:  # one cell of every head is compared
        row = measuring.words(expression.words[0], trace.row_tokens(expression.kind))
        column = measuring.words(expression.words[1], trace.column_tokens(expression.kind))
        posed["asked"] = {"row": row, "column": column}
    return posed


def _thumbnails(trace: Trace, kind: str) -> Json:
    patterns = trace.pattern(kind)
    return {
        "kind": kind,
        "layers": patterns.shape[0],
        "heads": patterns.shape[1],
        "thumbnails": np.asarray(patterns, np.float64).round(2).tolist(),
        "masked": trace.masked(kind).tolist(),
        "rows": [plain(label) for label in trace.rows(kind)],
        "columns": [plain(label) for label in trace.columns(kind)],
    }


def _true_head(step: Step, measuring: LessonComputer) -> Json:
    extreme = _answer(step, measuring)
    return {"answer": extreme.head, "values": extreme.values, "smallest": extreme.smallest}


# ---- numbers, choices, orders --------------------------------------------------------------------------------------


def _pose_number(step: Step, measuring: LessonComputer) -> Json:
    assert step.scale is not None
    scale = step.scale
    slider = {"least": scale.least, "most": scale.most, "step": scale.step, "unit": scale.unit}
    assert step.answer is not None
    return slider | _picture_of_number(step.answer, measuring)


def _picture_of_number(expression: Expression, measuring: LessonComputer) -> Json:
    """Return the picture of a number: for a weight its head without the row, for a count of heads all heads."""
    if expression.what == "weight":
        return _pose_of_row(_row_of(expression), measuring)
    return _thumbnails(measuring.trace(expression.run), expression.kind) if expression.what == "count" else {}


def _row_of(weight: Expression) -> Expression:
    return replace(weight, what="row", words=weight.words[:1])


def _true_number(step: Step, measuring: LessonComputer) -> Json:
    """Return the value in the units of the slider, in percent where that is its unit."""
    assert step.scale is not None
    value = float(_answer(step, measuring)) * (100 if step.scale.unit == "%" else 1)
    if not step.scale.least <= value <= step.scale.most:
        raise ValueError(f"line {step.line}: the answer is {value:.4g}, and the slider cannot say it.")
    assert step.answer is not None
    row = {"row": measuring(_row_of(step.answer)).shares} if step.answer.what == "weight" else {}
    return {"answer": value} | row


def shuffled(step: Step) -> list[int]:
    """Return the order in which a step's options are shown. It depends only on the name, so everybody gets the same."""
    order = list(range(len(step.options)))
    random.Random(hashlib.sha256(step.name.encode()).digest()).shuffle(order)
    return order


def _pose_choice(step: Step, measuring: LessonComputer) -> Json:
    return {"choices": [_text(step.options[i].text, measuring) for i in shuffled(step)]}


def _true_choice(step: Step, measuring: LessonComputer) -> Json:
    holds = [bool(measuring(step.options[i].by)) for i in shuffled(step)]
    if sum(holds) != 1:
        raise ValueError(f"line {step.line}: {sum(holds)} of the choices are right with this model; one must be.")
    return {"answer": holds.index(True)} | betrayed(step)


def betrayed(step: Step) -> Json:
    """Return the misconception behind each choice, in the order on screen; {} if there is none."""
    names = [step.options[i].betrays for i in shuffled(step)]
    return {"betrays": [in_words(name) if name else None for name in names]} if any(names) else {}


def heads_compared(step: Step) -> tuple[str, Run] | None:
    """Return the kind of attention and the run whose heads a step orders, for its pictures; None for another order."""
    compared = {(option.by.head.kind, option.by.run) for option in step.options if option.by.head is not None}
    if len(compared) != 1 or any(option.by.what != "measure" for option in step.options):
        return None
    return compared.pop()


def _pose_order(step: Step, measuring: LessonComputer) -> Json:
    items = {"items": [_text(step.options[i].text, measuring) for i in shuffled(step)]}
    compared = heads_compared(step)
    return items | _thumbnails(measuring.trace(compared[1]), compared[0]) if compared else items


def _true_order(step: Step, measuring: LessonComputer) -> Json:
    """Return the options from the largest value to the smallest."""
    values = [float(comparable(measuring(step.options[i].by))) for i in shuffled(step)]
    order = sorted(range(len(values)), key=lambda i: -values[i])
    return {"answer": order, "values": values}


_QUESTIONS = {
    "word": _pose_row,
    "row": _pose_row,
    "head": _pose_head,
    "number": _pose_number,
    "choice": _pose_choice,
    "order": _pose_order,
}
_ANSWERS = {
    "word": _true_word,
    "row": _true_row,
    "head": _true_head,
    "number": _true_number,
    "choice": _true_choice,
    "order": _true_order,
}

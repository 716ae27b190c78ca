"""The lessons of a published page as data: texts with expressions, which js/lessons.js computes in the browser.

What a page cannot compute, such as a step that compares snapshots of a training, is computed here and recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from headlight import checkpoints, folders
from headlight.glossary import LESSON_TERMS, explained
from headlight.language import current
from headlight.teaching.lessons.language import Expression, Run, measure_names
from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, betrayed, heads_compared, introduction, pose, shuffled, truth
from headlight.teaching.lessons.reading import Lesson, Step, pieces, shelf, transfer_step
from headlight.teaching.lessons.translating import in_language
from headlight.web.model_file import model_bytes
from transformer.translator import Translator

Json = dict[str, Any]
COMPANION_BITS = 8  # of each weight of a model that only the lessons use
MAX_COMPANION_BYTES = 5_000_000  # of its weights as they are stored
COMPUTED_MEASURES = ("entropy", "distance", "previous", "same", "next", "sharpness")  # in js/measures.js
RECORDED_KINDS = ("contribution",)  # expressions that js/lessons.js cannot compute
PAGES = ("attention", "decoding")  # those that a published page has too


def lessons_of(model: str) -> tuple[list[Json], dict[str, bytes]]:
    """Return the lessons that a page with a model can play, and the other small models that they need, by name.

    There are none if no lesson is about the model. A lesson is left out if it needs another large model or a
    missing snapshot.
    """
    lessons = [lesson for lesson in _shelf() if all(name == model or _is_small(name) for name in models_of(lesson))]
    if not any(step.model == model for lesson in lessons for step in lesson.steps[:1]):
        return [], {}
    playable, needed = [], dict[str, None]()
    for lesson in lessons:
        try:
            playable.append(lesson_data(lesson, model))
        except ValueError:  # a snapshot is missing
            continue
        needed |= dict.fromkeys(name for step in playable[-1]["steps"] for name in step.get("models", ()))
    return playable, {name: _companion(name) for name in needed if name != model}


def lesson_data(lesson: Lesson, model: str) -> Json:
    """Return a lesson as viewer/js/web_lessons.js reads it. Raises ValueError where a step cannot be recorded."""
    steps = [step_data(step, model) for step in lesson.steps]
    heading = {"name": lesson.name, "number": lesson.number, "title": lesson.title}
    data = heading | {"question": lesson.question, "minutes": lesson.minutes, "steps": steps}
    transfer = transfer_step(lesson, "")
    page_models = {model}.union(*(step.get("models", ()) for step in steps))
    if transfer and all(map(is_computed, named_in(transfer))) and models_of_step(transfer) <= page_models:
        data["transfer"] = step_data(transfer, model) | {"own": ""}  # a sentence typed later cannot be recorded
    return data


def step_data(step: Step, model: str) -> Json:
    """Return a step as JSON: with its expressions where the page can compute all of them, else with their values.

    The values are computed with the full weights.
    """
    run = base(step)
    data: Json = {
        "name": step.name,
        "title": step.title,
        "ask": step.ask,
        "hint": step.hint,
        "sentence": run.text or "",
    }
    if step.model == model and step.page in PAGES:
        query = {key: value for key, value in step.query.items() if key in ("text", "kind", "layer", "head")}
        page = {"page": step.page} if step.page == "decoding" else {}
        data["own"] = "#" + urlencode(query | page)
    if not all(map(is_computed, named_in(step))):
        computer = LessonComputer(_translator, _folder, run)
        text, posed, answer = introduction(step, computer), pose(step, computer), truth(step, computer)
        return data | {"recorded": {"text": explained(text, *LESSON_TERMS), "posed": posed, "truth": answer}}
    data["base"] = {"text": run.text, "target": run.target, "model": run.model}
    data["models"] = sorted(models_of_step(step))
    data |= {
        "text": _with_terms(_text(step.text)),
        "question": _text(step.question),
        "explanation": _text(step.explanation),
    }
    options = [step.options[i] for i in shuffled(step)]
    data["options"] = [{"text": _text(option.text), "by": as_json(option.by)} for option in options]
    data |= betrayed(step)
    if step.answer is not None:
        data["answer"] = as_json(step.answer)
    if step.scale is not None:
        data["scale"] = {name: getattr(step.scale, name) for name in ("least", "most", "step", "unit")}
    if view := _view(step):
        data["view"] = as_json(view)
    if step.ask == "number" and step.answer is not None and step.answer.what == "weight":
        data["row"] = as_json(replace(step.answer, what="row", words=step.answer.words[:1]))
    return data


def _view(step: Step) -> Expression | None:
    """Return what to look at before the answer, as `posing` has it: a head without a row, or every head of a kind."""
    answer = step.answer
    if answer is not None and (step.ask in ("word", "row") or answer.what == "weight"):
        return replace(answer, what="row view")
    if answer is not None and (step.ask == "head" or answer.what == "count"):
        return replace(answer, what="heads view")
    compared = heads_compared(step)
    return compared and Expression("heads view", kind=compared[0], run=compared[1])


# ---- expressions -----------------------------------------------------------------------------------------------------


def as_json(expression: Expression) -> Json:
    """Return an expression as JSON, without fields at their defaults; measures have their names in `MEASURES`."""
    data = _without_defaults(expression, Expression("")) | {"what": expression.what}
    data.pop("text", None)
    if expression.measure and expression.what != "compare":
        data["measure"] = measure_names()[expression.measure]
    if expression.run != Run():
        data["run"] = _without_defaults(expression.run, Run())
    if expression.parts:
        data["parts"] = [as_json(part) for part in expression.parts]
    return data


def _without_defaults(value: Any, default: Any) -> Json:
    names = [field.name for field in fields(value)]
    return {name: getattr(value, name) for name in names if getattr(value, name) != getattr(default, name)}


def _text(text: str) -> list[str | Json]:
    """Return the parts of a text; every second one is an expression."""
    return [part if isinstance(part, str) else as_json(part) for part in pieces(text)]


def _with_terms(parts: list[str | Json]) -> list[str | Json]:
    """Return the parts with links to explanations of terms in those that are text."""
    gap = "\0"  # where an expression stands
    texts = explained(gap.join(part for part in parts if isinstance(part, str)), *LESSON_TERMS).split(gap)
    return [texts[i // 2] if i % 2 == 0 else part for i, part in enumerate(parts)]


def named_in(step: Step) -> Iterator[Expression]:
    """Yield the expressions of a step except its claims, and the parts of comparisons."""
    texts = [step.text, step.question, step.explanation, *(option.text for option in step.options)]
    in_texts = [part for text in texts for part in pieces(text) if not isinstance(part, str)]
    waiting = [*in_texts, *(option.by for option in step.options), *([step.answer] if step.answer else [])]
    while waiting:
        expression = waiting.pop()
        yield expression
        waiting += expression.parts


def is_computed(expression: Expression) -> bool:
    """Return whether js/lessons.js can compute an expression."""
    counts_effects = expression.what == "count" and bool(expression.words)
    by_measure = expression.what in ("measure", "extreme", "count") and bool(expression.measure)
    measured = not by_measure or measure_names().get(expression.measure) in COMPUTED_MEASURES
    return expression.what not in RECORDED_KINDS and not counts_effects and measured and expression.run.snapshot is None


# ---- models ----------------------------------------------------------------------------------------------------------


def models_of_step(step: Step) -> set[str]:
    return {step.model} | {expression.run.model for expression in named_in(step) if expression.run.model}


def models_of(lesson: Lesson) -> set[str]:
    return {name for step in lesson.steps for name in models_of_step(step)}


def _shelf() -> list[Lesson]:
    """Return the lessons in the current language."""
    folder = folders.lessons()
    lessons = shelf(folder) if folder.is_dir() else []
    return [in_language(folder / f"{lesson.name}.md", lesson, current()) for lesson in lessons]


def _folder(name: str) -> Path:
    return folders.checkpoints() / name


def _is_small(name: str) -> bool:
    weights = _folder(name) / "model.safetensors"
    return weights.is_file() and weights.stat().st_size <= MAX_COMPANION_BYTES


@lru_cache(2)
def _translator(name: str) -> Translator:
    return Translator(checkpoints.load(_folder(name)))


def _companion(name: str) -> bytes:
    return model_bytes(checkpoints.load(_folder(name)), {"name": name}, COMPANION_BITS)

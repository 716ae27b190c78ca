"""Print a lesson as one self-contained HTML file, with room for guesses or with the answers."""

from __future__ import annotations

import base64
from collections.abc import Callable
from html import escape
from pathlib import Path

import numpy as np
from markdown_it import MarkdownIt

from headlight.charts.colours import theme_named, thumbnail
from headlight.charts.document import faces, inline
from headlight.charts.svg import HeadBlock, block_drawing
from headlight.formatting import lesson_number, percent_sign
from headlight.graphemes import right_to_left
from headlight.language import current, gettext, translatable
from headlight.teaching.lessons.judging import Json
from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import introduction, pose, truth
from headlight.teaching.lessons.reading import Lesson, Step

_STYLE = (Path(__file__).parent / "handout.css").read_text(encoding="utf-8")
# A lesson may come from anybody; a picture that its handout loads could track the reader.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
)
_LOOK = theme_named("light")
_MATRIX_PIXELS = 480  # the largest width of a matrix without its labels
_MARKDOWN = MarkdownIt("commonmark", {"html": False})  # HTML in a text is shown as text


def handout(lesson: Lesson, measuring: Callable[[Step], LessonComputer], answers: bool = False) -> str:
    """Return the lesson as a page to print, for the teacher with `answers`.

    Raises ValueError where a step cannot be computed.
    """
    body = "".join(_section(i, step, measuring(step), answers) for i, step in enumerate(lesson.steps, 1))
    title = gettext("{title} (answers)", title=lesson.title) if answers else lesson.title
    source = gettext("Headlight. Pictures and answers are computed from the trained models.")
    return printable(title, lesson.question, body, source)


def printable(title: str, subtitle: str, body: str, source: str) -> str:
    """Return a page to print, one self-contained file; `body` is HTML, the other texts are plain."""
    return (
        f'<!DOCTYPE html>\n<html lang="{current()}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><title>{escape(title)}</title>'
        f"<style>{faces(body)}{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1><p>{escape(subtitle)}</p>\n{body}"
        f'<p class="source">{escape(source)}</p></body></html>\n'
    )


def _section(number: int, step: Step, measuring: LessonComputer, answers: bool) -> str:
    posed = pose(step, measuring)
    right = truth(step, measuring) if answers else None
    sentence = step.query.get("text")
    model = gettext("Model {name}", name=step.model)
    if sentence:
        model = gettext("Model {name}: {sentence}", name=step.model, sentence=sentence)
    return (
        f'<section><h2>{number}. {escape(step.title)}</h2><p class="source">{escape(model)}</p>'
        f"{_MARKDOWN.render(introduction(step, measuring))}"
        f'<div class="question">{_MARKDOWN.render(posed["question"])}</div>{_ANSWER_FIELDS[step.ask](posed, right)}'
        + (_answer(right) if right else _hint(step.hint))
        + "</section>\n"
    )


def _hint(text: str) -> str:
    return f'<div class="hint">{_MARKDOWN.render(gettext("Hint: {text}", text=text))}</div>' if text else ""


def _answer(right: Json) -> str:
    return f'<div class="answer">{_MARKDOWN.render(right["explanation"])}</div>'


def _row(posed: Json, right: Json | None) -> str:
    values = [f"{value:.0f}" for value in right["row"]] if right else [""] * len(posed["labels"])
    names = "".join(map(_name, posed["labels"]))
    cells = "".join(f"<td>{value}</td>" for value in values)
    caption = gettext("Per cent of the row:") if right else gettext("Your row, 100 per cent together:")
    table = f'<table class="fill"{_direction(posed["labels"])}><tr>{names}</tr><tr>{cells}</tr></table>'
    return f'{_matrix(posed["picture"], right)}<p class="hint">{escape(caption)}</p>{table}'


def _word(posed: Json, right: Json | None) -> str:
    word = escape(posed["labels"][right["answer"]]) if right else "&nbsp;"
    return _matrix(posed["picture"], right) + f'<p>{escape(gettext("The word:"))} <span class="line">{word}</span></p>'


def _matrix(picture: Json, right: Json | None) -> str:
    """Draw the pattern that a question is about, with the row asked for only where `right` gives the answer."""
    weights, masked = np.array(picture["weights"], np.float64), np.array(picture["masked"])
    if right:
        weights[picture["asked"], ~masked[picture["asked"]]] = np.array(right["row"]) / 100
    block = HeadBlock(
        gettext(_HEADS[picture["kind"]], layer=picture["layer"], head=picture["head"]),
        weights[None, None],
        picture["rows"],
        picture["columns"],
        masked,
        question_row=picture["asked"],
    )
    drawing = inline(block_drawing(block, room=_MATRIX_PIXELS))
    return f'<figure class="matrix"><figcaption class="source">{block.name}</figcaption>{drawing}</figure>'


_HEADS = {
    "encoder": translatable("Encoder layer {layer}, head {head}"),
    "decoder": translatable("Decoder layer {layer}, head {head}"),
    "cross": translatable("Cross layer {layer}, head {head}"),
}


def _name(label: str) -> str:
    return f'<th dir="auto">{escape(label)}</th>'


def _direction(labels: list[str]) -> str:
    """Return the attribute for the direction of a table with these column labels."""
    return ' dir="rtl"' if right_to_left(labels) else ""


def _head(posed: Json, right: Json | None) -> str:
    cells = ""
    for layer, heads in enumerate(posed["thumbnails"], 1):
        for head, weights in enumerate(heads, 1):
            weights_in_order = np.array(weights)[:, ::-1] if right_to_left(posed["columns"]) else np.array(weights)
            picture = base64.b64encode(thumbnail(weights_in_order, _LOOK.sequential, 0, 1)).decode("ascii")
            marked = ' class="right"' if right and right["answer"] == [layer, head] else ""
            name = escape(gettext("layer {layer}, head {head}", layer=layer, head=head))
            image = f'<img alt="{name}" src="data:image/png;base64,{picture}">'
            cells += f"<figure{marked}>{image}{name}</figure>"
    return f'<div class="heads" style="grid-template-columns:repeat({posed["heads"]},1fr)">{cells}</div>'


def _number(posed: Json, right: Json | None) -> str:
    answer = lesson_number(right["answer"]) if right else "&nbsp;"
    number = f'<span class="line">{answer}</span>'
    if posed["unit"] == "%":
        number = percent_sign(number)
    elif posed["unit"]:
        number += f" {escape(posed['unit'])}"
    ends = {name: lesson_number(posed[name]) for name in ("least", "most")}
    span = escape(gettext("from {least} to {most}:", **ends))
    return f'{_picture_of(posed, right)}<p>{span} {number}</p>'


def _choice(posed: Json, right: Json | None) -> str:
    items = "".join(
        f"<li{' class=right' if right and right['answer'] == i else ''}>{_MARKDOWN.renderInline(choice)}</li>"
        for i, choice in enumerate(posed["choices"])
    )
    return f'<ul class="choices">{items}</ul>'


def _order(posed: Json, right: Json | None) -> str:
    ranks = {item: rank for rank, item in enumerate(right["answer"], 1)} if right else {}
    items = "".join(
        f"<tr><td>{ranks.get(i, '')}</td><th>{escape(item)}</th></tr>" for i, item in enumerate(posed["items"])
    )
    return f'{_picture_of(posed, right)}<table class="fill">{items}</table>'


def _picture_of(posed: Json, right: Json | None) -> str:
    """Return the picture that belongs to a number or an order, if any."""
    if "picture" in posed:
        return _matrix(posed["picture"], right)
    return _head(posed, right) if "thumbnails" in posed else ""


_ANSWER_FIELDS: dict[str, Callable[[Json, Json | None], str]] = {
    "word": _word,
    "row": _row,
    "head": _head,
    "number": _number,
    "choice": _choice,
    "order": _order,
}

"""A lesson as a teacher writes it: one text file, checked when it is read.

    ---
    title: What does “it” mean?
    question: Who was too tired, and what was too wide?
    minutes: 12
    model: english-french
    ---

    ## Draw its row
    view: attention?kind=encoder&layer=2&head=2&text=The animal was tired.
    ask: row
    answer: row of encoder 2.2 from "it"
    claim: weight of encoder 2.2 from "it" to "wide" > 0.3

    What stands before the question, in Markdown.

    ### Question
    Where does “it” look? Draw its row.

    ### Hint
    ...
    ### Explanation
    It gives {weight of encoder 2.2 from "it" to "wide" in %} to “wide”.

Right answers are expressions, which `headlight.teaching.lessons.measuring` computes from the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl

from headlight.language import gettext
from headlight.teaching.lessons.judging import QUESTION_KINDS
from headlight.teaching.lessons.language import Expression, parse
from headlight.teaching.lessons.transfer import TRANSFERS
from headlight.teaching.misconceptions import MISCONCEPTIONS
from transformer.files import open_regular
from transformer.quoting import quoted

MAX_LESSON_BYTES = 200_000  # bytes of a file
FRONT_FIELDS = ("title", "question", "minutes", "model", "number", "transfer")
YOUR_SENTENCE = "your-sentence"  # the name of the step about a sentence that the learner types
SECTIONS = ("Question", "Hint", "Explanation")
PAGES = ("attention", "decoding", "why", "positions", "anatomy", "training", "heads")
_FIELD = re.compile(r"([a-z]+):\s*(.*)")
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_CHOICE = re.compile(r"-\s+(.*?)\s*(?:\{(if|by) ([^{}]*)\}(?:\s*\{betrays ([^{}]*)\})?)?")
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_RANGE = re.compile(rf"(-?{_NUMBER}) to (-?{_NUMBER}) by ({_NUMBER})(?: (\S.*))?")


class LessonLine(NamedTuple):
    """A line of the file; lines count from 1."""

    number: int
    text: str


@dataclass(frozen=True)
class Option:
    """A choice, or an item to put in order, with the condition or the number that decides.

    `betrays` names the misconception behind choosing it wrongly.
    """

    text: str
    by: Expression
    betrays: str = ""


@dataclass(frozen=True)
class NumberScale:
    """The slider of a number."""

    least: float
    most: float
    step: float
    unit: str = ""


@dataclass(frozen=True)
class Step:
    """A question of a lesson with the view that answers it. Texts are Markdown with {expressions}."""

    name: str  # of the address: "draw-its-row"
    title: str
    page: str
    query: dict[str, str]  # the view, as the page's address has it
    model: str
    ask: str
    text: str
    question: str
    hint: str
    explanation: str
    answer: Expression | None
    options: tuple[Option, ...] = ()
    scale: NumberScale | None = None
    claims: tuple[Expression, ...] = ()
    line: int = 1


@dataclass(frozen=True)
class Lesson:
    """A lesson: its title, question and steps in order."""

    name: str  # of the file: "it"
    number: int
    title: str
    question: str
    minutes: int
    steps: tuple[Step, ...]
    model: str = ""  # of steps whose view names none
    transfer: str = ""  # the question about the learner's own sentence, by its name in `transfer.TRANSFERS`

    def step(self, name: str) -> int:
        """Return the index of a step; 0 where no step has that name."""
        return next((i for i, step in enumerate(self.steps) if step.name == name), 0)


class Mistakes(ValueError):
    """All mistakes in a file, one per line: "it.md, line 12: ..."."""

    def __init__(self, file: str, mistakes: Iterable[tuple[int, str]]):
        super().__init__("\n".join(f"{file}, line {line}: {text}" for line, text in sorted(mistakes)))


def shelf(folder: Path) -> list[Lesson]:
    """Return the lessons of a folder, by their numbers. Raises ValueError naming every mistake of every file."""
    lessons, mistakes = [], []
    for path in sorted(folder.glob("*.md")):
        try:
            lessons.append(read(path))
        except ValueError as error:
            mistakes.append(str(error))
    if mistakes:
        raise ValueError("\n".join(mistakes))
    return sorted(lessons, key=lambda lesson: (lesson.number, lesson.name))


def read(path: Path) -> Lesson:
    """Return the lesson of a file. Raises ValueError naming everything that is wrong in it, with its line."""
    with open_regular(path) as file:
        data = file.read(MAX_LESSON_BYTES + 1)
    if len(data) > MAX_LESSON_BYTES:
        raise ValueError(f"{path.name} is larger than {MAX_LESSON_BYTES:,} bytes; a lesson is a few thousand.")
    try:
        return parse_lesson(data.decode("utf-8-sig"), path.stem, path.name)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is no text in UTF-8; save it as such.") from None


def parse_lesson(text: str, name: str, file: str) -> Lesson:
    """Return the lesson that a text describes; `file` is what errors call it."""
    lines = [LessonLine(number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1)]
    mistakes: list[tuple[int, str]] = []
    front, body = _front(lines, mistakes)
    steps = tuple(_steps(body, front.get("model", ""), mistakes))
    if not steps and not mistakes:
        mistakes.append((len(lines) or 1, "There is no step: begin one with “## Its name”."))
    names = [step.name for step in steps]
    for step in steps:
        if names.count(step.name) > 1:
            mistakes.append((step.line, f"Two steps are called {quoted(step.title)}; give each a name of its own."))
    if mistakes:
        raise Mistakes(file, mistakes)
    number, minutes = int(front.get("number", "99")), int(front["minutes"])
    named = front["title"], front["question"], minutes, steps, front["model"], front.get("transfer", "")
    return Lesson(name, number, *named)


def _front(lines: list[LessonLine], mistakes: list[tuple[int, str]]) -> tuple[dict[str, str], list[LessonLine]]:
    if not lines or lines[0].text != "---":
        mistakes.append((1, "The file begins with “---”, then title, question, minutes and model, then “---”."))
        return {}, lines
    end = next((i for i, line in enumerate(lines[1:], 1) if line.text == "---"), None)
    if end is None:
        mistakes.append((1, "The front matter is not closed: put “---” on a line of its own after it."))
        return {}, []
    front: dict[str, str] = {}
    for line in filter(lambda line: line.text.strip(), lines[1:end]):
        match = _FIELD.fullmatch(line.text)
        if match is None or match[1] not in FRONT_FIELDS:
            listed = f"{', '.join(FRONT_FIELDS[:-1])} and {FRONT_FIELDS[-1]}"
            mistakes.append((line.number, f"{quoted(line.text)} is none of {listed}."))
        elif match[1] in ("minutes", "number") and not re.fullmatch(r"[1-9]\d{0,2}", match[2]):
            mistakes.append((line.number, f"{match[1]} is {quoted(match[2])}; give a whole number from 1 to 999."))
            front[match[1]] = "1"  # it is not missing
        elif match[1] == "transfer" and match[2].strip() not in TRANSFERS:
            known = ", ".join(TRANSFERS)
            mistakes.append((line.number, f"There is no transfer {quoted(match[2])}; choose one of {known}."))
        else:
            front[match[1]] = match[2].strip()
    missing = [name for name in ("title", "question", "minutes", "model") if not front.get(name)]
    if missing:
        mistakes.append((1, f"The front matter lacks {', '.join(missing)}."))
    return front, lines[end + 1 :]


def _steps(lines: list[LessonLine], model: str, mistakes: list[tuple[int, str]]) -> Iterator[Step]:
    starts = [i for i, line in enumerate(lines) if line.text.startswith("## ")]
    for line in lines[: starts[0] if starts else None]:
        if line.text.strip():
            mistakes.append((line.number, "Text before the first step: begin one with “## Its name”."))
            break
    for start, end in pairwise([*starts, len(lines)]):
        before = len(mistakes)
        step = _StepReader(lines[start], lines[start + 1 : end], model, mistakes).step()
        if len(mistakes) == before:
            yield step


@dataclass
class _StepReader:
    """Reads one step and collects its mistakes."""

    heading: LessonLine
    lines: list[LessonLine]
    model: str
    mistakes: list[tuple[int, str]]
    fields: dict[str, list[LessonLine]] = field(default_factory=dict)

    def step(self) -> Step:
        body = self._fields()
        sections = self._sections(body)
        ask = self._single("ask").text
        if ask not in QUESTION_KINDS:
            self._wrong(self._single("ask").number, f"ask is {quoted(ask)}; choose one of {', '.join(QUESTION_KINDS)}.")
        page, query = self._view()
        listed = [line for line in sections["Question"] if line.text.startswith("- ")]
        question = [line for line in sections["Question"] if not line.text.startswith("- ")]
        options = tuple(self._options(listed, ask))
        answer = self._single("answer")
        if ask in ("choice", "order"):
            expression = None
            if "answer" in self.fields:
                self._wrong(answer.number, f"A question of kind {ask} has no answer: its list says what decides.")
        else:
            expression = self._parsed(answer.number, answer.text) if answer.text else None
            if "answer" not in self.fields:
                self._wrong(self.heading.number, "The step has no answer: name it, such as “answer: row of ...”.")
        for name in ("Question", "Explanation"):
            if not self._text(question if name == "Question" else sections[name]):
                self._wrong(self.heading.number, f"The step has no text under “### {name}”.")
        title = self.heading.text[3:].strip()
        return Step(
            name=re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or f"step-{self.heading.number}",
            title=title,
            page=page,
            query=query,
            model=query.pop("model", "") or self.model,
            ask=ask,
            text=self._text(sections[""]),
            question=self._text(question),
            hint=self._text(sections["Hint"]),
            explanation=self._text(sections["Explanation"]),
            answer=expression,
            options=options,
            scale=self._scale() if ask == "number" else None,
            claims=tuple(filter(None, (self._parsed(*line) for line in self.fields.get("claim", [])))),
            line=self.heading.number,
        )

    def _wrong(self, line: int, text: str) -> None:
        self.mistakes.append((line, text))

    def _fields(self) -> list[LessonLine]:
        """Read the fields below the heading; return the lines after them."""
        for i, line in enumerate(self.lines):
            match = _FIELD.fullmatch(line.text)
            if match is None or match[1] not in ("view", "ask", "answer", "range", "claim"):
                if match is not None:
                    names = "view, ask, answer, range and claim"
                    self._wrong(line.number, f"There is no field {quoted(match[1])}; a step has {names}.")
                    continue
                return self.lines[i:]
            self.fields.setdefault(match[1], []).append(LessonLine(line.number, match[2].strip()))
        return []

    def _single(self, name: str) -> LessonLine:
        lines = self.fields.get(name, [])
        if len(lines) > 1:
            self._wrong(lines[1].number, f"{name} was given before in this step.")
        return lines[0] if lines else LessonLine(self.heading.number, "")

    def _sections(self, body: list[LessonLine]) -> dict[str, list[LessonLine]]:
        sections: dict[str, list[LessonLine]] = {name: [] for name in ("", *SECTIONS)}
        at = ""
        for line in body:
            if not line.text.startswith("### "):
                sections[at].append(line)
                continue
            at = line.text[4:].strip()
            if at not in SECTIONS:
                self._wrong(line.number, f"There is no section {quoted(at)}; choose one of {', '.join(SECTIONS)}.")
                at = ""
        return sections

    def _text(self, lines: list[LessonLine]) -> str:
        """Return the lines as one text, its expressions checked."""
        for line in lines:
            for expression in _EXPRESSION.findall(line.text):
                self._parsed(line.number, expression)
        return "\n".join(line.text for line in lines).strip()

    def _parsed(self, line: int, text: str) -> Expression | None:
        try:
            return parse(text)
        except ValueError as error:
            self._wrong(line, str(error))
            return None

    def _view(self) -> tuple[str, dict[str, str]]:
        line = self._single("view")
        page, _, query = line.text.partition("?")
        if page not in PAGES:
            pages = ", ".join(PAGES)
            self._wrong(line.number, f"view begins with {quoted(page)}; begin with the name of a page: {pages}.")
        return page, dict(parse_qsl(query, keep_blank_values=True))

    def _options(self, lines: list[LessonLine], ask: str) -> Iterator[Option]:
        word = {"choice": "if", "order": "by"}.get(ask)
        if word is None:
            if lines:
                self._wrong(lines[0].number, f"A question of kind {quoted(ask)} has no list; leave it out.")
            return
        if len(lines) < 2:
            self._wrong(self.heading.number, f"A question of kind {ask} needs a list of at least two under it.")
        for line in lines:
            match = _CHOICE.fullmatch(line.text)
            if match is None or match[2] != word:
                missing = "a condition, as {if A > B}" if word == "if" else "a number, as {by weight of ...}"
                self._wrong(line.number, f"What decides is missing at the end of the line: {missing}.")
                continue
            by = self._parsed(line.number, match[3])
            self._text([LessonLine(line.number, match[1])])
            betrays = (match[4] or "").strip()
            if match[4] is not None and (word != "if" or betrays not in MISCONCEPTIONS):
                known = f"a choice betrays one of {', '.join(MISCONCEPTIONS)}"
                self._wrong(line.number, f"There is no misconception {quoted(betrays)} here; {known}.")
            if by is not None:
                yield Option(match[1], by, betrays)

    def _scale(self) -> NumberScale | None:
        line = self._single("range")
        match = _RANGE.fullmatch(line.text)
        if match is None:
            self._wrong(line.number, "A number needs its slider: “range: 0 to 100 by 1 %”.")
            return None
        least, most, step = (float(match[i]) for i in (1, 2, 3))
        if least >= most or not 0 < step <= most - least:
            self._wrong(line.number, f"The range {quoted(line.text)} has no room for a step.")
        return NumberScale(least, most, step, match[4] or "")


def filled(text: str, values: Iterable[str]) -> str:
    """Return the text with its {expressions} replaced, in their order."""
    replacements = iter(values)
    return _EXPRESSION.sub(lambda match: next(replacements), text)


def expressions_in(text: str) -> list[Expression]:
    """Return the expressions of a text that was read, in their order."""
    return [parse(expression) for expression in _EXPRESSION.findall(text)]


def pieces(text: str) -> list[str | Expression]:
    """Split a text into parts, of which those at odd indices are its expressions."""
    return [parse(part) if i % 2 else part for i, part in enumerate(_EXPRESSION.split(text))]


def transfer_step(lesson: Lesson, sentence: str) -> Step | None:
    """Return the step about a sentence, which is empty until one was typed; None where the lesson has no such step."""
    transfer = TRANSFERS.get(lesson.transfer)
    if transfer is None:
        return None
    options = tuple(Option(gettext(text), parse(condition)) for text, condition in transfer.options)
    return Step(
        name=YOUR_SENTENCE,
        title=gettext("Your own sentence"),
        page="decoding" if lesson.transfer == "decoding" else "attention",
        query={"text": sentence, "kind": transfer.kind},
        model=lesson.model,
        ask=transfer.ask,
        text="",
        question=gettext(transfer.question),
        hint="",
        explanation=gettext(transfer.explanation, **{name: f"{{{value}}}" for name, value in transfer.values.items()}),
        answer=parse(transfer.answer) if transfer.answer else None,
        options=options,
    )

"""A lesson in another language: translated texts, with the original's views, questions and computed answers.

lessons/fr/it.md translates lessons/en/it.md: the same steps with the same sections, and in its texts the same
{expressions}. It has no view, ask, answer, range or claim and no {if ...} behind a choice: those are the original's;
only the unit of a range is translated, as `unit: têtes` below the name of the step.

    ---
    translates: 3f1c9ad2b0e4
    title: Que veut dire « it » ?
    question: Qui était trop fatigué, et qu'est-ce qui était trop large ?
    ---

    ## Dessine sa ligne

    ### Question
    ...

`translates` is a checksum of the original's texts: when they change, it shows which translations need a review.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from headlight.folders import lessons, translated_lesson
from headlight.language import ORIGINAL_LANGUAGE
from headlight.teaching.lessons.reading import MAX_LESSON_BYTES, Lesson, Step, expressions_in, parse_lesson, read
from transformer.files import open_regular
from transformer.quoting import quoted

_FIELD = re.compile(r"[a-z]+: .*")
_CONDITION = re.compile(r"\s*\{(?:if|by) .*")
_UNIT = re.compile(r"(range: \S+ to \S+ by \S+ )(\S.*)")


def in_language(original: Path, lesson: Lesson, language: str) -> Lesson:
    """Return the lesson in a language, or the original where its translation is missing or outdated."""
    path = translated_lesson(original, language)
    if language == ORIGINAL_LANGUAGE or original.parent.name != ORIGINAL_LANGUAGE or not path.is_file():
        return lesson
    try:
        return read_translation(path, original, lesson)
    except (ValueError, OSError):
        return lesson


def read_translation(path: Path, original: Path, lesson: Lesson) -> Lesson:
    """Return a lesson with the texts of a translation. Raises ValueError naming where their structures differ."""
    merged = _merged(_lines(original), _lines(path), f"{path.parent.name}/{path.name}")
    translated = parse_lesson("\n".join(merged), lesson.name, f"{path.parent.name}/{path.name}")
    for step, step_before in zip(translated.steps, lesson.steps, strict=True):
        for words, before in zip(_words(step), _words(step_before), strict=True):
            if _named(words) != _named(before):
                raise ValueError(
                    f"{path.parent.name}/{path.name}, “{step.title}”: {quoted(words)} computes something else than "
                    f"{quoted(before)}. Copy what is in braces as it is."
                )
    names = [step.name for step in lesson.steps]  # of the address, and of progress
    return replace(translated, steps=tuple(map(lambda step, name: replace(step, name=name), translated.steps, names)))


def _lines(path: Path) -> list[str]:
    with open_regular(path) as file:
        return file.read(MAX_LESSON_BYTES).decode("utf-8-sig").splitlines()


def _named(text: str) -> Counter[str]:
    return Counter(expression.text for expression in expressions_in(text))


def _words(step: Step) -> tuple[str, ...]:
    """Return the texts of a step, in an order that depends on its question alone."""
    options = [option.text for option in step.options]
    return (step.title, step.text, step.question, *options, step.hint, step.explanation)


def checksum(lesson: Lesson) -> str:
    """Return a checksum of a lesson's words, twelve hexadecimal digits; fields of the steps do not change it."""
    words = [lesson.title, lesson.question, *(text for step in lesson.steps for text in _words(step))]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]


def _merged(original: list[str], translation: list[str], file: str) -> list[str]:
    """Return the translation as a whole lesson: with the fields of the original, and its conditions behind choices."""
    (front, *steps), (words, *translated) = _split(original), _split(translation)
    if len(steps) != len(translated):
        raise ValueError(f"{file} has {len(translated)} steps; the original has {len(steps)}.")
    own = {line.partition(":")[0]: line for line in words}
    translated_names = ("title:", "question:")
    merged = [own.get(line.partition(":")[0], line) if line.startswith(translated_names) else line for line in front]
    for step, texts in zip(steps, translated, strict=True):
        count = _count_fields(texts)
        units = [line.removeprefix("unit: ") for line in texts[1 : 1 + count]]
        if any(_FIELD.fullmatch(unit) for unit in units):
            raise ValueError(f"{file}, “{texts[0][3:]}”: the fields of a step are the original's; leave them out.")
        fields = step[1 : 1 + _count_fields(step)]
        if units:
            fields = [f"{match[1]}{units[0]}" if (match := _UNIT.fullmatch(line)) else line for line in fields]
        conditions = [match[0] if (match := _CONDITION.search(step[i])) else "" for i in _choices(step)]
        lines, choices = texts[1 + count :], _choices(texts[1 + count :])
        if len(choices) != len(conditions):
            count = len(conditions)
            raise ValueError(f"{file}, “{texts[0][3:]}”: {len(choices)} choices; the original has {count}.")
        for i, condition in zip(choices, conditions, strict=True):
            lines[i] = lines[i].rstrip() + condition
        merged += [texts[0], *fields, *lines]
    return merged


def _split(lines: list[str]) -> list[list[str]]:
    """Return the lines before the first step, then those of each step."""
    starts = [i for i, line in enumerate(lines) if line.startswith("## ")]
    return [lines[start:end] for start, end in pairwise([0, *starts, len(lines)])]


def _count_fields(step: list[str]) -> int:
    return next((i for i, line in enumerate(step[1:]) if not _FIELD.fullmatch(line)), len(step) - 1)


def _choices(step: list[str]) -> list[int]:
    """Return the indices of the lines of a step that are choices."""
    places, section = [], ""
    for i, line in enumerate(step):
        section = line if line.startswith("### ") else section
        if section == "### Question" and line.startswith("- "):
            places.append(i)
    return places


# ---- for translators: tools/translations.py --------------------------------------------------------------------------


def begin(language: str, name: str) -> Path:
    """Write a lesson's English texts as a draft of its translation. Raises ValueError where there is one already."""
    original = lessons() / f"{name}.md"
    path = translated_lesson(original, language)
    if path.exists():
        raise ValueError(f"{path} is there already; `confirm` says that it fits the English lesson of today.")
    lesson = read(original)
    front, *steps = _split(_lines(original))
    words = [line for line in front if line.startswith(("title:", "question:"))]
    lines = ["---", f"translates: {checksum(lesson)}", *words, "---", ""]
    for step, parsed in zip(steps, lesson.steps, strict=True):
        unit = [f"unit: {parsed.scale.unit}"] if parsed.scale and parsed.scale.unit not in ("", "%") else []
        body = step[1 + _count_fields(step) :]
        choices = _choices(body)
        lines += [step[0], *unit, *(_CONDITION.sub("", line) if i in choices else line for i, line in enumerate(body))]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    return path


def confirm(language: str, name: str) -> Path:
    """Write the checksum of the current English lesson into its translation, after a review of the translation."""
    original = lessons() / f"{name}.md"
    path, lesson = translated_lesson(original, language), read(original)
    read_translation(path, original, lesson)  # says what does not fit
    text = path.read_text("utf-8")
    path.write_text(re.sub(r"(?m)^translates: .*$", f"translates: {checksum(lesson)}", text, count=1), encoding="utf-8")
    return path


def outdated(language: str) -> list[str]:
    """Return a line for each lesson without a translation, and for each translation older than its original."""
    lines = []
    for original in sorted(lessons().glob("*.md")):
        path, lesson = translated_lesson(original, language), read(original)
        if not path.exists():
            lines.append(f"{language}/{original.name} is missing.")
            continue
        try:
            read_translation(path, original, lesson)
        except ValueError as error:
            lines.append(str(error))
            continue
        if f"translates: {checksum(lesson)}" not in _lines(path)[:5]:
            lines.append(f"{language}/{original.name}: the English lesson changed. Read it again, then `confirm` it.")
    lines += [
        f"{language}/{path.name} translates no lesson."
        for path in sorted(translated_lesson(lessons() / "it.md", language).parent.glob("*.md"))
        if not (lessons() / path.name).exists()
    ]
    return lines

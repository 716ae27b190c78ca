"""The twenty questions of docs/concepts.md, a test before and after a course, as a page to print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from headlight.teaching.lessons.handout import printable
from headlight.teaching.misconceptions import MISCONCEPTIONS

LETTERS = "ABCD"
_QUESTION = re.compile(r"^### (\d+)\. (.+)\n\n([^-#][^#]*?)\n\n((?:- [A-D]\. .+\n)+)", re.MULTILINE)
_KEY = re.compile(r"^\| (\d+) \| ([A-D]) \| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class ConceptQuestion:
    """A question with one right answer of four; `betrays` names the misconception behind each wrong answer."""

    title: str
    text: str
    answers: Mapping[str, str]  # by letter
    right: str
    betrays: Mapping[str, str]


def read_questions(path: Path) -> list[ConceptQuestion]:
    """Return the questions of the document. Raises ValueError where its key does not fit them."""
    text = path.read_text("utf-8")
    key = {number: (right, dict(re.findall(r"([A-D]) ([\w-]+)", wrong))) for number, right, wrong in _KEY.findall(text)}
    questions = []
    for number, title, stem, listed in _QUESTION.findall(text):
        right, betrays = key.pop(number, ("", {}))
        question = ConceptQuestion(
            title, " ".join(stem.split()), dict(re.findall(r"- ([A-D])\. (.+)", listed)), right, betrays
        )
        unknown = set(betrays.values()) - MISCONCEPTIONS.keys()
        if sorted([right, *betrays]) != list(LETTERS) or list(question.answers) != list(LETTERS) or unknown:
            raise ValueError(f"{path}: the key of question {number} does not fit its four answers.")
        questions.append(question)
    if key or not questions:
        raise ValueError(f"{path}: there is no question {', '.join(key) or 'at all'} for its key.")
    return questions


def sheet(questions: list[ConceptQuestion], answers: bool = False) -> str:
    """Return the questions as a page to print; with `answers` the key, and what each wrong answer suggests."""
    body = "".join(_section(i, question, answers) for i, question in enumerate(questions, 1))
    title = "What do you know about transformers?"
    if answers:
        return printable(f"{title} (key)", "The right answer, and the belief behind each other one.", body, "Headlight")
    fields = "".join(f'{field}: <span class="line">&nbsp;</span> ' for field in ("Nickname", "Date"))
    subtitle = f"{len(questions)} questions. Tick one answer each; if you don’t know, tick what you think most likely."
    return printable(title, subtitle, f"<p>{fields}</p>{body}", "Headlight")


def _section(number: int, question: ConceptQuestion, answers: bool) -> str:
    items = ""
    for letter, answer in question.answers.items():
        marked = ' class="right"' if answers and letter == question.right else ""
        belief = MISCONCEPTIONS[question.betrays[letter]].belief if answers and letter in question.betrays else ""
        why = f'<br><span class="hint">{escape(belief)}</span>' if belief else ""
        items += f"<li{marked}>{letter}. {escape(answer)}{why}</li>"
    title = f"<h2>{escape(question.title)}</h2>" if answers else ""  # it might give a hint
    return (
        f'<section>{title}<div class="question"><p>{number}. {escape(question.text)}</p></div>'
        f'<ul class="choices">{items}</ul></section>\n'
    )

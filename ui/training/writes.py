"""The translations of a model as it learned, a line for each evaluation or snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from headlight.analysis import text_diff
from headlight.viewer.packing import pack
from ui.training.curves import WRITES, take_step
from ui.training.film import FilmFrame

MAX_LINES = 100  # of more lines, those that repeat the line above are left out first


class WrittenLine(NamedTuple):
    step: int
    text: str
    log_prob: float | None


def of_evaluations(evaluations: Iterable[Mapping[str, Any]], text: str) -> list[WrittenLine]:
    """Return the translations of a watched sentence, as a run's metrics have them."""
    lines = []
    for line in evaluations:
        for watched in line.get("watched") or []:
            if isinstance(watched, Mapping) and watched.get("text") == text:
                lines.append(
                    WrittenLine(
                        int(line["step"]), str(watched.get("translation", "")), _number(watched.get("log_prob"))
                    )
                )
    return lines


def of_frames(frames: Iterable[FilmFrame]) -> list[WrittenLine]:
    return [WrittenLine(frame.step, frame.text, frame.log_prob) for frame in frames]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def news(before: str, after: str) -> list[tuple[str, bool]]:
    """Split `after` into pieces, each with whether it is new: words, or letters where there are no words."""
    pieces = []
    if " " in before or " " in after:
        for op, text in text_diff(before, after):
            if op != "delete":  # a space never counts as new
                pieces += [(part, op == "insert" and part != " ") for part in re.split("( )", text) if part]
        return pieces
    for change, _, _, start, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if start < stop:
            pieces.append((after[start:stop], change != "equal"))
    return pieces


def select_lines(lines: Sequence[WrittenLine]) -> list[WrittenLine]:
    """Return at most MAX_LINES of the lines, always the first and the last."""
    if len(lines) > MAX_LINES:
        pairs = zip(lines, lines[1:], strict=False)
        lines = [lines[0], *(line for before, line in pairs if line.text != before.text or line is lines[-1])]
    if len(lines) > MAX_LINES:
        lines = [lines[round(i * (len(lines) - 1) / (MAX_LINES - 1))] for i in range(MAX_LINES)]
    return list(lines)


def payload(of: str, lines: Sequence[WrittenLine], step: int | None) -> bytes:
    """Return the message to writes.js."""
    listed, before = [], None
    for line in select_lines(lines):
        parts = [(line.text, False)] if before is None else news(before, line.text)
        listed.append(
            {
                "step": line.step,
                "parts": [[text, fresh] for text, fresh in parts if text],
                "log_prob": line.log_prob,
                "same": line.text == before,
            }
        )
        before = line.text
    return pack({"of": of, "step": step, "lines": listed}, {})


def draw(of: str, lines: Sequence[WrittenLine], step: int | None) -> None:
    WRITES(data=payload(of, lines, step), key="writes", on_pick_change=lambda: take_step("writes"))

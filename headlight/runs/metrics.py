"""The metrics of a run, one line per step: written by its worker, read by whoever watches, and sent to TensorBoard."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headlight.evaluation import Evaluation
from headlight.runs.folder import RunFolder
from transformer.extras import require_package
from transformer.files import open_regular, remove, set_aside
from transformer.training.loop import StepReport

MAX_STEPS, MAX_NUMBER = 100_000_000, 1e100
TAIL_BYTES = 1_000_000  # of the end of the metrics, searched for the latest scores
STEP_FIELDS = ("loss", "learning_rate", "gradient_norm", "tokens", "seconds", "teacher_forcing", "epoch")
SCORE_FIELDS = ("loss", "perplexity", "bleu", "chrf", "exact")
SENTENCES_FIELD = "sentences"  # the number of sentences of an evaluation


def metrics_line(
    report: StepReport, epoch: int, evaluation: Evaluation | None = None, watched: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Build a line; `epoch` counts passes from 0, `watched` holds text, translation and its log-probability."""
    line: dict[str, Any] = {**asdict(report), "epoch": epoch}
    if not math.isfinite(report.gradient_norm):  # a step that float16 skipped; JSON has no infinity
        line["gradient_norm"] = None
    if evaluation is not None:
        parts = {name: _scores(part) for name, part in evaluation.parts.items()}
        line["evaluation"] = {**_scores(evaluation), **({"parts": parts} if parts else {}), "watched": watched or []}
    return line


def _scores(evaluation: Evaluation) -> dict[str, float]:
    return {name: getattr(evaluation, name) for name in (*SCORE_FIELDS, SENTENCES_FIELD)}


def parse_line(text: bytes) -> dict[str, Any] | None:
    """Parse a line of metrics.jsonl; None where it is incomplete or no worker can have written it."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or type(line.get("step")) is not int or not 0 < line["step"] <= MAX_STEPS:
        return None
    evaluation = line.get("evaluation", {})
    if not isinstance(evaluation, dict):
        return None
    watched, parts = evaluation.get("watched", []), evaluation.get("parts", {})
    if not isinstance(parts, dict) or not all(isinstance(part, dict) for part in parts.values()):
        return None
    numbers = [line[name] for name in STEP_FIELDS if name in line and (name, line[name]) != ("gradient_norm", None)]
    scores = [
        of[name] for of in (evaluation, *parts.values()) for name in (*SCORE_FIELDS, SENTENCES_FIELD) if name in of
    ]
    if not all(map(_is_number, numbers)) or not all(isinstance(n, float) or _is_number(n) for n in scores):
        return None  # a perplexity may be infinite
    return line if isinstance(watched, list) and all(isinstance(translation, dict) for translation in watched) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAX_NUMBER


def latest_evaluation(folder: RunFolder) -> dict[str, Any]:
    """Return the scores of a run's latest evaluation, from the end of its metrics; empty where there are none."""
    try:
        with open_regular(folder.metrics) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).splitlines()
    except (OSError, ValueError):
        return {}
    for text in reversed(lines):
        if b'"evaluation"' in text and (line := parse_line(text)) is not None:
            return dict(line["evaluation"])
    return {}


class Journal:
    """The metrics file of a run that goes on after step `step`; with `events` also TensorBoard's files.

    Lines of later steps and unreadable lines are dropped. Where steps are lost that way, the old file is set aside,
    `lost` counts them and `repair` is a sentence about it. The file is replaced by a new one, so that readers notice.
    """

    def __init__(self, folder: RunFolder, step: int, events: bool) -> None:
        part = folder.metrics.with_suffix(".part")
        n_lines = broken = last = 0
        remove(part)
        folder.metrics.touch()
        with open_regular(folder.metrics) as old, open(part, "wb") as new:
            for text in old:
                line = parse_line(text)
                if line is None:
                    broken += 1
                elif last < line["step"] <= step:
                    n_lines, last = n_lines + 1, line["step"]
                    new.write(text if text.endswith(b"\n") else text + b"\n")
        self.repair, self.lost = "", step - n_lines
        if self.lost:
            self.repair = f"{folder.metrics.name} lacks {self.lost:,} of the {step:,} steps; the curves have a gap."
        if broken and self.lost:
            self.repair += f" What was there is kept as {set_aside(folder.metrics).name}."
        os.replace(part, folder.metrics)
        self._file = open(folder.metrics, "ab", buffering=0)  # noqa: SIM115 a buffer would keep what a full disk refused
        self._events = _Events(folder, step) if events else None

    def add(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        if self._events is not None:
            self._events.add(line)

    def close(self) -> None:
        self._file.close()
        if self._events is not None:
            self._events.writer.close()


def require_tensorboard() -> None:
    """Raise MissingPackageError where TensorBoard is not installed."""
    require_package("tensorboard", "Writing TensorBoard's event files", "train")


class _Events:
    """The TensorBoard event files of a run from step `step` + 1 on; earlier entries for those steps are void."""

    def __init__(self, folder: RunFolder, step: int) -> None:
        require_tensorboard()
        from torch.utils.tensorboard import SummaryWriter

        self.writer: Any = SummaryWriter(str(folder.path / "tensorboard"), purge_step=step + 1)

    def add(self, line: dict[str, Any]) -> None:
        values = {f"train/{name}": line[name] for name in ("loss", "learning_rate", "gradient_norm")}
        values["train/tokens_per_second"] = line["tokens"] / line["seconds"]
        scores = line.get("evaluation", {})
        for part, of_part in {"validation": scores, **scores.get("parts", {})}.items():
            values |= {f"{part}/{name}": of_part[name] for name in SCORE_FIELDS if name in of_part}
        for name, value in values.items():
            if value is not None:
                self.writer.add_scalar(name, value, line["step"])


class Metrics:
    """The metrics of a run while it trains: each `read` adds the new lines to `lines`.

    A run that resumes from a checkpoint drops the lines after it; then reading starts over, so `lines` always holds one
    line per step, in order.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = RunFolder(folder).metrics
        self.lines: list[dict[str, Any]] = []
        self._file, self._offset = 0, 0

    def read(self) -> list[dict[str, Any]]:
        """Return all lines so far. A last line that is still being written is left for the next call."""
        try:
            with open_regular(self.path) as file:
                stat = os.fstat(file.fileno())
                if stat.st_ino != self._file or stat.st_size < self._offset:
                    self.lines, self._file, self._offset = [], stat.st_ino, 0
                file.seek(self._offset)
                content = file.read()
        except OSError:  # there is no such file, or it is a folder
            return self.lines
        complete = content[: content.rfind(b"\n") + 1]
        self._offset += len(complete)
        for text in complete.splitlines():
            line = parse_line(text)
            if line is not None:  # else it was truncated by a full disk or a power cut; resuming replaces it
                self.lines.append(line)
        return self.lines

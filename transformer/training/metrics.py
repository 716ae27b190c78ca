"""The metrics of a run, a line an update: written by its worker, read by whoever watches, and sent to TensorBoard."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from transformer.files import open_regular
from transformer.training.evaluation import Evaluation
from transformer.training.folder import RunFolder
from transformer.training.loop import StepReport


def metrics_line(
    report: StepReport, epoch: int, evaluation: Evaluation | None = None, watched: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """`epoch` counts passes over the corpus from 0; `watched` holds text, translation and its log-probability."""
    line: dict[str, Any] = {**asdict(report), "epoch": epoch}
    if not math.isfinite(report.gradient_norm):  # an update that float16 left out; JSON has no infinity
        line["gradient_norm"] = None
    if evaluation is not None:
        parts = {name: _scores(part) for name, part in evaluation.parts.items()}
        line["evaluation"] = {**_scores(evaluation), **({"parts": parts} if parts else {}), "watched": watched or []}
    return line


def _scores(evaluation: Evaluation) -> dict[str, float]:
    return {name: getattr(evaluation, name) for name in ("loss", "perplexity", "bleu", "chrf", "exact")}


class Journal:
    """The metrics file of a run that goes on after `size` bytes and `step` updates; what comes after those is cut off.

    It becomes a new file, so that whoever reads along sees that it is another. With `events`, TensorBoard's files too.
    """

    def __init__(self, folder: RunFolder, size: int, step: int, events: bool) -> None:
        part = folder.metrics.with_suffix(".part")
        with open(folder.metrics, "rb") as old, open(part, "wb") as new:
            while size and (piece := old.read(min(size, 2**20))):
                new.write(piece)
                size -= len(piece)
        os.replace(part, folder.metrics)
        self._file = open(folder.metrics, "ab", buffering=0)  # noqa: SIM115 a buffer would keep what a full disk refused
        self._events = _Events(folder, step) if events else None

    @property
    def size(self) -> int:
        return self._file.tell()

    def add(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        if self._events is not None:
            self._events.add(line)

    def close(self) -> None:
        self._file.close()
        if self._events is not None:
            self._events.writer.close()


def require_tensorboard() -> None:
    if find_spec("tensorboard") is None:
        raise ValueError("TensorBoard's event files need a package: run `pip install tensorboard`, or leave them out.")


class _Events:
    """TensorBoard's event files in the run's folder, from update `step` + 1 on; earlier ones of those are void."""

    def __init__(self, folder: RunFolder, step: int) -> None:
        require_tensorboard()
        from torch.utils.tensorboard import SummaryWriter

        self.writer: Any = SummaryWriter(str(folder.path / "tensorboard"), purge_step=step + 1)

    def add(self, line: dict[str, Any]) -> None:
        values = {f"train/{name}": line[name] for name in ("loss", "learning_rate", "gradient_norm")}
        values["train/tokens_per_second"] = line["tokens"] / line["seconds"]
        scores = line.get("evaluation", {})
        for part, found in {"validation": scores, **scores.get("parts", {})}.items():
            values |= {f"{part}/{name}": value for name, value in found.items() if name not in ("watched", "parts")}
        for name, value in values.items():
            if value is not None:
                self.writer.add_scalar(name, value, line["step"])


class Metrics:
    """The metrics of a run as they come: each `read` gives the lines that are new since the one before.

    A run that goes on from a checkpoint takes back the lines after it; then reading starts anew, so `lines` always
    holds one line a step, in order.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = RunFolder(folder).metrics
        self.lines: list[dict[str, Any]] = []
        self._file, self._offset = 0, 0

    def read(self) -> list[dict[str, Any]]:
        """All lines so far. What is torn (a line that is being written) is left for the next time."""
        try:
            with open_regular(self.path) as file:
                found = os.fstat(file.fileno())
                if found.st_ino != self._file or found.st_size < self._offset:
                    self.lines, self._file, self._offset = [], found.st_ino, 0
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            return self.lines
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        for text in whole.splitlines():
            try:
                line = json.loads(text)
            except ValueError:  # torn by a full disk or a power cut, and written over when the run went on
                continue
            if isinstance(line, dict) and isinstance(line.get("step"), int):
                self.lines.append(line)
        return self.lines

"""A run: a folder that holds everything about one training, readable while it goes on and after.

config.json     the network, the training, the data and the command
metrics.jsonl   one line an update, with the scores where it was evaluated
checkpoints/    best (by chrF, which is defined for every script) and last
history/        small snapshots of the weights, where they were asked for
status.json     what it is doing now
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transformer import checkpoints
from transformer.checkpoints import Checkpoint
from transformer.checkpoints.native import save_weights
from transformer.config import TrainConfig
from transformer.data.batches import BatchStream, Example
from transformer.files import write_json
from transformer.training.evaluation import Evaluation, Evaluator
from transformer.training.loop import StepReport, train


@dataclass(frozen=True)
class Progress:
    """One update and, where it was time for it, how good the model is by now."""

    report: StepReport
    evaluation: Evaluation | None
    seconds_left: float


class Run:
    """Trains a checkpoint in a folder of its own."""

    def __init__(self, folder: str | Path, checkpoint: Checkpoint, config: TrainConfig, facts: dict[str, Any]):
        """Claims `folder` for this run. Raises ValueError where there is a run in it already."""
        self.folder = Path(folder)
        self.checkpoint = checkpoint
        self.config = config
        self.best = -1.0
        try:
            self.folder.mkdir(parents=True)
        except FileExistsError:
            raise ValueError(f"{folder} exists already; choose another name, or delete that run first.") from None
        network = checkpoint.model.config.to_dict()
        write_json(self.folder / "config.json", {"model": network, "training": config.to_dict(), **facts})

    def fit(self, examples: Iterable[Example], evaluator: Evaluator) -> Iterator[Progress]:
        """Trains to the end, writing the folder as it goes."""
        config, model = self.config, self.checkpoint.model
        snapshots = snapshot_steps(config)
        start = time.perf_counter()
        stream = BatchStream(examples, config.batch_tokens, model.config.pad_id, config.seed)
        with open(self.folder / "metrics.jsonl", "a", encoding="utf-8") as metrics:
            for report in train(model, config, iter(stream)):
                evaluation = None
                if report.step % config.evaluate_every == 0 or report.step == config.steps:
                    evaluation = evaluator(self.checkpoint)
                    self._keep(report.step, evaluation)
                if report.step in snapshots:
                    history = self.folder / "history"
                    history.mkdir(exist_ok=True)
                    save_weights(model, history / f"step-{report.step:07d}.safetensors", half=True)
                left = (time.perf_counter() - start) / report.step * (config.steps - report.step)
                metrics.write(json.dumps(_line(report, evaluation)) + "\n")
                metrics.flush()
                yield Progress(report, evaluation, left)
        self._status("finished", config.steps)

    def _keep(self, step: int, evaluation: Evaluation) -> None:
        if evaluation.chrf > self.best:
            self.best = evaluation.chrf
            self.checkpoint.card["step"] = step
            checkpoints.save(self.checkpoint, self.folder / "checkpoints" / "best")
        checkpoints.save(self.checkpoint, self.folder / "checkpoints" / "last")
        self._status("running", step)

    def _status(self, state: str, step: int) -> None:
        write_json(self.folder / "status.json", {"state": state, "step": step, "steps": self.config.steps})


def snapshot_steps(config: TrainConfig) -> set[int]:
    """When to keep a snapshot: quadratically spaced, since a head finds its role early if at all."""
    count = config.snapshots
    return {max(1, round(config.steps * (i / count) ** 2)) for i in range(1, count + 1)} if count else set()


def _line(report: StepReport, evaluation: Evaluation | None) -> dict[str, Any]:
    line: dict[str, Any] = asdict(report)
    if evaluation is not None:
        scores = {k: v for k, v in asdict(evaluation).items() if k not in ("translations", "signature")}
        line["evaluation"] = {**scores, "perplexity": evaluation.perplexity}
    return line

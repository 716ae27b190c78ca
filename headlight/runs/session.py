"""Train a run from a checkpoint on: steps, evaluations, snapshots and checkpoints."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from headlight.corpora.corpora import JsonLines
from headlight.corpora.packed import Packed
from headlight.evaluation import Evaluation, Evaluator
from headlight.formatting import percent, translation_score
from headlight.machine import release_freed_memory
from headlight.runs import averaging, state
from headlight.runs.folder import VALIDATION_FILE, RunFolder
from headlight.runs.metrics import Journal, metrics_line
from headlight.runs.status_writer import StatusWriter
from headlight.teaching.mistakes import MISTAKES
from transformer.batches import BatchStream
from transformer.checkpoint.native import save_weights
from transformer.config import TrainConfig
from transformer.model import count_parameters
from transformer.training.loop import Trainer
from transformer.training.processes import Processes
from transformer.translator import Translator

# Steps between two calls of `release_freed_memory`: new batch shapes fragment 3 GB in 400 steps.
RETURN_MEMORY_STEPS = 10
MIN_STEP_SECONDS = 60.0  # the shortest deadline of a heartbeat; ten times as long for an evaluation


class PauseOrStop(KeyboardInterrupt):
    """Raised when the worker is to "pause" or to "stop".

    It can be raised anywhere, so it derives from KeyboardInterrupt: `except Exception` does not catch it.
    """


class WorkerSession:
    """The training of a run in one process. Only the first process evaluates and writes."""

    def __init__(self, folder: RunFolder, processes: Processes, writer: StatusWriter) -> None:
        self.folder, self.processes, self.writer = folder, processes, writer
        self.recipe = folder.recipe()
        config = self.config = self.recipe.training
        self.checkpoint, optimizer, position = state.load(folder.checkpoint(folder.steps()[-1]))
        model = self.checkpoint.model.to(processes.device)
        if processes.sharded and processes.first:
            self.checkpoint.model = copy.deepcopy(model)  # the full weights, to evaluate and save
        shifted = self.recipe.broken is None or MISTAKES[self.recipe.broken].shifted
        self.trainer = Trainer(model, config, processes, shifted)
        state.restore(self.trainer, optimizer, position)
        # The patience of an extended run counts from here.
        self.position = position if position.steps == config.steps else replace(position, steps=config.steps, waited=0)
        if position.best not in folder.steps():  # the best checkpoint is lost, so the next one is the best
            self.position = position = replace(self.position, best=position.step, score=-1.0)
        self.stream = BatchStream(Packed(folder.data), config.batch_tokens, model.config.pad_id, config.seed)
        self.stream.restore((position.epoch, position.batch))
        writer.log(
            f"{count_parameters(self.checkpoint.model):,} parameters{', sharded' if processes.sharded else ''}, "
            f"on {processes.device}, {processes.count} x {torch.get_num_threads()} threads, "
            f"from step {position.step:,} to {config.steps:,}"
        )
        if processes.first:
            state.tidy(folder, position)
            self.journal = Journal(folder, position.step, self.recipe.tensorboard)
            if self.journal.repair:
                writer.report_repair(self.journal.repair)
            writer.values["lost_lines"] = self.journal.lost
            pairs = JsonLines(folder.data / VALIDATION_FILE, origin="origin")
            self.evaluator = Evaluator.of(self.checkpoint, "The validation", pairs)
            self.watched = self._readable()

    def train(self, request: Callable[[], str | None]) -> str:
        """Train until the last step, and return the cause where it ends early, else "".

        Raises PauseOrStop, after writing a checkpoint, when `request()` returns "pause" or "stop" before a step.
        """
        config, trainer, snapshots = self.config, self.trainer, snapshot_steps(self.config)
        batches, begun, first = iter(self.stream), time.perf_counter(), self.trainer.step
        if first in snapshots:
            self._snapshot()
        while trainer.step < config.steps:
            if config.patience and self.position.waited >= config.patience:
                return f"{config.patience} evaluations were no better than that of step {self.position.best:,}."
            if requested := request():
                self._save()
                raise PauseOrStop(requested)
            epoch = self.stream.state()[0]
            report = trainer.update(batches, epoch)
            step, seconds = report.step, self.position.seconds + report.seconds
            self.position = replace(self.position, seconds=seconds)
            evaluates = step % config.evaluate_every == 0 or step == config.steps
            evaluation = self._evaluate() if evaluates else None
            if step in snapshots:
                self._snapshot()
            if self.processes.first:
                watched = self._watch() if evaluation else None
                self.journal.add(metrics_line(report, epoch, evaluation, watched))
            if evaluates or step % config.checkpoint_every == 0:
                self._save()
            if step % RETURN_MEMORY_STEPS == 0:
                release_freed_memory()
            left = (time.perf_counter() - begun) / (step - first) * (config.steps - step)
            self.writer.heartbeat("training", max(MIN_STEP_SECONDS, 20 * report.seconds), step=step, seconds_left=left)
        return ""

    def close(self) -> None:
        if self.processes.first:
            self.journal.close()

    def _evaluate(self) -> Evaluation | None:
        """Evaluate the model in the first process, and tell all processes whether it is the best so far."""
        self._gather()
        evaluation = None
        step, position = self.trainer.step, self.position
        if self.processes.first:
            self.writer.heartbeat("evaluating", 10 * MIN_STEP_SECONDS, step=step)
            evaluation = self.evaluator(self.checkpoint)
            for part, scores in {"validation": evaluation, **evaluation.parts}.items():
                self.writer.log(
                    f"Step {step:,}: {part} loss {scores.loss:.3f}, perplexity {scores.perplexity:.2f}, "
                    f"BLEU {translation_score(scores.bleu, 2)}, chrF {translation_score(scores.chrf, 2)}, "
                    f"exact {percent(scores.exact, 1)} of {scores.sentences:,} sentences"
                )
        score = self.processes.sum(evaluation.chrf if evaluation else 0.0)
        if score > position.score:
            self.position = replace(position, best=step, score=score, waited=0)
        else:
            self.position = replace(position, waited=position.waited + 1)
        return evaluation

    def _watch(self) -> list[dict[str, Any]]:
        """Translate the watched sentences greedily."""
        translations = Translator(self.checkpoint).translate_batch(self.watched, beam_size=1)
        return [
            {"text": text, "translation": translation.text, "log_prob": translation.log_prob}
            for text, translation in zip(self.watched, translations, strict=True)
        ]

    def _readable(self) -> list[str]:
        """Return the watched sentences that the model can read, and log why it cannot read the others."""
        translator, readable = Translator(self.checkpoint), []
        for text in self.recipe.watch:
            try:
                translator.encode(text)
                readable.append(text)
            except ValueError as error:
                self.writer.log(f"Not watched: {text!r:.60}. {error}")
        return readable

    def _snapshot(self) -> None:
        self._gather()
        if self.processes.first:
            self.folder.history.mkdir(exist_ok=True)
            path = self.folder.history / f"step-{self.trainer.step:07d}.safetensors"
            save_weights(self.checkpoint.model, path, bits=16)

    def _save(self) -> None:
        """Write a checkpoint, unless this step has one."""
        if self.position.step == self.trainer.step:
            return
        self._gather()
        optimizer = state.optimizer_tensors(self.trainer)
        epoch, batch = self.stream.state()
        scaler = self.trainer.scaler.state_dict()
        self.position = replace(self.position, step=self.trainer.step, epoch=epoch, batch=batch, scaler=scaler)
        if self.processes.first:
            state.save(self.folder, self.checkpoint, optimizer, self.position)
            if self.config.average:
                averaging.save(self.folder, self.position.step, self.config.average)

    def _gather(self) -> None:
        """Copy all weights to the first process where each process holds a shard."""
        if not self.processes.sharded:
            return
        parameters = dict(self.checkpoint.model.named_parameters())
        for name, parameter in self.trainer.model.named_parameters():
            gathered = self.processes.whole(parameter.detach())
            if self.processes.first:
                parameters[name].detach().copy_(gathered)  # writing through `data` would not count as a change


def snapshot_steps(config: TrainConfig) -> set[int]:
    """Return the steps of snapshots: 0, then quadratically spaced ones, since heads form early if at all."""
    count = config.snapshots
    later_steps = {max(1, round(config.steps * (i / count) ** 2)) for i in range(1, count + 1)} if count else set()
    return {0, *later_steps} if later_steps else later_steps

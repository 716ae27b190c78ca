"""A run's best checkpoint as a folder to ship: 16-bit weights, history, and a card with scores."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import numpy as np

from headlight import checkpoints
from headlight.corpora.corpora import JsonLines, open_parts
from headlight.corpora.grammars import GRAMMARS
from headlight.corpora.mixtures import weighted_parts
from headlight.evaluation import Evaluator
from headlight.runs import intact
from headlight.runs.averaging import average as average_weights
from headlight.runs.averaging import can_average
from headlight.runs.folder import VALIDATION_FILE, RunFolder, snapshots
from transformer.access import require_private
from transformer.checkpoint.native import load_weights, save_weights
from transformer.decoding.strategies import LENGTH_PENALTY
from transformer.files import remove
from transformer.quoting import short

MAX_HISTORY_BYTES = 25_000_000  # everybody who clones the repository downloads it, and few look at the snapshots


def export(
    run: str | Path,
    out: str | Path,
    beam_size: int = 5,
    length_penalty: float = LENGTH_PENALTY,
    folder: str | Path | None = None,
    score: bool = True,
    average: int | None = None,
) -> checkpoints.Checkpoint:
    """Create the checkpoint folder `out`, and return its checkpoint; `score` it on the test split, if there is one.

    The best checkpoint is exported, or the mean of the last `average` saved weights if that has a higher chrF on the
    validation pairs; 0 takes no mean, and None as many as the recipe says, where the run has saved two or more.
    `folder` is where Multi30k lies. Raises ValueError where no checkpoint is intact, or `out` exists already.
    """
    require_private()
    source, out = RunFolder(run), Path(out)
    recipe = source.recipe()
    best = best_of(source)
    if wrong := intact.changed_file(best, but=intact.STATE_FILES):
        raise ValueError(f"{short(best)} is damaged: {wrong}. Resume the run, which sets it aside.")
    if out.exists():
        raise ValueError(f"{short(out)} exists already; choose another name, or delete it first.")
    checkpoint = checkpoints.load(best)
    recipe_count = recipe.training.average if can_average(source) else 0
    count = recipe_count if average is None else average
    if count:
        checkpoint = _better(source, checkpoint, average_weights(source, checkpoint, count))
    checkpoint.card |= recipe.card()  # a run may have been given more steps since its card was written
    part = out.with_name(f".{out.name}.part")  # renamed once it is complete, so that nobody opens half a checkpoint
    remove(part)
    try:
        checkpoints.save(checkpoint, part, bits=16)
        if score:
            checkpoint = checkpoints.load(part)  # the scores are those of the rounded weights
            _score(checkpoint, recipe.data, folder or recipe.folder, beam_size, length_penalty, str(out))
            checkpoints.save(checkpoint, part, bits=16)
        if source.history.is_dir():
            _ship_history(source.history, checkpoint, part / "history")
        part.rename(out)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return checkpoint


def _ship_history(history: Path, checkpoint: checkpoints.Checkpoint, out: Path) -> None:
    """Copy a run's snapshots in 8 bits, with the same patterns: the first, the last, and as many as fit between."""
    out.mkdir()
    paths = snapshots(history)[0]
    for path in paths:
        save_weights(load_weights(checkpoint.model.config, path), out / path.name, bits=8)
    fit = MAX_HISTORY_BYTES // max((path.stat().st_size for path in out.iterdir()), default=1)
    shipped = {round(at) for at in np.linspace(0, len(paths) - 1, min(fit, len(paths)))}
    for at, path in enumerate(paths):
        if at not in shipped:
            (out / path.name).unlink()


def _better(run: RunFolder, best: checkpoints.Checkpoint, mean: checkpoints.Checkpoint) -> checkpoints.Checkpoint:
    """Return the checkpoint with the higher chrF of greedy translations; its card has both scores."""
    evaluator = Evaluator.of(best, "The validation", JsonLines(run.data / VALIDATION_FILE, origin="origin"))
    scores = {name: evaluator(checkpoint).chrf for name, checkpoint in (("best", best), ("mean", mean))}
    chosen = mean if scores["mean"] > scores["best"] else best
    chosen.card["validation_chrF"] = {name: round(score, 2) for name, score in scores.items()}
    return chosen


def best_of(run: RunFolder) -> Path:
    """Return the checkpoint of `RunFolder.best`. Raises ValueError where there is none."""
    best = run.best()
    if best is None:
        wrong = "; ".join(f"{name}: {reason}" for name, reason in run.damaged().items())
        raise ValueError(
            f"{short(run.path)} has no checkpoint with an intact model ({wrong}). Resume the run to train it again."
            if wrong
            else f"{short(run.path)} has no checkpoint yet."
        )
    return best


def _score(
    checkpoint: checkpoints.Checkpoint,
    data: str,
    folder: str | Path | None,
    beam_size: int,
    length_penalty: float,
    out: str,
) -> None:
    """Write the scores on each test split into the card, with the command that computes them.

    A grammar is also scored on the combinations of words that its training part lacks. Of a mixture each part is
    scored: the first one's are the card's "scores", the others' its "more_scores".
    """
    specs = [name for name, _ in weighted_parts(data)]
    if data in GRAMMARS:
        specs.append(f"{data}:combinations")
    scored = []
    for spec in specs:
        corpus = open_parts(spec, folder)[2]
        if corpus is not None:
            scores = Evaluator.of(checkpoint, corpus.name, corpus)(checkpoint, beam_size, length_penalty)
            words = ["python", "-m", "headlight", "evaluate", out, "--data", spec, "--beam", str(beam_size)]
            command = shlex.join([*words, "--length-penalty", f"{length_penalty:g}"])
            scored.append({"on": corpus.name, **scores.to_dict(), "command": command})
    if scored:
        checkpoint.card["scores"], *other_scores = scored
        checkpoint.card |= {"more_scores": other_scores} if other_scores else {}

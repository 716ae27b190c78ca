"""A run's best checkpoint as a folder to ship: 16-bit weights, history, and a card with scores."""

from __future__ import annotations

import shutil
from pathlib import Path

from transformer import checkpoints
from transformer.data.corpora import GoldCorpus, open_parts
from transformer.training import intact
from transformer.training.evaluation import Evaluator
from transformer.training.folder import RunFolder, snapshots
from transformer.translator import LENGTH_PENALTY


def export(
    run: str | Path,
    out: str | Path,
    beam_size: int = 5,
    length_penalty: float = LENGTH_PENALTY,
    folder: str | Path | None = None,
    score: bool = True,
) -> checkpoints.Checkpoint:
    """Makes the checkpoint folder `out` and returns what it holds; `score` it on the test split, if there is one.

    `folder` is where Multi30k lies. Raises ValueError where no checkpoint is whole, or `out` is there already.
    """
    source, out = RunFolder(run), Path(out)
    recipe = source.recipe()
    best = best_of(source)
    if wrong := intact.changed(best, but=intact.STATE):
        raise ValueError(f"{best} is damaged: {wrong}. Resume the run, which sets it aside.")
    checkpoint = checkpoints.load(best)
    if out.exists():
        raise ValueError(f"{out} exists already; choose another name, or delete it first.")
    part = out.with_name(f".{out.name}.part")  # nobody opens a checkpoint that is half there
    shutil.rmtree(part, ignore_errors=True)
    try:
        checkpoints.save(checkpoint, part, half=True)
        if score:
            checkpoint = checkpoints.load(part)  # the scores are those of the rounded weights
            _score(checkpoint, recipe.data, folder or recipe.folder, beam_size, length_penalty, str(out))
            checkpoints.save(checkpoint, part, half=True)
        if source.history.is_dir():
            (part / "history").mkdir()
            for path in snapshots(source.history)[0]:
                shutil.copy2(path, part / "history")
        part.rename(out)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return checkpoint


def best_of(run: RunFolder) -> Path:
    """The checkpoint that `RunFolder.best` gives. Raises ValueError where it gives none."""
    best = run.best()
    if best is None:
        wrong = "; ".join(f"{name}: {why}" for name, why in run.damaged().items())
        raise ValueError(
            f"{run.path} has no checkpoint whose model is whole ({wrong}). Resume the run to train it again."
            if wrong
            else f"{run.path} has no checkpoint yet."
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
    """Writes into the card how good the model is on the test split, and the command that says so.

    Of a grammar's also on the combinations of words that training never had.
    """
    train, _, test = open_parts(data, folder)
    parts = {"scores": (data, test)}
    if isinstance(train, GoldCorpus):
        name = train.grammar.name
        parts = {
            key: (spec, open_parts(spec)[2])
            for key, spec in (("scores", name), ("combinations", f"{name}:combinations"))
        }
    for key, (spec, corpus) in parts.items():
        if corpus is not None:
            scores = Evaluator.of(checkpoint, corpus.name, corpus)(checkpoint, beam_size, length_penalty)
            checkpoint.card[key] = {
                "on": corpus.name,
                **scores.to_dict(),
                "command": f"python -m transformer evaluate {out} --data {spec} --beam {beam_size} "
                f"--length-penalty {length_penalty:g}",
            }

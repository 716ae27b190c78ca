"""Repair a run's folder before its training goes on: set damaged files aside, and rebuild them from intact ones.

Nothing is deleted. The log and the status name each repair.
"""

from __future__ import annotations

import os
from pathlib import Path

from headlight import checkpoints
from headlight.corpora.files import JsonLines
from headlight.corpora.packed import LENGTHS_FILE, TOKENS_FILE, Packed
from headlight.runs import intact, state
from headlight.runs.folder import CORPUS_FILES, VALIDATION_FILE, RunFolder
from headlight.runs.preparing import prepare_corpus, recipe_corpora
from headlight.runs.recipe import Recipe
from headlight.runs.status_writer import StatusWriter
from transformer.files import set_aside

CHECK_SECONDS = 600.0  # the longest time without a heartbeat while a checkpoint or the corpus is read


def repair(folder: RunFolder, writer: StatusWriter) -> None:
    """Set aside what is damaged, and rebuild the recipe and the corpus.

    Raises ValueError, with what to do, where no checkpoint is intact or the corpus cannot be read again.
    """
    _repair_recipe(folder, writer)
    _set_aside_checkpoints(folder, writer)
    if steps := folder.steps():
        writer.heartbeat("checking the corpus", CHECK_SECONDS)
        _repair_corpus(folder, folder.checkpoint(steps[-1]), writer)


def damaged_checkpoints(folder: RunFolder) -> dict[Path, str]:
    """Read every byte of all checkpoints, and return for each damaged one a sentence that says what is wrong."""
    flaws = {}
    for path in folder.step_folders():
        try:
            state.check(path)
        except ValueError as error:
            flaws[path] = str(error).replace(f"{path}/", "")
    return flaws


def _repair_recipe(folder: RunFolder, writer: StatusWriter) -> None:
    try:
        Recipe.load(folder.config)
    except ValueError:
        recipe, step = folder.recipe(), folder.steps()[-1]
        folder.write_recipe(recipe)
        writer.report_repair(
            f"{folder.config.name} was damaged; the recipe is the one kept by the checkpoint of step {step:,}."
        )


def _set_aside_checkpoints(folder: RunFolder, writer: StatusWriter) -> None:
    writer.heartbeat("checking the checkpoints", CHECK_SECONDS)
    before, best = folder.step_folders(), os.path.realpath(folder.checkpoints / "best")
    flaws = damaged_checkpoints(folder)
    note = ""
    for path, flaw in flaws.items():
        lost = " It was the best so far; the best of the following ones replaces it."
        lost = lost if os.path.realpath(path) == best else ""
        moved = set_aside(path)
        writer.report_repair(f"The checkpoint {path.name} is damaged, and kept as {moved.name}: {flaw}{lost}")
        note = _weights_note(moved) or note
    if before and not folder.steps():
        raise ValueError(
            f"No checkpoint is intact any more; they are kept under other names.{note} Resume the run once more to "
            "train it again from step 0."
        )
    if before and before[-1] in flaws:
        writer.report_repair(f"The run goes on from step {folder.steps()[-1]:,} instead.")


def _weights_note(path: Path) -> str:
    """Return a sentence where a new run can start from the weights of a damaged checkpoint, else ""."""
    try:
        if intact.changed_file(path, but=intact.STATE_FILES):
            return ""
        checkpoints.load(path)
    except ValueError:
        return ""
    return f" The weights in {path.name} are whole: a new run can start from them."


def _repair_corpus(folder: RunFolder, checkpoint: Path, writer: StatusWriter) -> None:
    """Read and tokenise the corpus again, with the vocabulary of the checkpoint, where data/ is damaged."""
    flaw = corpus_flaw(folder, checkpoint)
    if not flaw:
        return
    recipe = folder.recipe()
    try:
        splits = recipe_corpora(recipe)
        if next(iter(splits.train), None) is None:
            raise ValueError(f"{splits.train.name} has no pair.")
    except (ValueError, OSError) as error:
        raise ValueError(
            f"The corpus in data/ is damaged ({flaw}), and cannot be read again: {str(error).rstrip('.')}. Put back "
            f"{recipe.data} as it was, then resume the run."
        ) from None
    before = _checksums(folder.data)
    moved = f", and kept as {set_aside(folder.data).name}" if folder.data.exists() else ""
    writer.report_repair(f"The corpus in data/ was damaged{moved}: {flaw}. It is read again from {recipe.data}.")
    prepare_corpus(folder, recipe, splits, checkpoints.load(checkpoint), writer)
    if before and before != _checksums(folder.data):
        writer.report_repair(
            f"{recipe.data} has changed since the run began: from here on it is trained on what is there now."
        )


def corpus_flaw(folder: RunFolder, checkpoint: Path) -> str:
    """Read every byte of the corpus in data/, and return what is wrong, without a full stop; "" where nothing is."""
    flaw = intact.flaw(folder.data, CORPUS_FILES) or intact.changed_file(folder.data)
    if flaw or intact.recorded(folder.data):
        return flaw
    try:  # runs of older versions have no checksums
        config = checkpoints.load(checkpoint).model.config
        Packed(folder.data).check(max(config.source_vocab_size, config.target_vocab_size))
        if next(iter(JsonLines(folder.data / VALIDATION_FILE)), None) is None:
            raise ValueError(f"{VALIDATION_FILE} has no pair.")
    except ValueError as error:
        return str(error).replace(f"{folder.data}/", "").rstrip(".")
    return ""


def _checksums(data: Path) -> list[tuple[int, str] | None]:
    """Return sizes and checksums of the corpus files as they were recorded; an empty list where they were not."""
    recorded = intact.recorded(data)
    return [recorded.get(name) for name in (TOKENS_FILE, LENGTHS_FILE, VALIDATION_FILE)] if recorded else []

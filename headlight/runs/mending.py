"""Before a run goes on: what is damaged in its folder is set aside, and rebuilt from what is intact.

Nothing is deleted, and the worker says what was damaged, in the log and in the status.
"""

from __future__ import annotations

import os
from pathlib import Path

from headlight import checkpoints
from headlight.corpora.files import JsonLines
from headlight.corpora.packed import LENGTHS, TOKENS, Packed
from headlight.runs import intact, state
from headlight.runs.folder import CORPUS, VALIDATION, RunFolder
from headlight.runs.preparing import prepare_corpus, recipe_corpora
from headlight.runs.recipe import Recipe
from headlight.runs.speaker import Speaker
from transformer.files import set_aside

SLOW = 600.0  # seconds that reading a checkpoint or the corpus may take without a word


def mend(folder: RunFolder, speaker: Speaker) -> None:
    """Leaves only what is whole to go on from. Raises ValueError, with what to do, where that is nothing."""
    _recipe(folder, speaker)
    _checkpoints(folder, speaker)
    if steps := folder.steps():
        speaker.beat("checking the corpus", SLOW)
        _corpus(folder, folder.checkpoint(steps[-1]), speaker)


def damaged(folder: RunFolder) -> dict[Path, str]:
    """What is wrong with each checkpoint that is not whole, in a sentence; every byte is read."""
    flaws = {}
    for path in folder.step_folders():
        try:
            state.check(path)
        except ValueError as error:
            flaws[path] = str(error).replace(f"{path}/", "")
    return flaws


def _recipe(folder: RunFolder, speaker: Speaker) -> None:
    try:
        Recipe.load(folder.config)
    except ValueError:
        recipe, step = folder.recipe(), folder.steps()[-1]
        folder.keep(recipe)
        speaker.mended(
            f"{folder.config.name} was damaged; the recipe is the one kept by the checkpoint of step {step:,}."
        )


def _checkpoints(folder: RunFolder, speaker: Speaker) -> None:
    speaker.beat("checking the checkpoints", SLOW)
    before, best = folder.step_folders(), os.path.realpath(folder.checkpoints / "best")
    wrong = damaged(folder)
    usable = ""
    for path, why in wrong.items():
        lost = " It was the best so far; the best of the following ones replaces it."
        lost = lost if os.path.realpath(path) == best else ""
        aside = set_aside(path)
        speaker.mended(f"The checkpoint {path.name} is damaged, and kept as {aside.name}: {why}{lost}")
        usable = _usable(aside) or usable
    if before and not folder.steps():
        raise ValueError(
            f"No checkpoint is intact any more; they are kept under other names.{usable} Resume the run once more to "
            "train it again from step 0."
        )
    if before and before[-1] in wrong:
        speaker.mended(f"The run goes on from step {folder.steps()[-1]:,} instead.")


def _usable(path: Path) -> str:
    """A sentence, where a training cannot go on from a checkpoint, but another can start from its weights."""
    try:
        if intact.changed(path, but=intact.STATE):
            return ""
        checkpoints.load(path)
    except ValueError:
        return ""
    return f" The weights in {path.name} are whole: a new run can start from them."


def _corpus(folder: RunFolder, checkpoint: Path, speaker: Speaker) -> None:
    """Where data/ is damaged, the corpus is read again, and cut into tokens with the vocabulary that there is."""
    wrong = corpus_flaw(folder, checkpoint)
    if not wrong:
        return
    recipe = folder.recipe()
    try:
        splits = recipe_corpora(recipe)
        if next(iter(splits.train), None) is None:
            raise ValueError(f"{splits.train.name} has no pair.")
    except (ValueError, OSError) as error:
        raise ValueError(
            f"The corpus in data/ is damaged ({wrong}), and cannot be read again: {str(error).rstrip('.')}. Put back "
            f"{recipe.data} as it was, then resume the run."
        ) from None
    before = _sums(folder.data)
    aside = f", and kept as {set_aside(folder.data).name}" if folder.data.exists() else ""
    speaker.mended(f"The corpus in data/ was damaged{aside}: {wrong}. It is read again from {recipe.data}.")
    prepare_corpus(folder, recipe, splits, checkpoints.load(checkpoint), speaker)
    if before and before != _sums(folder.data):
        speaker.mended(
            f"{recipe.data} has changed since the run began: from here on it is trained on what is there now."
        )


def corpus_flaw(folder: RunFolder, checkpoint: Path) -> str:
    """What is wrong with the corpus in data/, without a full stop; "" where nothing is. Every byte is read."""
    wrong = intact.flaw(folder.data, CORPUS) or intact.changed(folder.data)
    if wrong or intact.recorded(folder.data):
        return wrong
    try:  # from before there were checksums
        config = checkpoints.load(checkpoint).model.config
        Packed(folder.data).check(max(config.source_vocab_size, config.target_vocab_size))
        if next(iter(JsonLines(folder.data / VALIDATION)), None) is None:
            raise ValueError(f"{VALIDATION} has no pair.")
    except ValueError as error:
        return str(error).replace(f"{folder.data}/", "").rstrip(".")
    return ""


def _sums(data: Path) -> list[tuple[int, str] | None]:
    """What the corpus was, or nothing where that is not known."""
    known = intact.recorded(data)
    return [known.get(name) for name in (TOKENS, LENGTHS, VALIDATION)] if known else []

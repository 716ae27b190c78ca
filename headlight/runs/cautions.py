"""Cautions about a recipe: settings that are allowed but rarely intended."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from headlight.corpora.corpora import needs_network, open_parts
from headlight.corpora.held_out import held_out_count
from headlight.corpora.preview import Preview
from headlight.evaluation import MIN_SENTENCES
from headlight.formatting import percent, plural
from headlight.machine import cores, threads
from headlight.runs.folder import RunFolder
from headlight.runs.preparing import MAX_UNKNOWN_SHARE, NONE_HELD_OUT_NOTE, TRAINING_SCORES_NOTE
from headlight.runs.recipe import VALIDATE_ON_TRAINING, Recipe
from headlight.runs.run_status import Status

HIGH_LEARNING_RATE = 0.03  # with Adam, networks of this kind diverge well below it; the paper's rate peaks at 0.0007
FEW_TOKENS_PER_STEP = 256  # about a dozen sentences


def cautions(recipe: Recipe, preview: Preview | None = None) -> list[str]:
    """Return a sentence for each setting that is probably a mistake; `preview` is of the recipe's corpus."""
    training, texts = recipe.training, []
    if training.warmup >= training.steps:
        texts.append(
            f"The warm-up takes {training.warmup:,} steps and the run has {training.steps:,}: the learning rate only "
            f"rises, to {percent(training.steps / training.warmup)} of its peak. A tenth of the steps is usual."
        )
    if training.learning_rate > HIGH_LEARNING_RATE:
        texts.append(
            f"A learning rate of {training.learning_rate:g} will probably make the loss explode; 0.001 is usual, and "
            "small networks bear 0.005."
        )
    if (tokens := training.batch_tokens * training.accumulate) < FEW_TOKENS_PER_STEP:
        texts.append(
            f"A step sees {plural(tokens, 'token')}, or one sentence where that is longer: its "
            "gradient is mostly noise. A batch of 2,048 tokens is usual."
        )
    if (recipe.threads or 0) > cores():
        texts.append(f"{recipe.threads:,} threads are asked for; this machine has {cores()}, and no more are used.")
    if preview is not None:
        texts += _held_out(recipe, preview) + _unknown(preview)
    return texts


def shared(n_threads: int | None, alive: Sequence[Status]) -> list[str]:
    """Return a caution where a run with so many threads would share cores with `alive` runs."""
    if not alive or sum(map(_threads, alive)) + threads(n_threads) <= cores():
        return []
    running = f"{alive[0].name} is" if len(alive) == 1 else f"{len(alive)} runs are"
    same = "core" if cores() == 1 else f"{cores()} cores"
    return [
        f"{running} training on the same {same}: together they take longer than one after the other. "
        "Pause or finish one first, or give each fewer threads."
    ]


def _threads(run: Status) -> int:
    try:
        return threads(RunFolder(run.folder).recipe().threads)
    except ValueError:  # the run goes on although its files are damaged
        return cores()


def _held_out(recipe: Recipe, preview: Preview) -> list[str]:
    """Return a caution where few or no pairs can be held out to validate on."""
    if recipe.validation == VALIDATE_ON_TRAINING:
        return [TRAINING_SCORES_NOTE]
    if recipe.validation is not None or needs_network(recipe.data):
        return []
    with suppress(ValueError, OSError):
        if open_parts(recipe.data, recipe.folder)[1] is None:
            count = held_out_count(preview.count)
            if not count:
                return [f"{NONE_HELD_OUT_NOTE} {TRAINING_SCORES_NOTE}"]
            if count < MIN_SENTENCES:
                pairs = plural(count, "pair is", "pairs are")
                return [
                    f"{pairs} held out to validate on: scores on fewer than {MIN_SENTENCES} say little. Give a corpus "
                    "to validate on."
                ]
    return []


def _unknown(preview: Preview) -> list[str]:
    """Return a caution where half of the tokens of new sentences are unknown to the vocabulary."""
    coverage, side = min((preview.source.covered, "source"), (preview.target.covered, "target"))
    if coverage >= 1 - MAX_UNKNOWN_SHARE:
        return []
    return [
        f"The vocabulary has {percent(coverage)} of the {side} tokens of new sentences: most of their words would be "
        "unknown to the model. Choose bpe, a lower minimum frequency, or a larger vocabulary."
    ]

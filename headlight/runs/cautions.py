"""What of a recipe is allowed, but seldom meant: said before the run is started, and never forbidden."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from headlight.corpora.corpora import from_hub, open_parts
from headlight.corpora.held_out import held_out_of
from headlight.corpora.preview import Preview
from headlight.evaluation import FEW
from headlight.formatting import plural
from headlight.machine import cores, threads
from headlight.runs.folder import RunFolder
from headlight.runs.preparing import MOST_UNKNOWN, NONE_HELD_OUT, THEREFORE
from headlight.runs.recipe import Recipe
from headlight.runs.run_status import Status

HIGH_RATE = 0.03  # with Adam, networks of this kind diverge well below it; the paper's rate peaks at 0.0007
FEW_TOKENS = 256  # of a step: a dozen sentences


def cautions(recipe: Recipe, preview: Preview | None = None) -> list[str]:
    """A sentence for each; `preview` is that of the recipe's corpus."""
    training, texts = recipe.training, []
    if training.warmup >= training.steps:
        texts.append(
            f"The warm-up takes {training.warmup:,} steps and the run has {training.steps:,}: the learning rate only "
            f"rises, to {training.steps / training.warmup:.0%} of its peak. A tenth of the steps is usual."
        )
    if training.learning_rate > HIGH_RATE:
        texts.append(
            f"A learning rate of {training.learning_rate:g} will probably make the loss explode; 0.001 is usual, and "
            "small networks bear 0.005."
        )
    if (seen := training.batch_tokens * training.accumulate) < FEW_TOKENS:
        texts.append(
            f"A step sees {plural(seen, 'token')}, or one sentence where that is longer: its "
            "gradient is mostly noise. A batch of 2,048 tokens is usual."
        )
    if (recipe.threads or 0) > cores():
        texts.append(f"{recipe.threads:,} threads are asked for; this machine has {cores()}, and no more are used.")
    if preview is not None:
        texts += _held_out(recipe, preview) + _unknown(preview)
    return texts


def shared(asked: int | None, alive: Sequence[Status]) -> list[str]:
    """Says where a run of so many threads would get its cores together with the `alive` ones."""
    if not alive or sum(map(_threads, alive)) + threads(asked) <= cores():
        return []
    others = f"{alive[0].name} is" if len(alive) == 1 else f"{len(alive)} runs are"
    same = "core" if cores() == 1 else f"{cores()} cores"
    return [
        f"{others} training on the same {same}: together they take longer than one after the other. "
        "Pause or finish one first, or give each fewer threads."
    ]


def _threads(run: Status) -> int:
    try:
        return threads(RunFolder(run.folder).recipe().threads)
    except ValueError:  # its files are damaged, and it goes on all the same
        return cores()


def _held_out(recipe: Recipe, preview: Preview) -> list[str]:
    """Where the corpus has no part to validate on, how few pairs will be held out."""
    if recipe.validation is not None or from_hub(recipe.data):
        return []
    with suppress(ValueError, OSError):
        if open_parts(recipe.data, recipe.folder)[1] is None:
            held = held_out_of(preview.count)
            if not held:
                return [f"{NONE_HELD_OUT} {THEREFORE}"]
            if held < FEW:
                pairs = plural(held, "pair is", "pairs are")
                return [
                    f"{pairs} held out to validate on: scores on fewer than {FEW} say little. Give a corpus to "
                    "validate on."
                ]
    return []


def _unknown(preview: Preview) -> list[str]:
    """Where the vocabulary has fewer than half of the tokens of sentences that it was not learned from."""
    least, side = min((preview.source.covered, "source"), (preview.target.covered, "target"))
    if least >= 1 - MOST_UNKNOWN:
        return []
    return [
        f"The vocabulary has {least:.0%} of the {side} tokens of new sentences: most of their words would be unknown "
        "to the model. Choose bpe, a lower minimum frequency, or a larger vocabulary."
    ]

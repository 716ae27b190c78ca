"""What a run will take, before it is started: parameters, memory, disk, steps per epoch, and time.

The parameters are exact. Time is measured: `measure` trains the network for a few seconds on random sentences, in a
process like a worker's. Without a measurement no time is given, and the memory is estimated from the sizes.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from headlight.corpora.preview import Preview
from headlight.machine import peak_memory, threads
from headlight.runs.recipe import Recipe
from headlight.runs.steer import environment
from transformer.access import require_private
from transformer.batches import Batch, bucket
from transformer.checkpoint.native import expected_shapes
from transformer.config import ModelConfig, TrainConfig
from transformer.model import Transformer
from transformer.training.loop import Trainer

DEFAULT_SENTENCE_TOKENS = 16  # tokens of a random sentence, where nothing is known of the corpus
PROCESS_BYTES = 350_000_000  # bytes of Python and its libraries
MEASURED_SECONDS, TIMEOUT_SECONDS = 2.0, 60.0


@dataclass(frozen=True)
class Speed:
    """The measured speed: target tokens per second, and the peak memory of the process in bytes."""

    tokens_per_second: float
    memory: int


@dataclass(frozen=True)
class RunEstimate:
    """Sizes in bytes and times in seconds; None where a preview or a measurement is missing."""

    parameters: int
    memory: int
    disk: int  # four checkpoints (the last two, the best, and the next while it is written), and the corpus
    updates_per_epoch: int | None = None
    seconds_per_epoch: float | None = None
    seconds: float | None = None


def estimate(recipe: Recipe, preview: Preview | None = None, speed: Speed | None = None) -> RunEstimate:
    """Estimate memory and time of a run; where `preview` read a part of the corpus, the times are for that part."""
    config, training = recipe.model, recipe.training
    if preview is not None:
        config = replace(
            config,
            source_vocab_size=min(preview.source.vocabulary, recipe.vocabulary),
            target_vocab_size=min(preview.target.vocabulary, recipe.vocabulary),
        )
    parameters = sum(map(math.prod, expected_shapes(config).values()))
    memory = speed.memory if speed else PROCESS_BYTES + 16 * parameters + activations(config, training)
    disk = 4 * 12 * parameters + training.snapshots * 2 * parameters
    if preview is None:
        return RunEstimate(parameters, memory, disk)
    # The batches of the sample, whose targets stand between two special tokens; only their lengths matter.
    sample: list[Any] = [(range(s), range(t + 1)) for s, t in zip(*preview.lengths, strict=True)]
    times = preview.count / len(sample)
    updates = math.ceil(len(bucket(sample, training.batch_tokens)) * times / training.accumulate)
    disk += round(2 * times * sum(map(sum, preview.lengths)))
    if speed is None:
        return RunEstimate(parameters, memory, disk, updates)
    seconds = preview.tokens / speed.tokens_per_second
    return RunEstimate(parameters, memory, disk, updates, seconds, seconds / updates * training.steps)


def activations(config: ModelConfig, training: TrainConfig) -> int:
    """Estimate the bytes that the forward pass keeps for the backward pass: inputs of sublayers, and logits."""
    d = config.d_model
    encoder = config.encoder.n_layers * (10 * d + 2 * config.encoder.d_ff)
    decoder = config.decoder.n_layers * (17 * d + 2 * config.decoder.d_ff)
    return training.batch_tokens * 4 * (encoder + decoder + 4 * config.target_vocab_size)


def measure(
    recipe: Recipe, source_length: int = DEFAULT_SENTENCE_TOKENS, target_length: int = DEFAULT_SENTENCE_TOKENS
) -> Speed:
    """Train the recipe's network for a few seconds on sentences of these lengths, in tokens.

    Raises ValueError where the network does not fit into memory or cannot make two steps in a minute, and on a public
    server.
    """
    require_private()
    question = json.dumps({"recipe": recipe.to_dict(), "lengths": [source_length, target_length]})
    command = [sys.executable, "-m", "headlight.runs.estimate"]
    try:
        answer = subprocess.run(
            command, input=question, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, env=environment(recipe)
        )
    except subprocess.TimeoutExpired:
        raise ValueError(
            f"This network cannot make two steps in {TIMEOUT_SECONDS:.0f} seconds; make it smaller."
        ) from None
    if answer.returncode:
        reason = (answer.stderr.strip().splitlines() or ["it was ended, perhaps because memory ran out"])[-1]
        raise ValueError(f"This network cannot be trained here: {reason[:200]}")
    return Speed(**json.loads(answer.stdout))


def _measure_here(recipe: Recipe, source_length: int, target_length: int) -> Speed:
    config, training = recipe.model, recipe.training
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(threads(recipe.threads))
    trainer = Trainer(Transformer(config).to(device), training)
    rows = max(1, training.batch_tokens // max(source_length, target_length))
    source = torch.randint(4, config.source_vocab_size, (rows, source_length))
    target = torch.randint(4, config.target_vocab_size, (rows, target_length + 1))
    batches = iter(lambda: Batch(source, target, config.pad_id), None)
    trainer.update(batches)  # the first one also reserves memory
    begun, tokens = time.perf_counter(), 0
    while time.perf_counter() - begun < MEASURED_SECONDS:
        tokens += trainer.update(batches).tokens
    seconds = time.perf_counter() - begun
    on_gpu = device.type == "cuda"
    memory = torch.cuda.max_memory_allocated() if on_gpu else peak_memory()
    return Speed(tokens / seconds, memory)


if __name__ == "__main__":
    question = json.load(sys.stdin)
    print(json.dumps(asdict(_measure_here(Recipe.from_dict(question["recipe"]), *question["lengths"]))))

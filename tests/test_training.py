"""The loop, the schedule and the run folder."""

import itertools
import json
import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.small import small_checkpoint
from transformer import TrainConfig, checkpoints
from transformer.checkpoints import Checkpoint
from transformer.data.batches import BatchStream, Example, collate
from transformer.training import Evaluator, Run, learning_rate, train
from transformer.training.loop import batch_loss
from transformer.training.run import snapshot_steps

CONFIG = TrainConfig(
    steps=120, batch_tokens=64, learning_rate=0.01, warmup=10, label_smoothing=0.0, precision="float32"
)
WORDS = ["a", "little", "girl", "is", "sitting", "on", "bench", "two", "dogs", "are", "running", "in", "the", "snow"]


def pairs(checkpoint: Checkpoint, count: int = 10) -> tuple[list[str], list[str], list[Example]]:
    """`count` sentences and the same reversed."""
    sources = [" ".join(WORDS[i : i + 2 + i % 4]) for i in range(count)]
    targets = [" ".join(reversed(source.split())) for source in sources]
    encode = checkpoint.source_tokenizer.encode
    return sources, targets, [([*encode(s), 3], [2, *encode(t), 3]) for s, t in zip(sources, targets, strict=True)]


def weights(checkpoint: Checkpoint) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in checkpoint.model.named_parameters()}


def run_loop(config: TrainConfig, seed: int = 0, **changes: object) -> tuple[Checkpoint, list[float]]:
    checkpoint = small_checkpoint(seed=seed, d_model=32, dropout=0.1, **changes)
    stream = BatchStream(pairs(checkpoint)[2], config.batch_tokens, seed=config.seed)
    return checkpoint, [report.loss for report in train(checkpoint.model, config, iter(stream))]


def test_ten_pairs_are_learned_to_near_zero_loss_and_written_back() -> None:
    checkpoint = small_checkpoint(d_model=32, dropout=0.0)
    sources, targets, examples = pairs(checkpoint)
    stream = BatchStream(examples, 256)
    *_, last = train(checkpoint.model, TrainConfig(**{**CONFIG.to_dict(), "steps": 200}), iter(stream))
    scores = Evaluator(sources, targets, examples)(checkpoint)
    assert last.loss < 0.02 and scores.loss < 0.02
    assert scores.exact == 1.0 and scores.translations == targets
    assert scores.chrf == pytest.approx(100)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others() -> None:
    config = TrainConfig(**{**CONFIG.to_dict(), "steps": 8})
    (one, losses), (same, same_losses) = run_loop(config), run_loop(config)
    assert losses == same_losses
    assert all(torch.equal(a, weights(same)[name]) for name, a in weights(one).items())
    assert run_loop(TrainConfig(**{**config.to_dict(), "seed": 1}))[1] != losses


def test_accumulated_batches_make_the_update_of_one_large_batch() -> None:
    """The gradient is the mean over all tokens, not the mean of the batches' means.

    Losses are compared, since Adam turns the rounding of a gradient that is zero into a step of full size.
    """
    examples = pairs(small_checkpoint())[2]
    small = [collate(examples[:2]), collate(examples[2:])]
    results = []
    for parts, accumulate in ((small, 2), ([collate(examples)], 1)):
        model = small_checkpoint(d_model=32, dropout=0.0).model
        config = TrainConfig(**{**CONFIG.to_dict(), "steps": 6, "warmup": 1, "accumulate": accumulate})
        results.append([report.loss for report in train(model, config, itertools.cycle(parts))])
    assert results[0] == pytest.approx(results[1], rel=1e-3)
    assert results[0][0] > 1.5 * results[0][-1]


def test_padding_adds_nothing_to_the_loss() -> None:
    checkpoint = small_checkpoint()
    examples = pairs(checkpoint)[2]
    together = batch_loss(checkpoint.model, collate(examples)).item()
    alone = sum(batch_loss(checkpoint.model, collate([example])).item() for example in examples)
    assert together == pytest.approx(alone, rel=1e-4)


def test_label_smoothing_is_the_formula() -> None:
    checkpoint = small_checkpoint()
    batch = collate(pairs(checkpoint)[2][:1])
    log_probs = checkpoint.model(batch.src, batch.tgt[:, :-1]).log_softmax(-1)[0]
    true = -log_probs.gather(1, batch.tgt[0, 1:, None]).sum()
    spread = -log_probs.mean(-1).sum()
    assert batch_loss(checkpoint.model, batch, 0.1).item() == pytest.approx(
        (0.9 * true + 0.1 * spread).item(), rel=1e-5
    )


@pytest.mark.parametrize("schedule", ["paper", "linear", "constant"])
def test_every_schedule_rises_to_its_peak_at_the_end_of_the_warm_up(schedule: str) -> None:
    config = TrainConfig(steps=1000, warmup=100, learning_rate=0.002, schedule=schedule)  # type: ignore[arg-type]
    rates = [learning_rate(step, config) for step in range(1, 1001)]
    assert max(rates) == pytest.approx(rates[99]) == pytest.approx(0.002)
    assert rates[49] == pytest.approx(0.001)


def test_the_paper_schedule_is_equation_3_scaled() -> None:
    config = TrainConfig(steps=100_000, warmup=4000, learning_rate=(512 * 4000) ** -0.5, schedule="paper")
    for step in (1, 100, 4000, 40_000):
        assert learning_rate(step, config) == pytest.approx(512**-0.5 * min(step**-0.5, step * 4000**-1.5))


def test_the_linear_schedule_ends_at_zero() -> None:
    config = TrainConfig(steps=1000, warmup=100)
    assert learning_rate(1000, config) == 0.0 < learning_rate(999, config)


def test_a_gradient_longer_than_clip_is_shortened_and_reported_whole() -> None:
    config = TrainConfig(**{**CONFIG.to_dict(), "steps": 1, "warmup": 0, "schedule": "constant", "clip": 1e-12})
    checkpoint = small_checkpoint()
    before = weights(checkpoint)
    (report,) = train(checkpoint.model, config, iter(BatchStream(pairs(checkpoint)[2], 64)))
    assert report.gradient_norm > 0.1
    # Adam divides by the gradient's size; one far below its epsilon moves nothing much.
    moved = max((before[name] - p).abs().max().item() for name, p in weights(checkpoint).items())
    assert moved < 0.5 * report.learning_rate


def test_a_run_writes_a_folder_that_opens(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(d_model=32)
    sources, targets, examples = pairs(checkpoint)
    config = TrainConfig(**{**CONFIG.to_dict(), "steps": 20, "evaluate_every": 10, "snapshots": 4})
    run = Run(tmp_path / "run", checkpoint, config, {"data_spec": "test"})
    progress = list(run.fit(examples, Evaluator(sources, targets, examples)))
    assert [p.report.step for p in progress] == list(range(1, 21))
    assert [p.report.step for p in progress if p.evaluation] == [10, 20]
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    assert len(lines) == 20 and math.isclose(lines[4]["loss"], progress[4].report.loss)
    assert "chrf" in lines[9]["evaluation"]
    assert json.loads((run.folder / "status.json").read_text()) == {"state": "finished", "step": 20, "steps": 20}
    written = json.loads((run.folder / "config.json").read_text())
    assert written["training"] == config.to_dict()
    last = checkpoints.load(run.folder / "checkpoints" / "last")
    assert all(torch.equal(p, weights(last)[name]) for name, p in weights(checkpoint).items())
    best = max((p for p in progress if p.evaluation), key=lambda p: p.evaluation.chrf)  # type: ignore[union-attr]
    assert checkpoints.load(run.folder / "checkpoints" / "best").card["step"] == best.report.step
    snapshots = sorted((run.folder / "history").iterdir())
    assert [path.stem for path in snapshots] == [f"step-{step:07d}" for step in sorted(snapshot_steps(config))]
    assert set(load_file(snapshots[0])) == set(weights(checkpoint))
    with pytest.raises(ValueError, match="exists already"):
        Run(tmp_path / "run", checkpoint, config, {})


def test_bfloat16_stays_close_to_float32() -> None:
    config = TrainConfig(**{**CONFIG.to_dict(), "steps": 30})
    exact, rough = run_loop(config)[1], run_loop(TrainConfig(**{**config.to_dict(), "precision": "bfloat16"}))[1]
    assert exact != rough
    assert rough[-1] == pytest.approx(exact[-1], abs=0.3)


def test_a_corpus_without_pairs_is_said() -> None:
    with pytest.raises(ValueError, match="no usable pair"):
        next(iter(train(small_checkpoint().model, CONFIG, iter(BatchStream([], 64)))))
    with pytest.raises(ValueError, match="0 sources"):
        Evaluator([], [], [])

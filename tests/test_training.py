"""The loop, the schedule and what can be switched on in them."""

import copy
import itertools
import math
import random
from dataclasses import fields, replace

import pytest
import torch

from headlight.runs import SETTING_HELP, Evaluator, Recipe
from tests.small import small_checkpoint
from transformer import ModelConfig, StackConfig, TrainConfig
from transformer.batches import Batch, BatchStream, Example, collate
from transformer.checkpoint import Checkpoint
from transformer.config import ScheduledSampling
from transformer.model import Transformer
from transformer.training import Diverged, Trainer, learning_rate, teacher_forcing, train
from transformer.training.loop import batch_loss, random_seed, scheduled_sampling_inputs, states_by_prefix

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


@pytest.mark.slow
def test_ten_pairs_are_learned_to_near_zero_loss_and_written_back() -> None:
    checkpoint = small_checkpoint(d_model=32, dropout=0.0)
    sources, targets, examples = pairs(checkpoint)
    stream = BatchStream(examples, 256)
    *_, last = train(checkpoint.model, TrainConfig(**{**CONFIG.to_dict(), "steps": 200}), iter(stream))
    scores = Evaluator(sources, targets, examples)(checkpoint)
    assert last.loss < 0.02 and scores.loss < 0.02
    assert scores.exact == 1.0 and scores.translations == targets
    assert scores.chrf == pytest.approx(100)


def test_each_evaluation_writes_with_the_weights_as_they_are_then() -> None:
    """This holds after a fused optimizer too, which does not increase the version counter of tensors."""
    checkpoint = small_checkpoint()
    model, (sources, targets, examples) = checkpoint.model, pairs(checkpoint)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
    evaluator = Evaluator(sources, targets, examples)
    before = evaluator(checkpoint).translations
    model.train()
    batch_loss(model, collate(examples, model.config.pad_id)).backward()
    optimizer.step()
    after = evaluator(checkpoint).translations
    assert after != before
    assert after == evaluator(replace(checkpoint, model=copy.deepcopy(model))).translations


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


def test_a_gradient_is_followed_in_full_where_clipping_is_off() -> None:
    rates = {"steps": 1, "warmup": 0, "schedule": "constant"}
    moved = []
    for clip in (0.0, 1e9):
        checkpoint = small_checkpoint()
        stream = BatchStream(pairs(checkpoint)[2], 64)
        list(train(checkpoint.model, replace(CONFIG, clip=clip, **rates), iter(stream)))
        moved.append(weights(checkpoint))
    assert all(torch.equal(tensor, moved[1][name]) for name, tensor in moved[0].items())


def test_the_random_numbers_of_an_update_follow_from_the_seed_the_update_and_the_process() -> None:
    drawn = {random_seed(seed, step, rank) for seed in range(5) for step in range(50) for rank in range(4)}
    assert len(drawn) == 1000 and all(0 <= number < 2**63 for number in drawn)


def test_teacher_forcing_falls_to_three_tenths_only_where_it_is_scheduled() -> None:
    scheduled = replace(CONFIG, scheduled_sampling="prefix")
    shares = [teacher_forcing(epoch, scheduled) for epoch in range(40)]
    assert shares[:3] == pytest.approx([1, 0.95, 0.9025])
    assert shares[23] > 0.3 == shares[24] == shares[-1]
    assert {teacher_forcing(epoch, CONFIG) for epoch in range(40)} == {1.0}


def test_scheduled_sampling_inputs_are_the_most_probable_tokens_after_the_true_ones() -> None:
    checkpoint = small_checkpoint()
    batch, model = collate(pairs(checkpoint)[2]), checkpoint.model
    reads = batch.tgt[:, :-1]
    memory = model.encode(batch.src)
    torch.manual_seed(0)
    mixed = scheduled_sampling_inputs(model, reads, memory, batch.src, share=0.4)
    logits = model(batch.src, reads)
    logits[..., 0] = -torch.inf  # padding is no word
    likeliest = torch.cat([reads[:, :1], logits.argmax(-1)[:, :-1]], 1)
    changed, words = mixed != reads, (reads != 0)[:, 1:]
    assert torch.equal(mixed[changed], likeliest[changed])
    differ = (likeliest != reads)[:, 1:] & words
    assert 0.2 < changed.sum() / differ.sum() < 0.6  # the untrained model is hardly ever right by chance
    assert torch.equal(mixed[:, 0], reads[:, 0]) and torch.equal(mixed[reads == 0], reads[reads == 0])
    everything = scheduled_sampling_inputs(model, reads, memory, batch.src, share=1.0)
    assert torch.equal(everything[:, 1:][words], likeliest[:, 1:][words])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_reading_its_scheduled_sampling_inputs_leaves_a_gradient_for_every_parameter(dtype: torch.dtype) -> None:
    """Under autocast, a first pass without gradients would leave weights without gradients in the cache."""
    checkpoint = small_checkpoint(dropout=0.0)
    batch, gradients = collate(pairs(checkpoint)[2]), []
    for forcing in (1.0, 1.0 - 1e-9):  # nothing is replaced, but the first pass takes place
        checkpoint.model.zero_grad()
        with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
            loss = batch_loss(checkpoint.model, batch, forcing=forcing)
        loss.backward()
        gradients.append(
            {name: p.grad.clone() for name, p in checkpoint.model.named_parameters() if p.grad is not None}
        )
    assert set(gradients[0]) == set(gradients[1]) == set(dict(checkpoint.model.named_parameters()))
    assert all(torch.equal(gradient, gradients[1][name]) for name, gradient in gradients[0].items())


def test_scheduled_sampling_changes_nothing_in_the_first_pass_and_something_in_the_second() -> None:
    losses = {}
    for scheduled in ("never", "parallel"):
        checkpoint = small_checkpoint(d_model=32, dropout=0.1)
        trainer = Trainer(checkpoint.model, replace(CONFIG, scheduled_sampling=scheduled))
        batches = iter(BatchStream(pairs(checkpoint)[2], 256))
        losses[scheduled] = [trainer.update(batches, epoch).loss for epoch in (0, 0, 20, 20)]
    never, parallel = losses["never"], losses["parallel"]
    assert parallel[:2] == never[:2] and parallel[2] != never[2]


def test_an_older_recipe_says_true_or_false_of_scheduled_sampling() -> None:
    values = CONFIG.to_dict()
    assert TrainConfig.from_dict({**values, "scheduled_sampling": True}).scheduled_sampling == "parallel"
    assert TrainConfig.from_dict({**values, "scheduled_sampling": False}).scheduled_sampling == "never"


def test_each_state_by_prefix_is_that_of_a_pass_over_its_prefix_alone() -> None:
    checkpoint = small_checkpoint(dropout=0.0, look_ahead_mask="never", padding_mask="never")
    batch, model = collate(pairs(checkpoint)[2]), checkpoint.model.eval()
    reads, memory = batch.tgt[:, :-1], model.encode(batch.src)
    states = states_by_prefix(model, reads, memory, batch.src, forcing=1.0)
    for length in (1, 2, reads.size(1)):
        alone = model.decode(reads[:, :length], memory, batch.src)[:, -1]
        torch.testing.assert_close(states[:, length - 1], alone)
    assert not torch.allclose(states[:, 0], model.decode(reads, memory, batch.src)[:, 0])  # which sees what follows


@pytest.mark.slow
def test_without_masks_only_scheduled_sampling_by_prefix_learns_to_copy() -> None:
    """The other sees in training what it has to write. Judged by what each predicts after the true prefix alone."""
    losses = {mode: _copying(mode) for mode in ("prefix", "parallel")}
    assert losses["prefix"][0] < 0.3 and losses["prefix"][1] > 150
    assert losses["parallel"][0] > 1.0 and losses["parallel"][1] < 75


def _copying(scheduled_sampling: ScheduledSampling) -> tuple[float, int]:
    """Return the loss on the true prefix, in nats a token, and how many of 200 words are copied."""
    rng, stack = random.Random(0), StackConfig(1, 4, 64)

    def batch(count: int) -> Batch:
        words = [[4 + rng.randrange(6) for _ in range(rng.randint(1, 4))] for _ in range(count)]
        return collate([([*word, 3], [2, *word, 3]) for word in words])

    torch.manual_seed(0)
    config = ModelConfig(10, 10, 32, stack, stack, "pre", final_norm=True, dropout=0.0, max_length=8)
    model = Transformer(replace(config, padding_mask="never", look_ahead_mask="never"))
    training = TrainConfig(
        steps=200, learning_rate=5e-3, schedule="constant", warmup=50, label_smoothing=0.0, precision="float32"
    )
    trainer = Trainer(model, replace(training, scheduled_sampling=scheduled_sampling))
    for step in range(200):
        trainer.update(iter([batch(32)]), epoch=step // 20)
    model.eval()
    src, tgt, _ = batch(200)
    with torch.no_grad():
        memory, writes = model.encode(src), tgt[:, 1:]
        logits = model.output(states_by_prefix(model, tgt[:, :-1], memory, src, forcing=1.0))
        written = tgt[:, :1]
        while written.size(1) < tgt.size(1):
            last = model.output(model.decode(written, memory, src)[:, -1])
            written = torch.cat([written, last.argmax(-1, keepdim=True)], 1)
    right = ((written[:, 1:] == writes) | (writes == 0)).all(1)
    return torch.nn.functional.cross_entropy(logits[writes != 0], writes[writes != 0]).item(), int(right.sum())


def test_without_teacher_forcing_the_prefix_is_what_greedy_decoding_writes() -> None:
    checkpoint = small_checkpoint(dropout=0.0)
    model, src = checkpoint.model.eval(), torch.tensor([[5, 6, 7, 3]])
    reads, memory = torch.tensor([[2, 9, 9, 9]]), model.encode(src)
    written = [2]
    for _ in range(3):
        logits = model.output(model.decode(torch.tensor([written]), memory, src)[:, -1])[0]
        logits[0] = -torch.inf  # padding is no word
        written.append(int(logits.argmax()))
    states = states_by_prefix(model, reads, memory, src, forcing=0.0)
    torch.testing.assert_close(states, model.decode(torch.tensor([written]), memory, src))


def test_padding_counts_in_the_loss_only_where_it_is_asked_for() -> None:
    checkpoint = small_checkpoint(dropout=0.0)
    batch, model = collate(pairs(checkpoint)[2]), checkpoint.model.eval()
    log_probs = model(batch.src, batch.tgt[:, :-1]).log_softmax(-1)
    each = -log_probs.gather(-1, batch.tgt[:, 1:, None])[..., 0]
    real = batch.tgt[:, 1:] != 0
    assert not real.all()
    torch.testing.assert_close(batch_loss(model, batch), each[real].sum())
    torch.testing.assert_close(batch_loss(model, batch, padding=True), each.sum())
    trainer = Trainer(model, replace(CONFIG, padding_in_loss=True))
    assert trainer.update(iter([batch])).tokens == real.numel()


def test_adam_has_the_decay_and_epsilon_of_the_configuration() -> None:
    group = Trainer(small_checkpoint().model, replace(CONFIG, adam_beta2=0.999, adam_eps=1e-8)).optimizer.param_groups
    assert (group[0]["betas"], group[0]["eps"]) == ((0.9, 0.999), 1e-8)
    group = Trainer(small_checkpoint().model, CONFIG).optimizer.param_groups
    assert (group[0]["betas"], group[0]["eps"]) == ((0.9, 0.98), 1e-9)  # section 5.3


@pytest.mark.slow
def test_float16_scales_its_loss_and_learns() -> None:
    config = replace(CONFIG, steps=40, precision="float16")
    half, exact = run_loop(config)[1], run_loop(replace(config, precision="float32"))[1]
    assert half != exact
    assert half[-1] == pytest.approx(exact[-1], abs=0.3) and half[-1] < 0.6 * half[0]


def test_an_update_whose_scaled_gradient_overflows_is_left_out_and_the_scale_halved() -> None:
    checkpoint = small_checkpoint()
    trainer = Trainer(checkpoint.model, replace(CONFIG, precision="float16"))
    batches = itertools.repeat(collate(pairs(checkpoint)[2]))
    trainer.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)
    before = weights(checkpoint)
    report = trainer.update(batches)
    assert not math.isfinite(report.gradient_norm) and math.isfinite(report.loss)
    assert all(torch.equal(p, before[name]) for name, p in weights(checkpoint).items())
    assert trainer.scaler.get_scale() == 2.0**23
    while not math.isfinite(trainer.update(batches).gradient_norm):
        pass
    assert any(not torch.equal(p, before[name]) for name, p in weights(checkpoint).items())


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_loss_that_is_no_number_ends_the_training_and_spoils_no_weight(precision: str) -> None:
    checkpoint = small_checkpoint()
    config = replace(CONFIG, precision=precision)  # type: ignore[arg-type]
    trainer = Trainer(checkpoint.model, config)
    batches = iter(BatchStream(pairs(checkpoint)[2], 64))
    trainer.update(batches)
    with torch.no_grad():
        checkpoint.model.output.weight[5, 3] = torch.nan
    before = weights(checkpoint)
    with pytest.raises(Diverged, match="loss became nan at step 2"):
        trainer.update(batches)
    assert all(torch.equal(p.nan_to_num(), before[name].nan_to_num()) for name, p in weights(checkpoint).items())


def test_a_gradient_that_is_no_number_is_distinguished_from_the_loss() -> None:
    checkpoint = small_checkpoint()
    trainer = Trainer(checkpoint.model, CONFIG)
    checkpoint.model.output.weight.register_hook(lambda gradient: gradient * torch.inf)
    with pytest.raises(Diverged, match="gradient became (nan|inf) at step 1, at a loss of"):
        trainer.update(iter(BatchStream(pairs(checkpoint)[2], 64)))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_either_place_of_the_norm_learns(norm: str) -> None:
    losses = run_loop(replace(CONFIG, steps=40), norm=norm, final_norm=norm == "pre")[1]
    assert losses[-1] < 0.6 * losses[0]


def test_every_setting_has_a_sentence() -> None:
    names = {field.name for config in (ModelConfig, StackConfig, TrainConfig, Recipe) for field in fields(config)}
    assert set(SETTING_HELP) == names - {"model", "training"}
    assert all(text.endswith(".") and 20 < len(text) < 230 for text in SETTING_HELP.values())


def test_bfloat16_stays_close_to_float32() -> None:
    config = TrainConfig(**{**CONFIG.to_dict(), "steps": 30})
    exact, rough = run_loop(config)[1], run_loop(TrainConfig(**{**config.to_dict(), "precision": "bfloat16"}))[1]
    assert exact != rough
    assert rough[-1] == pytest.approx(exact[-1], abs=0.3)


def test_a_corpus_without_pairs_is_refused() -> None:
    with pytest.raises(ValueError, match="no usable pair"):
        next(iter(train(small_checkpoint().model, CONFIG, iter(BatchStream([], 64)))))
    with pytest.raises(ValueError, match="0 sources"):
        Evaluator([], [], [])

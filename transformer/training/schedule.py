"""Schedules of the learning rate and of teacher forcing."""

from __future__ import annotations

from transformer.config import TrainConfig


def learning_rate(step: int, config: TrainConfig) -> float:
    """Return the learning rate of `step`, counted from 1.

    "paper" is min(step^-0.5, step * warmup^-1.5) of section 5.3, scaled to peak at `config.learning_rate`
    instead of at (d_model * warmup)^-0.5, so that one field means the same in every schedule.
    """
    assert step >= 1
    warmup = max(config.warmup, 1)
    rising = min(step / warmup, 1.0)
    if config.schedule == "paper":
        return config.learning_rate * min(rising, (warmup / step) ** 0.5)
    if config.schedule == "linear":
        falling = (config.steps - step) / max(config.steps - warmup, 1)
        return config.learning_rate * max(min(rising, falling), 0.0)
    return config.learning_rate * rising


def teacher_forcing(epoch: int, config: TrainConfig) -> float:
    """Return the probability that the decoder is fed the reference token, not its own prediction, in `epoch` (from 0).

    It is 1 without scheduled sampling (Bengio et al. 2015), and 0.95^epoch but at least 0.3 with it.
    """
    return 1.0 if config.scheduled_sampling == "never" else max(0.95**epoch, 0.3)

"""Exercises: what the decoder reads and should write, label smoothing, and the paper's learning rate.

Shapes: B sentences, T target tokens, N tokens of a batch, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Exercise, KnownMistake, random

PAD = 1


def teacher_forcing(target: Tensor, reads: str = "shifted", writes: str = "shifted") -> tuple[Tensor, Tensor]:
    """What the decoder reads and what it should write after each token of that: two of [B, T - 1]."""
    without_last, without_first = target[:, :-1], target[:, 1:]
    return (
        {"shifted": without_last, "whole": target, "next": without_first}[reads],
        {"shifted": without_first, "whole": target, "same": without_last}[writes],
    )


SHIFT = Exercise(
    "teacher_forcing",
    "teacher_forcing.py",
    teacher_forcing,
    lambda: [Case("", {"target": torch.tensor([[2, 7, 5, 9, 3], [2, 8, 3, PAD, PAD]])})],
    (
        KnownMistake(
            {"reads": "whole", "writes": "whole"},
            "The target is not shifted: the decoder reads the very token that it should write, and learns to copy it. "
            "It reads all but the last, and writes all but the first.",
        ),
        KnownMistake(
            {"writes": "same"},
            "The target is not shifted: both are all but the last, so the decoder learns to copy what it reads. It "
            "should write all but the first.",
        ),
        KnownMistake(
            {"reads": "next"}, "The target is not shifted: both are all but the first; it reads all but the last."
        ),
        KnownMistake(
            {"reads": "next", "writes": "same"}, "The two have changed places: reads first, then what to write."
        ),
        KnownMistake({"reads": "whole"}, "It reads one token too many: after the last, nothing is left to write."),
        KnownMistake(
            {"writes": "whole"}, "It should write one token less: the first, [SOS], is given and never written."
        ),
    ),
)


def label_smoothing(
    logits: Tensor,
    targets: Tensor,
    pad_id: int,
    smoothing: float,
    over: str = "others",
    padding: str = "left out",
    reduced: str = "mean",
    softmax: bool = True,
    right: str = "less",
) -> Tensor:
    """The mean cross-entropy, in nats, with targets of 1 - ε for the right token and ε / (V - 1) for each other."""
    V = logits.size(1)
    log_probs = logits.log_softmax(1) if softmax else logits
    smoothing = 0.0 if over == "nothing" else smoothing
    shares = {"others": V - 1, "all": V, "others by V": V, "others but padding": V - 2}
    wanted = torch.full_like(logits, smoothing / shares.get(over, V - 1))
    if over == "others but padding":
        wanted[:, pad_id] = 0.0
    true = 1.0 if right == "whole" else 1.0 - smoothing + (smoothing / V if over == "all" else 0.0)
    wanted.scatter_(1, targets[:, None], true)
    losses = -(wanted * log_probs).sum(1)
    real = targets != pad_id
    if padding == "left out":
        losses = losses[real]
    elif padding == "divided":
        losses = losses * real
    if reduced == "negative":
        return -losses.mean()
    return losses.sum() if reduced == "sum" else losses.mean()


SMOOTHING = Exercise(
    "label_smoothing",
    "label_smoothing.py",
    label_smoothing,
    lambda: [
        Case(
            about,
            {
                "logits": random(6, 7, seed=120) * 2,
                "targets": torch.tensor([4, 2, 6, 3, *last]),
                "pad_id": PAD,
                "smoothing": 0.1,
            },
        )
        for about, last in (("without padding", (0, 5)), ("with padding", (PAD, PAD)))
    ],
    (
        KnownMistake(
            {"over": "all"},
            "ε is spread over all V tokens, the right one among them, as `cross_entropy(label_smoothing=...)` does. "
            "Here the V - 1 others share it: ε / (V - 1) each, and the right one has 1 - ε.",
        ),
        KnownMistake(
            {"over": "others by V"},
            "Each other token gets ε / V; they are V - 1, so that the targets do not sum to 1: it is ε / (V - 1).",
        ),
        KnownMistake(
            {"over": "others but padding"},
            "ε is spread over V - 2 tokens, without padding, as in The Annotated Transformer; here all V - 1 others "
            "share it.",
        ),
        KnownMistake({"over": "nothing"}, "Nothing is smoothed: this is the plain cross-entropy."),
        KnownMistake({"padding": "counted"}, "Padding is counted in the loss; leave out the tokens that are pad_id."),
        KnownMistake(
            {"padding": "divided"},
            "Padding is counted in the mean: its losses are 0, but you divide by all tokens. Divide by those that are "
            "not pad_id.",
        ),
        KnownMistake({"reduced": "sum"}, "This is the sum over the tokens; it should be their mean."),
        KnownMistake(
            {"reduced": "negative"}, "The sign is wrong: the loss is minus the sum of target times log-probability."
        ),
        KnownMistake({"softmax": False}, "The logits are taken for log-probabilities: `log_softmax` first."),
        KnownMistake(
            {"right": "whole"}, "The right token keeps 1, so the targets sum to more than 1; it is left with 1 - ε."
        ),
    ),
)


def noam(
    step: int,
    d_model: int,
    warmup: int,
    rising: float = -1.5,
    size: float = -0.5,
    which: str = "min",
) -> float:
    """d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)."""
    rates = (step**-0.5, step * warmup**rising)
    rate: float = d_model**size * {"min": min(rates), "max": max(rates), "fall": rates[0], "rise": rates[1]}[which]
    return rate


NOAM = Exercise(
    "noam",
    "noam.py",
    noam,
    lambda: [
        Case(about, {"step": step, "d_model": 512, "warmup": 4000})
        for about, step in (
            ("at the first step", 1),
            ("while it rises", 1000),
            ("at the peak", 4000),
            ("after it", 9000),
        )
    ],
    (
        KnownMistake(
            {"rising": -0.5}, "The power of warmup is -0.5; it is -1.5, so that the two meet at step = warmup."
        ),
        KnownMistake({"rising": -1.0}, "The power of warmup is -1; it is -1.5, so that the two meet at step = warmup."),
        KnownMistake({"size": 0.5}, "The power of d_model is 0.5; a larger model learns with a smaller rate: -0.5."),
        KnownMistake({"size": 0.0}, "The factor d_model^-0.5 is missing."),
        KnownMistake({"which": "max"}, "It is the larger of the two; it should be the smaller: `min`."),
        KnownMistake(
            {"which": "fall"}, "There is no warm-up: step · warmup^-1.5 is missing, or its power is not negative."
        ),
        KnownMistake({"which": "rise"}, "The rate never falls: after the warm-up it is step^-0.5, a negative power."),
    ),
    slips=(
        (
            r"pow\(\) received an invalid combination|pow\(\): argument",
            "`torch.pow` takes tensors, and step, d_model and warmup are ints: write `step ** -0.5`.",
        ),
        (
            "Integers to negative integer powers",
            "An integer tensor has no negative powers: write `step ** -0.5` with plain numbers.",
        ),
        ("ZeroDivisionError|0.0 cannot be raised", "Steps count from 1; at 0, step^-0.5 would be infinite."),
    ),
)

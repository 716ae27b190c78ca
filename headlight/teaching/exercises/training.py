"""Exercises: teacher forcing, label smoothing, and the paper's learning rate.

Shapes: B sentences, T target tokens, N tokens of a batch, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Draw, Exercise, KnownMistake


def teacher_forcing(target: Tensor, reads: str = "shifted", writes: str = "shifted") -> tuple[Tensor, Tensor]:
    """Return what the decoder reads, and what it should write after each of these tokens: two of [B, T - 1]."""
    without_last, without_first = target[:, :-1], target[:, 1:]
    return (
        {"shifted": without_last, "whole": target, "next": without_first}[reads],
        {"shifted": without_first, "whole": target, "same": without_last}[writes],
    )


def _shift_cases(draw: Draw) -> list[Case]:
    """Return targets without two equal neighbours, so that a shift shows everywhere."""
    cases = []
    for _ in range(2):
        B, T = draw.sizes(2, low=4)
        cases.append(Case("", {"target": torch.stack([torch.tensor(draw.sample(range(3, 40), T)) for _ in range(B)])}))
    return cases


TEACHER_FORCING = Exercise(
    "teacher_forcing",
    "teacher_forcing.py",
    teacher_forcing,
    _shift_cases,
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
    implementation="batch_loss in transformer/training/loop.py",
)


def label_smoothing(
    logits: Tensor,
    targets: Tensor,
    pad_id: int,
    smoothing: float,
    over: str = "others",
    padding: str = "left out",
    reduced: str = "mean",
    softmax: str = "vocabulary",
    right: str = "less",
    divergence: bool = False,
    pad: str = "given",
    fixed: bool = False,
) -> Tensor:
    """Return the mean cross-entropy, in nats, with targets of 1 - ε for the right token and ε / (V - 1) for others."""
    V = logits.size(1)
    log_probs = {"vocabulary": logits.log_softmax(1), "tokens": logits.log_softmax(0), "none": logits}[softmax]
    pad_id = 0 if pad == "zero" else pad_id
    smoothing = 0.0 if over == "nothing" else 0.1 if fixed else smoothing
    shares = {"others": V - 1, "all": V, "others by V": V, "others but padding": V - 2}
    distribution = torch.full_like(logits, smoothing / shares.get(over, V - 1))
    if over == "others but padding":
        distribution[:, pad_id] = 0.0
    true = 1.0 if right == "whole" else 1.0 - smoothing + (smoothing / V if over == "all" else 0.0)
    distribution.scatter_(1, targets[:, None], true)
    losses = -(distribution * log_probs).sum(1)
    if divergence:
        losses = losses + torch.xlogy(distribution, distribution).sum(1)
    not_padding = targets != pad_id
    if padding == "left out":
        losses = losses[not_padding]
    elif padding == "divided":
        losses = losses * not_padding
    mean = losses.mean()
    return {"mean": mean, "sum": losses.sum(), "negative": -mean, "each number": mean / V}[reduced]


def _smoothing_cases(draw: Draw) -> list[Case]:
    cases = []
    for about, padded in (("without padding", 0), ("with padding", 2)):
        N, V = draw.sizes(2, low=5, high=9)
        pad_id = draw.randint(1, V - 1)
        tokens = [id for id in range(1, V) if id != pad_id]
        targets = [0, *(draw.choice(tokens) for _ in range(N - 1 - padded)), *[pad_id] * padded]
        inputs = {"logits": draw.normal(N, V) * 2, "targets": torch.tensor(targets), "pad_id": pad_id}
        cases.append(Case(about, {**inputs, "smoothing": draw.choice((0.05, 0.15, 0.2, 0.3))}))
    return cases


LABEL_SMOOTHING = Exercise(
    "label_smoothing",
    "label_smoothing.py",
    label_smoothing,
    _smoothing_cases,
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
        KnownMistake({"softmax": "none"}, "The logits are taken for log-probabilities: `log_softmax` first."),
        KnownMistake(
            {"softmax": "tokens"}, "The softmax is over the tokens of the batch; it is over the vocabulary: `dim=-1`."
        ),
        KnownMistake(
            {"right": "whole"}, "The right token keeps 1, so the targets sum to more than 1; it is left with 1 - ε."
        ),
        KnownMistake(
            {"divergence": True},
            "This is the Kullback-Leibler divergence, as `KLDivLoss` computes it: less than the cross-entropy by the "
            "entropy of the targets, a constant. Gradients are the same, but the number is not: -(targets · "
            "log-probabilities), summed over the vocabulary.",
        ),
        KnownMistake(
            {"over": "others but padding", "divergence": True, "reduced": "sum"},
            "This is the loss of The Annotated Transformer: a Kullback-Leibler divergence, with ε over V - 2 tokens, "
            "summed over the batch. Here it is the cross-entropy, with ε over V - 1, averaged over the tokens.",
        ),
        KnownMistake(
            {"reduced": "each number"}, "The mean is over all N · V numbers; sum over the vocabulary, then average."
        ),
        KnownMistake(
            {"pad": "zero"}, "0 is taken for the padding; it is `pad_id`, and here 0 is a token: compare with `pad_id`."
        ),
        KnownMistake({"fixed": True}, "ε is 0.1 whatever is asked for; use `smoothing`."),
    ),
    implementation="cross_entropy in transformer/training/loss.py",
)


def noam(
    step: int,
    d_model: int,
    warmup: int,
    rising: float = -1.5,
    size: float = -0.5,
    which: str = "min",
    fixed: tuple[str, ...] = (),
) -> float:
    """Return d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)."""
    d_model = 512 if "d_model" in fixed else d_model
    warmup = 4000 if "warmup" in fixed else warmup
    rates = (step**-0.5, step * warmup**rising)
    rate: float = d_model**size * {"min": min(rates), "max": max(rates), "fall": rates[0], "rise": rates[1]}[which]
    return rate


def _noam_cases(draw: Draw) -> list[Case]:
    cases = []
    for about, share in (("at the first step", 0.0), ("while it rises", 0.3), ("at the peak", 1.0), ("after it", 2.5)):
        d_model, warmup = 2 * draw.randint(20, 200), draw.randint(100, 3000)
        cases.append(Case(about, {"step": max(1, round(share * warmup)), "d_model": d_model, "warmup": warmup}))
    return cases


def _constants(*names: str) -> KnownMistake:
    values = " and ".join({"d_model": "d_model is 512", "warmup": "warmup is 4000"}[name] for name in names)
    return KnownMistake({"fixed": names}, f"{values} whatever is asked for: use the argument{'s' * (len(names) > 1)}.")


NOAM = Exercise(
    "noam",
    "noam.py",
    noam,
    _noam_cases,
    (
        _constants("d_model", "warmup"),
        _constants("d_model"),
        _constants("warmup"),
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
    implementation="learning_rate in transformer/training/schedule.py",
    aliases=("learning_rate", "lr_schedule", "get_lr", "rate", "noam_lr"),
)

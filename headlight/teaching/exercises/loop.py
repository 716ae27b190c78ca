"""Exercises: batches with padding, and the training loop.

Shapes: B sentences, S source tokens, T target tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headlight.teaching.exercises.exercise import Case, Draw, Exercise, KnownMistake, Unfit
from headlight.teaching.exercises.values import in_torch

Ids = Sequence[int]
Pairs = list[tuple[Tensor, Tensor]]


def batches(
    pairs: list[tuple[list[int], list[int]]],
    size: int,
    sos_id: int,
    eos_id: int,
    pad_id: int,
    order: str = "source",
    last: bool = True,
    longest: str = "batch",
    side: str = "end",
    cut: bool = False,
    source_end: bool = True,
    source_start: bool = False,
    target_start: bool = True,
    target_end: bool = True,
    padded: str = "given",
) -> Pairs:
    """Return batches of `size` pairs of similar length, each side padded to its longest sentence: [B, S] and [B, T]."""
    keys: dict[str, Callable[[tuple[Ids, Ids]], int]] = {
        "source": lambda pair: len(pair[0]),
        "target": lambda pair: len(pair[1]),
        "longest first": lambda pair: -len(pair[0]),
    }
    rows = [
        (
            [sos_id] * source_start + source + [eos_id] * source_end,
            [sos_id] * target_start + target + [eos_id] * target_end,
        )
        for source, target in (sorted(pairs, key=keys[order]) if order in keys else pairs)
    ]
    groups = [rows[start : start + size] for start in range(0, len(rows), size)]
    if not last and len(groups[-1]) < size:
        groups.pop()
    fill = 0 if padded == "zero" else pad_id

    def pad(sentences: Sequence[list[int]], length: int) -> Tensor:
        gaps = [[fill] * (length - len(ids)) for ids in sentences]
        if side == "start":
            return torch.tensor([[*gap, *ids] for ids, gap in zip(sentences, gaps, strict=True)])
        return torch.tensor([[*ids, *gap][:length] for ids, gap in zip(sentences, gaps, strict=True)])

    collated = []
    for group in groups:
        sides = tuple(zip(*(rows if longest == "corpus" else group), strict=True))
        lengths = [(min if cut else max)(map(len, sentences)) for sentences in sides]
        lengths = [max(lengths)] * 2 if longest == "both sides" else lengths
        collated.append((pad([s for s, _ in group], lengths[0]), pad([t for _, t in group], lengths[1])))
    return collated


def _batches_cases(draw: Draw) -> list[Case]:
    cases = []
    for _ in range(2):
        sos_id, eos_id, pad_id = draw.sample(range(1, 9), 3)
        tokens = [id for id in range(12) if id not in (sos_id, eos_id, pad_id)]

        def sentence(tokens: list[int] = tokens) -> list[int]:
            return [draw.choice(tokens) for _ in range(draw.randint(1, 9))]

        size = draw.randint(2, 4)
        pairs = [(sentence(), sentence()) for _ in range(3 * size + 1)]
        ids = {"sos_id": sos_id, "eos_id": eos_id, "pad_id": pad_id}
        cases.append(Case("", {"pairs": pairs, "size": size, **ids}))
    return cases


BATCHES = Exercise(
    "batches",
    "batches.py",
    batches,
    _batches_cases,
    (
        KnownMistake({"side": "start"}, "The padding stands at the start; it belongs at the end."),
        KnownMistake(
            {"longest": "corpus"},
            "Every batch is padded to the longest sentence of all; pad to the longest of the batch, or most of the "
            "work is spent on padding.",
        ),
        KnownMistake(
            {"longest": "both sides"}, "Source and target are padded to one length; each side has a length of its own."
        ),
        KnownMistake({"cut": True}, "The sentences are cut to the shortest of the batch; pad them to the longest."),
        KnownMistake({"last": False}, "The last batch is dropped; it is smaller, but its pairs count."),
        KnownMistake({"order": "given"}, "The pairs are not sorted by the length of their source."),
        KnownMistake({"order": "longest first"}, "The longest pairs come first; sort from short to long."),
        KnownMistake({"order": "target"}, "The pairs are sorted by the target's length; it is the source's."),
        KnownMistake({"source_end": False}, "The source lacks its eos_id, by which the encoder knows where it ends."),
        KnownMistake({"source_start": True}, "The source begins with sos_id; only the target does, for the decoder."),
        KnownMistake({"target_start": False}, "The target lacks its sos_id, which the decoder reads first."),
        KnownMistake({"target_end": False}, "The target lacks its eos_id: the model would never learn to stop."),
        KnownMistake({"padded": "zero"}, "The padding is 0; it is `pad_id`, and here 0 is a token."),
    ),
    implementation="collate and bucket in transformer/batches.py",
    slips=(
        (
            "expected sequence of length|stack expects each tensor to be equal size",
            "The rows of a batch have different lengths: pad them to its longest before you make a tensor of them.",
        ),
    ),
    aliases=("make_batches", "get_batches", "collate", "collate_fn", "batchify"),
)


class Bigrams(nn.Module):
    """A small "model": the next token's logits from the last target token and the mean of the source."""

    def __init__(self, weights: dict[str, Tensor]):
        super().__init__()
        self.source, self.target, self.output = (nn.Parameter(weight.clone()) for weight in weights.values())

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mixed: Tensor = (self.target[target] + self.source[source].mean(1, keepdim=True)).tanh() @ self.output
        return mixed


class Descent:
    """The smallest optimizer, with the parts of PyTorch's that a training loop uses: it goes down the gradient."""

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float):
        self.param_groups: list[dict[str, Any]] = [{"params": list(parameters), "lr": lr}]

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.param_groups[0]["params"]:
            parameter.grad = None

    def step(self) -> None:
        with torch.no_grad():
            for parameter in self.param_groups[0]["params"]:
                if parameter.grad is not None:
                    parameter -= self.param_groups[0]["lr"] * parameter.grad


class Rate:
    """A learning rate that rises and falls."""

    def __init__(self, peak: float, warmup: int):
        self.peak, self.warmup = peak, warmup

    def __call__(self, step: int) -> float:
        return self.peak * min(step / self.warmup, self.warmup / max(step, 1))


def train(
    weights: dict[str, Tensor],
    batches: Pairs,
    first_rate: float,
    rate: Callable[[int], float],
    pad_id: int,
    clip: float,
    shifted: str = "by one",
    padding: str = "left out",
    zeroed: str = "each step",
    clipped: str = "norm",
    rates: str = "from 1",
    steps: bool = True,
    reduced: str = "mean",
) -> tuple[Tensor, Tensor]:
    """Return the loss of each step, and the weights after the last."""
    model = Bigrams(weights)
    parameters = list(model.parameters())
    optimizer = Descent(parameters, first_rate)
    losses = []
    for step, (source, target) in enumerate(batches, 1):
        if rates != "never":
            for group in optimizer.param_groups:
                group["lr"] = rate(step if rates == "from 1" else step - 1)
        reads, writes = {
            "by one": (target[:, :-1], target[:, 1:]),
            "not": (target, target),
            "both without the last": (target[:, :-1], target[:, :-1]),
            "both without the first": (target[:, 1:], target[:, 1:]),
            "exchanged": (target[:, 1:], target[:, :-1]),
        }[shifted]
        with torch.enable_grad():
            logits = model(source, reads).flatten(0, 1)
            ignored = {"zero": 0, "counted": -100}.get(padding, pad_id)
            loss = F.cross_entropy(logits, writes.flatten(), ignore_index=ignored, reduction=reduced)
        if zeroed == "each step":
            optimizer.zero_grad()
        loss.backward()
        if clipped == "norm":
            nn.utils.clip_grad_norm_(parameters, clip)
        elif clipped == "value":
            nn.utils.clip_grad_value_(parameters, clip)
        if steps:
            optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses), torch.cat([parameter.detach().flatten() for parameter in parameters])


def _train_cases(draw: Draw) -> list[Case]:
    V, width = draw.randint(8, 12), draw.randint(4, 6)
    pad_id = draw.randint(1, V - 1)
    tokens = [id for id in range(V) if id != pad_id]
    batched: Pairs = []
    for _ in range(4):
        B, S, T = draw.sizes(3, low=3)
        source = torch.tensor([[draw.choice(tokens) for _ in range(S)] for _ in range(B)])
        target = torch.tensor([[draw.choice(tokens) for _ in range(T)] for _ in range(B)])
        target[0, -2:], target[1, 1] = pad_id, 0
        batched.append((source, target))
    shapes = {"source": (V, width), "target": (V, width), "output": (width, V)}
    weights = {name: draw.normal(*shape) for name, shape in shapes.items()}
    inputs: dict[str, Any] = {"weights": weights, "batches": batched, "first_rate": 0.3}
    return [
        Case("", {**inputs, "rate": Rate(draw.uniform(0.5, 1.5), 3), "pad_id": pad_id, "clip": draw.uniform(0.1, 0.2)})
    ]


def _call_train(attempt: Any, inputs: dict[str, Any]) -> Any:
    weights, batched, first_rate, rate, pad_id, clip = inputs.values()
    model = Bigrams(weights).eval()
    optimizer = Descent(model.parameters(), first_rate)
    with torch.enable_grad():
        losses = in_torch(attempt(model, batched, optimizer, rate, pad_id, clip))
    listed = losses.tolist() if isinstance(losses, Tensor) else losses
    if listed is None:
        raise Unfit("Nothing is returned: return the list of the losses, a number for each batch.")
    if not isinstance(listed, (list, tuple)) or not all(_is_number(loss) for loss in listed):
        raise Unfit("Return the list of the losses, a number for each batch: `losses.append(loss.item())`.")
    if len(listed) != len(batched):
        raise Unfit(f"It returns {len(listed)} losses for {len(batched)} batches: there is one step for each batch.")
    return torch.tensor([float(loss) for loss in listed]), torch.cat([p.detach().flatten() for p in model.parameters()])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or isinstance(value, Tensor) and value.numel() == 1


TRAIN = Exercise(
    "train",
    "training_loop.py",
    train,
    _train_cases,
    (
        KnownMistake(
            {"shifted": "not"},
            "The target is not shifted: the model reads the very token that it should write, and learns to copy it. It "
            "reads all but the last, and writes all but the first.",
        ),
        KnownMistake(
            {"shifted": "both without the last"},
            "The target is not shifted: it reads and writes all but the last, and learns to copy; it should write all "
            "but the first.",
        ),
        KnownMistake(
            {"shifted": "both without the first"},
            "The target is not shifted: it reads and writes all but the first, and learns to copy; it should read all "
            "but the last.",
        ),
        KnownMistake(
            {"shifted": "exchanged"},
            "What is read and what is written have changed places: it reads all but the last, and writes all but the "
            "first.",
        ),
        KnownMistake({"padding": "counted"}, "Padding is counted in the loss: pass `ignore_index=pad_id`."),
        KnownMistake(
            {"padding": "zero"}, "0 is left out of the loss; it is a token here, and `pad_id` is the padding."
        ),
        KnownMistake(
            {"zeroed": "never"},
            "The gradients of earlier batches are still there, and add up: `optimizer.zero_grad()` before `backward`.",
        ),
        KnownMistake(
            {"steps": False},
            "The weights never change: `optimizer.step()` is missing, or `zero_grad` stands between `backward` and "
            "`step`.",
        ),
        KnownMistake(
            {"rates": "never"},
            "The learning rate does not reach the optimizer, which goes on with its own: write `group['lr'] = "
            "rate(step)` for each group of `optimizer.param_groups`.",
        ),
        KnownMistake({"rates": "from 0"}, "Steps count from 0; the first is 1, as in the paper's learning rate."),
        KnownMistake(
            {"clipped": "not"},
            "The gradients are not clipped, or after the step: `clip_grad_norm_(model.parameters(), clip)` between "
            "`backward` and `step`.",
        ),
        KnownMistake(
            {"clipped": "value"},
            "Each number of the gradients is clipped by itself, which turns their direction; clip the norm of all: "
            "`clip_grad_norm_`.",
        ),
        KnownMistake({"reduced": "sum"}, "The loss is the sum over the tokens; it should be their mean."),
    ),
    implementation="Trainer in transformer/training/loop.py",
    slips=(
        (
            "does not require grad",
            "The loss has lost its way back to the weights: call `backward` on what `cross_entropy` returns, before "
            "`.item()` or `.detach()`.",
        ),
        (
            r"Expected input batch_size|Expected target size",
            "`cross_entropy` wants the vocabulary in the second dimension: flatten logits to [B · T, V], and what "
            "should be written to [B · T].",
        ),
        (
            "backward through the graph a second time",
            "`backward` is called twice on one loss, or losses are added up as tensors: keep `loss.item()`.",
        ),
    ),
    aliases=("train_model", "training_loop", "train_epoch", "run_epoch", "fit"),
    call=_call_train,
)

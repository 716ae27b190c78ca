"""Exercises: an encoder layer and a decoder layer, with the norm after each sublayer as in the paper.

Their parts are given, so that only the way of the vectors through them is written.

Shapes: B sentences, S source tokens, T target tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from headlight.teaching.exercises.attention import multi_head, some_hidden
from headlight.teaching.exercises.exercise import Case, Exercise, KnownMistake, Unfit, random
from headlight.teaching.exercises.masks import look_ahead_mask

D_MODEL = 8


class Attention(nn.Module):
    """Two heads with random weights."""

    def __init__(self, seed: int):
        super().__init__()
        names = ("query", "key", "value", "output")
        self.weights = {f"{name}.weight": random(D_MODEL, D_MODEL, seed=seed + i) / 2 for i, name in enumerate(names)}
        self.weights |= {f"{name}.bias": random(D_MODEL, seed=seed + 4 + i) for i, name in enumerate(names)}

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
        return multi_head(D_MODEL, 2, self.weights, queries, keys, values, mask)


def _norm(seed: int) -> nn.LayerNorm:
    norm = nn.LayerNorm(D_MODEL).requires_grad_(False)
    norm.weight.add_(random(D_MODEL, seed=seed) / 2)
    norm.bias.add_(random(D_MODEL, seed=seed + 1) / 2)
    return norm


def _feed_forward(seed: int) -> nn.Module:
    inner, outer = random(D_MODEL, 16, seed=seed), random(16, D_MODEL, seed=seed + 1) / 4
    return _FeedForward(inner, outer)


class _FeedForward(nn.Module):
    def __init__(self, inner: Tensor, outer: Tensor):
        super().__init__()
        self.inner, self.outer = inner, outer

    def forward(self, x: Tensor) -> Tensor:
        return (x @ self.inner).relu() @ self.outer


def _around(x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor], way: str) -> Tensor:
    """A sublayer, the path around it, and its norm."""
    match way:
        case "pre":
            return x + sublayer(norm(x))
        case "no path":
            return norm(sublayer(x))
        case "no norm":
            return x + sublayer(x)
        case "norm inside":
            return x + norm(sublayer(x))
        case "left out":
            return x
    return norm(x + sublayer(x))


def encoder_layer(
    parts: dict[str, Any],
    x: Tensor,
    mask: Tensor,
    ways: str = "",
    attention: str = "",
    feed_forward: str = "",
    norms: str = "own",
    masked: bool = True,
) -> Tensor:
    """Self-attention, then the feed-forward network: [B, S, d_model]."""
    look, think = parts["attention"], parts["feed_forward"]
    first, second = parts["norm_1"], parts["norm_1" if norms == "first" else "norm_2"]
    x = _around(x, lambda h: look(h, h, h, mask if masked else None), first, attention or ways)
    return _around(x, think, second, feed_forward or ways)


def decoder_layer(
    parts: dict[str, Any],
    x: Tensor,
    memory: Tensor,
    target_mask: Tensor,
    source_mask: Tensor,
    ways: str = "",
    own: str = "",
    cross: str = "",
    feed_forward: str = "",
    order: str = "",
    reads: str = "memory",
    masks: str = "",
    attentions: str = "",
    norms: str = "own",
) -> Tensor:
    """Self-attention, cross-attention, then the feed-forward network: [B, T, d_model]."""
    if masks == "exchanged":
        target_mask, source_mask = source_mask, target_mask
    elif masks == "source twice":
        target_mask = source_mask
    elif masks == "target twice":
        source_mask = target_mask
    hiding = {"target": None if masks == "no target" else target_mask}
    hiding["source"] = None if masks == "no source" else source_mask
    look, ask = parts["self_attention"], parts["cross_attention"]
    if attentions == "same":
        ask = look
    names = ("norm_1",) * 3 if norms == "first" else ("norm_1", "norm_2", "norm_3")
    norm_1, norm_2, norm_3 = (parts[name] for name in names)

    def ask_memory(h: Tensor) -> Tensor:
        match reads:
            case "itself":
                return ask(h, h, h, hiding["source"])
            case "exchanged":
                return ask(memory, h, h, hiding["source"])
            case "keys":
                return ask(h, memory, h, hiding["source"])
        return ask(h, memory, memory, hiding["source"])

    if order == "cross first":
        x = _around(x, ask_memory, norm_2, cross or ways)
        x = _around(x, lambda h: look(h, h, h, hiding["target"]), norm_1, own or ways)
    else:
        x = _around(x, lambda h: look(h, h, h, hiding["target"]), norm_1, own or ways)
        x = _around(x, ask_memory, norm_2, cross or ways)
    return _around(x, parts["feed_forward"], norm_3, feed_forward or ways)


def _call(written: Any, inputs: dict[str, Any]) -> Any:
    parts, *read = inputs.values()
    if not (isinstance(written, type) and issubclass(written, nn.Module)):
        raise Unfit("It should be a class that derives from `nn.Module`.")
    return written(**parts).eval()(*read)


_FIT = (
    "size of tensor a|sizes? of tensors? must match|Sizes of tensors|invalid for input of size",
    "Some sizes do not fit: the sentence and the memory have different lengths. Each attention takes (queries, keys, "
    "values, mask), where keys and values are of one sentence, and the mask hides tokens of that sentence.",
)


def _ways(name: str, what: str, norm: str) -> tuple[KnownMistake, ...]:
    return (
        KnownMistake(
            {name: "no path"}, f"The residual connection around the {what} is missing: add x to what it gives."
        ),
        KnownMistake({name: "no norm"}, f"The norm after the {what} is missing: `self.{norm}`."),
        KnownMistake({name: "left out"}, f"The {what} is left out, or its result is dropped."),
    )


_PRE = KnownMistake(
    {"ways": "pre"},
    "The norm stands before each sublayer: that is pre-norm, which many later models use. The paper, and this "
    "exercise, norm after the sum: norm(x + sublayer(x)).",
)
_INSIDE = KnownMistake(
    {"ways": "norm inside"},
    "The sublayer is normed before the sum, x + norm(sublayer(x)); it is norm(x + sublayer(x)).",
)
_NO_PATHS = KnownMistake(
    {"ways": "no path"}, "The residual connections are missing: norm(x + sublayer(x)), not norm(sublayer(x))."
)
_NO_NORMS = KnownMistake({"ways": "no norm"}, "The norms are missing: norm(x + sublayer(x)).")
_ONE_NORM = KnownMistake({"norms": "first"}, "Every sublayer uses `self.norm_1`; each has a norm of its own.")


def _encoder_cases() -> list[Case]:
    parts = {"attention": Attention(60), "feed_forward": _feed_forward(70), "norm_1": _norm(72), "norm_2": _norm(74)}
    return [
        Case(about, {"parts": parts, "x": random(2, 5, D_MODEL, seed=76), "mask": mask})
        for about, mask in (("without a mask", None), ("with padding hidden", some_hidden(2, 1, 1, 5)))
    ]


ENCODER = Exercise(
    "EncoderLayer",
    "encoder_layer.py",
    encoder_layer,
    _encoder_cases,
    (
        _PRE,
        _NO_PATHS,
        _NO_NORMS,
        _INSIDE,
        *_ways("attention", "attention", "norm_1"),
        *_ways("feed_forward", "feed-forward network", "norm_2"),
        _ONE_NORM,
        KnownMistake({"masked": False}, "The mask does not reach the attention: pass it on."),
    ),
    slips=(_FIT,),
    call=_call,
)


def _decoder_cases() -> list[Case]:
    parts = {"self_attention": Attention(80), "cross_attention": Attention(90), "feed_forward": _feed_forward(100)}
    parts |= {f"norm_{i}": _norm(102 + 2 * i) for i in (1, 2, 3)}
    x, same, memory = random(2, 4, D_MODEL, seed=110), random(2, 4, D_MODEL, seed=111), random(2, 6, D_MODEL, seed=112)
    before = look_ahead_mask(4)[None, None]
    # Of equal lengths first: there exchanged sentences and masks give numbers, and can be told by them.
    return [
        Case(about, {"parts": parts, "x": x, "memory": read, "target_mask": before, "source_mask": mask})
        for about, read, mask in (
            ("where source and target are of one length", same, some_hidden(2, 1, 1, 4)),
            ("with a longer source", memory, some_hidden(2, 1, 1, 6)),
        )
    ]


DECODER = Exercise(
    "DecoderLayer",
    "decoder_layer.py",
    decoder_layer,
    _decoder_cases,
    (
        _PRE,
        _NO_PATHS,
        _NO_NORMS,
        _INSIDE,
        *_ways("own", "self-attention", "norm_1"),
        *_ways("cross", "cross-attention", "norm_2"),
        *_ways("feed_forward", "feed-forward network", "norm_3"),
        _ONE_NORM,
        KnownMistake(
            {"reads": "itself"}, "Cross-attention reads the target itself; its keys and values are the memory."
        ),
        KnownMistake(
            {"reads": "exchanged"},
            "Queries and memory have changed places in cross-attention: the target asks, so x is the queries, and the "
            "memory is keys and values.",
        ),
        KnownMistake({"reads": "keys"}, "Only the keys of cross-attention are the memory; the values are, too."),
        KnownMistake({"masks": "exchanged"}, "The masks have changed places: self-attention takes `target_mask`."),
        KnownMistake(
            {"masks": "source twice"}, "Self-attention gets `source_mask`; it reads the target, so `target_mask`."
        ),
        KnownMistake(
            {"masks": "target twice"}, "Cross-attention gets `target_mask`; it reads the source, so `source_mask`."
        ),
        KnownMistake(
            {"masks": "no target"}, "Self-attention gets no `target_mask`: it sees the tokens that it should predict."
        ),
        KnownMistake({"masks": "no source"}, "Cross-attention gets no `source_mask`: it looks at padding."),
        KnownMistake(
            {"order": "cross first"}, "Cross-attention comes before self-attention; it is the other way round."
        ),
        KnownMistake(
            {"attentions": "same"}, "Cross-attention goes through `self.self_attention`; it has weights of its own."
        ),
    ),
    slips=(_FIT,),
    call=_call,
)

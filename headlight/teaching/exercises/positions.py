"""Exercise: the sinusoidal positional encoding."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Exercise, KnownMistake


def positions(
    length: int,
    d_model: int,
    base: float = 10_000.0,
    exp: bool = True,
    layout: str = "interleaved",
    exponent: float = 1.0,
    start: int = 0,
) -> Tensor:
    """PE(p, 2i) = sin(p / base^(2i / d_model)), PE(p, 2i + 1) = cos(of the same): [length, d_model]."""
    power = -exponent * torch.arange(0, d_model, 2, dtype=torch.float64) / d_model * math.log(base)
    angle = torch.arange(start, start + length, dtype=torch.float64)[:, None] * (power.exp() if exp else power)
    sines, cosines = angle.sin(), angle.cos()
    if layout == "halves":
        return torch.cat([sines, cosines], -1).float()
    even, odd = {
        "overwritten": (cosines, torch.zeros_like(sines)),
        "sines": (sines, sines),
        "cosines first": (cosines, sines),
    }.get(layout, (sines, cosines))
    return torch.stack([even, odd], -1).flatten(-2).float()


POSITIONS = Exercise(
    "positions",
    "positions.py",
    positions,
    lambda: [Case("", {"length": length, "d_model": d_model}) for length, d_model in ((10, 8), (50, 16), (3, 32))],
    (
        KnownMistake(
            {"layout": "overwritten"},
            "The cosines overwrite the sines: both are written to the even columns, and the odd ones stay 0. Cosines "
            "go to `[:, 1::2]`.",
        ),
        KnownMistake(
            {"layout": "sines"}, "All columns are sines; the odd ones are cosines, which make a shift a rotation."
        ),
        KnownMistake({"layout": "cosines first"}, "Sine and cosine have changed places: sines in the even columns."),
        KnownMistake(
            {"layout": "halves"},
            "All sines come first, then all cosines. Some code does so, and a model can learn with it; the paper, and "
            "this exercise, interleave them: sine, cosine, sine, cosine.",
        ),
        KnownMistake({"base": 1000.0}, "The base is 1000; the paper's is 10000."),
        KnownMistake(
            {"exp": False},
            "The exponential is forgotten: `arange(0, d_model, 2) * -(log(10000) / d_model)` is the logarithm of the "
            "frequencies, and `exp` makes frequencies of it.",
        ),
        KnownMistake(
            {"base": 1000.0, "exp": False},
            "The base is 1000 rather than 10000, and the exponential is forgotten: `exp` of "
            "`arange(0, d_model, 2) * -(log(10000) / d_model)` gives the frequencies.",
        ),
        KnownMistake(
            {"exponent": 0.5},
            "The exponent is i / d_model; it is 2i / d_model, where 2i is the even column's own number.",
        ),
        KnownMistake(
            {"exponent": 2.0},
            "The exponent has the factor 2 twice: `arange(0, d_model, 2)` counts 0, 2, 4, ..., which is 2i already.",
        ),
        KnownMistake({"start": 1}, "Positions count from 1; the first token is at position 0, its sines are 0."),
    ),
)

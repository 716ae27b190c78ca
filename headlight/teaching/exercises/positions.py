"""Exercise: the sinusoidal positional encoding."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Draw, Exercise, KnownMistake


def positions(
    length: int,
    d_model: int,
    base: float = 10_000.0,
    exp: bool = True,
    layout: str = "interleaved",
    exponent: float = 1.0,
    start: int = 0,
    shape: str = "",
    sign: int = -1,
    computed: str = "exactly",
) -> Tensor:
    """Return PE(p, 2i) = sin(p / base^(2i / d_model)), PE(p, 2i + 1) = cos of the same angle: [length, d_model]."""
    dtype = torch.float64 if computed == "exactly" else torch.float32
    columns = torch.arange(0, d_model, 2, dtype=dtype)
    power = columns * (sign * exponent * math.log(base) / d_model)
    position = torch.arange(start, start + length, dtype=dtype)[:, None]
    frequencies = power.exp() if exp else power
    if computed == "as a power":
        frequencies = base ** (sign * exponent * columns / d_model)
    angle = position * frequencies
    sines, cosines = angle.sin(), angle.cos()
    if layout == "own frequencies":
        cosines = (position * (sign * exponent * math.log(base) * (columns + 1) / d_model).exp()).cos()
    even, odd = {
        "overwritten": (cosines, torch.zeros_like(sines)),
        "sines": (sines, sines),
        "cosines first": (cosines, sines),
    }.get(layout, (sines, cosines))
    table = torch.cat([even, odd], -1) if layout == "halves" else torch.stack([even, odd], -1).flatten(-2)
    return {"first": table[None], "middle": table[:, None]}.get(shape, table).float()


def _cases(draw: Draw) -> list[Case]:
    """Return cases, the first with few positions, for which single precision still resolves wrong frequencies."""
    sizes = [(draw.randint(2, 4), 2 * draw.randint(3, 5)), (draw.randint(8, 50), 2 * draw.randint(6, 9))]
    return [
        Case("", {"length": length, "d_model": d_model}) for length, d_model in (*sizes, (1, 2 * draw.randint(2, 8)))
    ]


POSITIONS = Exercise(
    "positions",
    "positions.py",
    positions,
    _cases,
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
        KnownMistake(
            {"sign": 1},
            "The sign of the exponent is wrong, so that the angles are multiplied with 10000^(2i / d_model): it is "
            "`exp(arange(0, d_model, 2) * -(log(10000) / d_model))`.",
        ),
        KnownMistake(
            {"layout": "own frequencies"},
            "Each column has a frequency of its own; a sine and the cosine beside it share one, 2i / d_model for both.",
        ),
        KnownMistake({"start": 1}, "Positions count from 1; the first token is at position 0, its sines are 0."),
        KnownMistake(
            {"shape": "first"},
            "The shape is [1, length, d_model]; return [length, d_model], without `unsqueeze(0)`: the batch's "
            "dimension comes where the table is added.",
        ),
        KnownMistake(
            {"shape": "middle"},
            "The shape is [length, 1, d_model], for batches whose first dimension is the position; here it is [length, "
            "d_model].",
        ),
    ),
    implementation="sinusoidal in transformer/positions.py",
    styles=({}, {"computed": "in single precision"}, {"computed": "as a power"}),  # for angles beyond 1,000
    aliases=("positional_encoding", "get_positional_encoding", "sinusoidal", "sinusoidal_encoding"),
)

"""Positional encodings: without them, attention sees a bag of words."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

At = int | Tensor  # the position of the first of consecutive tokens, or the position of each token [T]


def position_index(at: At, length: int) -> slice | Tensor:
    """Return the positions of `length` tokens as an index into a table's rows."""
    return at if isinstance(at, Tensor) else slice(at, at + length)


def sinusoidal(length: int, d_model: int, base: float = 10_000.0) -> Tensor:
    """Return the sinusoidal encoding of section 3.5, "Attention Is All You Need": [length, d_model].

    PE(p, 2i) = sin(p / base^(2i / d_model)) and PE(p, 2i + 1) = cos of the same angle; wavelengths run from 2π to
    base * 2π positions. Angles are computed in double precision: in single precision, one of thousands of radians has
    few digits left.
    """
    return sinusoidal_rows(torch.arange(length), d_model, base)


def sinusoidal_rows(positions: Tensor, d_model: int, base: float = 10_000.0) -> Tensor:
    """Return the rows of the sinusoidal table for arbitrary positions [N]: [N, d_model]."""
    position = positions.to(torch.float64)[:, None]
    frequency = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * frequency
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


def without_exp(length: int, d_model: int, base: float) -> Tensor:
    """Return the table of a tutorial that forgets the exp of exp(-2i / d_model · ln base), so angles grow with i."""
    angle = torch.arange(length)[:, None] * (torch.arange(0, d_model, 2) * (-math.log(base) / d_model))
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


class SinusoidalPositions(nn.Module):
    """A fixed table. It is recomputed from the configuration, so checkpoints do not store it."""

    table: Tensor

    def __init__(self, table: Tensor):
        super().__init__()
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor, at: At) -> Tensor:
        return x + self.table[position_index(at, x.size(1))]


class LearnedPositions(nn.Module):
    """A learned vector for each position below `max_length`."""

    def __init__(self, max_length: int, d_model: int):
        super().__init__()
        self.table = nn.Parameter(nn.init.normal_(torch.empty(max_length, d_model), std=0.02))

    def forward(self, x: Tensor, at: At) -> Tensor:
        return x + self.table[position_index(at, x.size(1))]


class StoredPositions(nn.Module):
    """A table that came with an imported model. It is used unchanged and not trained."""

    def __init__(self, max_length: int, d_model: int):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(max_length, d_model), requires_grad=False)

    def forward(self, x: Tensor, at: At) -> Tensor:
        return x + self.table[position_index(at, x.size(1))]


class NoPositions(nn.Module):
    """No positional encoding."""

    def forward(self, x: Tensor, at: At) -> Tensor:
        return x

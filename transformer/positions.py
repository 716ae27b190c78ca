"""Where a token stands: attention alone sees a bag of words."""

from __future__ import annotations

import torch
from torch import Tensor, nn

At = int | Tensor  # the place of the first token, those after it next to it; or [T], the place of each


def places(at: At, length: int) -> slice | Tensor:
    """Where `length` tokens stand, as an index of a table's rows."""
    return at if isinstance(at, Tensor) else slice(at, at + length)


def sinusoidal(length: int, d_model: int, base: float = 10_000.0) -> Tensor:
    """PE(p, 2i) = sin(p / base^(2i / d_model)), PE(p, 2i + 1) = cos(of the same): [length, d_model].

    Section 3.5 of "Attention Is All You Need"; wavelengths run from 2π to base * 2π positions. Computed in
    double precision, since an angle of thousands of radians has few digits left in single.
    """
    return sinusoidal_rows(torch.arange(length), d_model, base)


def sinusoidal_rows(positions: Tensor, d_model: int, base: float = 10_000.0) -> Tensor:
    """The rows of that table for positions [N], wherever they are, without those between: [N, d_model]."""
    position = positions.to(torch.float64)[:, None]
    frequency = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * frequency
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


class SinusoidalPositions(nn.Module):
    """The fixed table; it is rebuilt from the configuration, so a checkpoint does not carry it."""

    table: Tensor

    def __init__(self, max_length: int, d_model: int):
        super().__init__()
        self.register_buffer("table", sinusoidal(max_length, d_model), persistent=False)

    def forward(self, x: Tensor, at: At) -> Tensor:
        return x + self.table[places(at, x.size(1))]


class LearnedPositions(nn.Module):
    """One trained vector for each position up to `max_length`."""

    def __init__(self, max_length: int, d_model: int):
        super().__init__()
        self.table = nn.Parameter(nn.init.normal_(torch.empty(max_length, d_model), std=0.02))

    def forward(self, x: Tensor, at: At) -> Tensor:
        return x + self.table[places(at, x.size(1))]


class StoredPositions(nn.Module):
    """A table that an imported model brought with it, used as it stands; training leaves it alone."""

    def __init__(self, max_length: int, d_model: int):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(max_length, d_model), requires_grad=False)

    def forward(self, x: Tensor, at: At) -> Tensor:
        return x + self.table[places(at, x.size(1))]


class NoPositions(nn.Module):
    """Says nothing of order."""

    def forward(self, x: Tensor, at: At) -> Tensor:
        return x

"""What a state dict is made of, and how it differs from the nearest form that is known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """Tensors whose names differ in a layer's number only: "encoder.layers.*.self_attn.w_q.weight"."""

    name: str
    count: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Diagnosis:
    """A state dict that no form takes as it is."""

    families: tuple[Family, ...]
    guesses: tuple[tuple[str, str], ...]  # what the names and shapes suggest: ("Layers", "6 and 6"), ...
    nearest: str | None  # the form that is closest
    missing: tuple[str, ...]  # what that form has and this does not
    unexpected: tuple[str, ...]
    misshapen: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]  # name, found, due

"""How the next token is chosen, as a value that can key a cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from transformer.decoding import DecodeStep, beam, greedy, sample
from transformer.decoding.search import TapAt
from transformer.inference.prepared import Prepared

Name = Literal["greedy", "beam", "sampling"]


@dataclass(frozen=True)
class Strategy:
    """A way of decoding. What it doesn't use stands at the default, so that equal decodes are equal values."""

    name: Name
    size: int = 1
    penalty: float = 0.0
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0

    def steps(
        self, model: Prepared, src: Tensor, prefix: Sequence[int] = (), tap_at: TapAt | None = None
    ) -> Iterator[DecodeStep]:
        """The decode of `src` [1, S], recorded."""
        options: dict[str, Any] = {"prefix": list(prefix), "tap_at": tap_at, "record": True}
        if self.name == "greedy":
            return greedy(model, src, **options)
        if self.name == "beam":
            options |= {"length_penalty": self.penalty, "temperature": self.temperature}
            return beam(model, src, self.size, **options)
        return sample(model, src, **self.drawing, **options)

    @property
    def drawing(self) -> dict[str, Any]:
        """What sampling is asked for."""
        return {"temperature": self.temperature, "top_k": self.top_k, "top_p": self.top_p, "seed": self.seed}

    @property
    def normalises(self) -> bool:
        """Whether the score is anything else than the log-probability."""
        return self.name == "beam" and (self.penalty > 0 or self.temperature != 1)

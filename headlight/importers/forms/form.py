"""What a form is: what a model from elsewhere looks like, what it does not say, and how it becomes ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor

from headlight.importers.questions import Answers, ImportQuestion
from headlight.importers.source import Source
from transformer.config import ModelConfig
from transformer.tokenizers import Tokenizer


@dataclass(frozen=True)
class ForeignModel:
    """A foreign model as ours: the configuration, and how each native tensor is made of the foreign ones."""

    config: ModelConfig
    tensors: Mapping[str, Callable[[], Tensor]]  # by native parameter name, computed one at a time
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    card: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class Form(Protocol):
    """One way of saving an encoder-decoder transformer."""

    @property
    def name(self) -> str:  # "Building a transformer from the ground up", "Hugging Face Marian"
        ...

    @property
    def title(self) -> str:  # "This is the model of “Building a transformer from the ground up”"
        ...

    def fits(self, source: Source) -> bool:
        """Return whether the names, and where there is one the configuration, are those of this form."""
        ...

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        """Return the tensors that this form has at the source's depth and widths, for the doctor."""
        ...

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]: ...

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]: ...

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        """Everything the file does not say, answered or not."""
        ...

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        """Raise Refused for an answer that cannot be."""
        ...

"""The interface of a format: how it is recognised, what it leaves open, and how it is converted."""

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
    """A format in which encoder-decoder transformers are saved."""

    @property
    def name(self) -> str:
        """The name of the format, such as "Hugging Face Marian"."""
        ...

    @property
    def title(self) -> str:
        """The format in a sentence, such as "This is the model of “Building a transformer from the ground up”"."""
        ...

    def fits(self, source: Source) -> bool:
        """Return whether the tensor names, and the configuration if there is one, are of this format."""
        ...

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        """Return the tensors of this format at the source's depth and widths, for the doctor."""
        ...

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        """Return what the file says of the model, as pairs of a label and a text."""
        ...

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        """Return what has to be converted for our network to compute the same, as pairs of a part and how."""
        return ()

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        """Return every question that the file leaves open, answered or not."""
        return ()

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        """Return the model, converted as the answers say. Raises Refused for an answer that cannot be."""
        ...

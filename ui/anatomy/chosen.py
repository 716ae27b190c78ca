"""The part, head and token that an Anatomy view selects in the open model and sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headlight.analysis.network import NetworkPart
from headlight.analysis.sites import attention_at, site_of
from transformer import Trace, Translator
from transformer.attention import MultiHeadAttention
from transformer.config import ModelConfig
from transformer.taps import Site
from transformer.trace import Kind, Tokens
from ui.anatomy.view import AnatomyView
from ui.state.models import translator


@dataclass(frozen=True)
class ChosenPart:
    """A part of a model, a head of it where it is an attention, and the token of a trace that goes through it.

    All count from 0.
    """

    name: str  # of the model
    trace: Trace
    index: int  # of the part among the network's
    part: NetworkPart
    head: int
    query: int

    @property
    def stack(self) -> str:
        return stack_of(self.part.kind)

    @property
    def site(self) -> Site:
        """The site of the chosen attention."""
        assert self.part.layer is not None
        return site_of(self.part.kind, self.part.layer)

    @property
    def model(self) -> Translator:
        return translator(self.name)

    @property
    def config(self) -> ModelConfig:
        return self.model.model.config

    @property
    def attention(self) -> MultiHeadAttention:
        return attention_at(self.model.model, self.site)

    @property
    def tokens(self) -> Tokens:
        """The tokens of the stack that the part is in."""
        return tokens(self.trace, self.stack)


def stack_of(kind: Kind) -> str:
    return "encoder" if kind == "encoder" else "decoder"


def tokens(trace: Trace, stack: str) -> Tokens:
    """Return the tokens in a stack's residual stream; the decoder's last token is written and never read."""
    return trace.source if stack == "encoder" else trace.reads


def choose(view: AnatomyView, name: str, trace: Trace, parts: list[NetworkPart]) -> ChosenPart:
    """Return the view's part, head and token where they exist in this model, else the page's defaults."""
    index = _index(view, parts)
    part = parts[index]
    count = len(tokens(trace, stack_of(part.kind)))
    query = view.query - 1 if view.query and view.query <= count else count // 2
    if part.name != "attention" or part.layer is None:
        return ChosenPart(name, trace, index, part, 0, query)
    patterns = trace.pattern(part.kind)[part.layer]
    is_present = view.head and view.head <= len(patterns) and patterns[view.head - 1].any()
    head = view.head - 1 if view.head and is_present else _sharpest_head(trace, part.kind, patterns, query)
    return ChosenPart(name, trace, index, part, head, query)


def _index(view: AnatomyView, parts: list[NetworkPart]) -> int:
    attention = view.part in ("attention", "attention-norm")
    kind = view.kind if attention else "decoder" if view.part == "output" else stack_of(view.kind)
    indices = [i for i, part in enumerate(parts) if part.name == view.part and part.kind == kind]
    if not indices:  # a model without norms at the ends of its stacks
        indices = [i for i, part in enumerate(parts) if part.name == "attention" and part.kind == view.kind]
    return indices[view.layer - 1] if view.layer and view.layer <= len(indices) else indices[0]


def _sharpest_head(trace: Trace, kind: Kind, patterns: np.ndarray, query: int) -> int:
    """Return the head, of [H, Q, K], that looks most at one other word."""
    weights = patterns[:, query].copy()
    weights[:, trace.column_tokens(kind).special] = 0
    if kind != "cross":
        weights[:, query] = 0
    return int(weights.max(-1).argmax())

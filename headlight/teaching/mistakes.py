"""Mistakes that tutorials make, each as a switch: the equation before and after, and the model at hand run with it.

    broken = break_translator(translator, "no-scaling")      # shares the weights; the one at hand stays as it is
    trace = broken.trace("The cat sat on the mat.")
    translation = broken.translate("The cat sat on the mat.")

A mistake is a change of the configuration where that can say it; else it is a tap, which gives attention the pattern of
the wrong equation. Those that training can make are trained by `python -m headlight train --break NAME`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.config import ModelConfig
from transformer.decoding import Decoding
from transformer.model import Transformer
from transformer.positions import NoPositions
from transformer.quoting import quoted
from transformer.taps import Inputs, Site, Tap, WholePass, chain
from transformer.trace import Trace
from transformer.translator import Translation, Translator

M = TypeVar("M", bound=nn.Module)

# ---- wrong equations, as taps --------------------------------------------------------------------------------------


def _scores(inputs: Inputs, scale: float = 1.0) -> Tensor:
    return (inputs.q @ inputs.k.mT).float() * scale


@dataclass(frozen=True)
class NoScaling:
    """Attention as softmax(q kᵀ), without the division by √d_head."""

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        return _scores(inputs).masked_fill(~inputs.mask, -torch.inf).softmax(-1)


@dataclass(frozen=True)
class InvertedPaddingMask:
    """An inverted padding mask: the words of the source are hidden and its padding is visible.

    Where every key is hidden, all keys get the same weight.
    """

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if (site.stack, site.kind) == ("decoder", "self"):
            return pattern
        scores = _scores(inputs, inputs.q.size(-1) ** -0.5)
        return scores.masked_fill(inputs.mask, -1e9).softmax(-1)  # as tutorials write it: -∞ would be no number


@dataclass(frozen=True)
class SoftmaxOverQueries(WholePass):
    """The softmax down the columns: the weights of each key, not of each query, sum to 1."""

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        scores = _scores(inputs, inputs.q.size(-1) ** -0.5).masked_fill(~inputs.mask, -torch.inf)
        return scores.softmax(-2).nan_to_num(0.0)  # a key that no query may see has no weights


# ---- the mistakes --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mistake:
    """A mistake in an implementation. `right` and `wrong` are LaTeX."""

    name: str  # "no-causal-mask"
    title: str  # "The causal mask is never applied"
    right: str
    wrong: str
    look_at: str  # what to look at, in a sentence or two
    kind: Literal["encoder", "decoder"] | None = None  # the attention in which it shows; None is any
    changes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # of ModelConfig
    tap: Tap | None = None
    shifted: bool = True  # in training, what is read stands one place before what is written
    trains: bool = False

    @property
    def runs(self) -> bool:
        """Whether it can be made in a model at hand, not in training alone."""
        return bool(self.changes) or self.tap is not None


_SCORES = r"\frac{Q K^\top}{\sqrt{d_k}}"
_MASKED = rf"\text{{softmax}}\!\left({_SCORES} + M\right) V, \quad M_{{ij}} = -\infty \text{{ where }} j > i"
_PLAIN = rf"\text{{softmax}}\!\left({_SCORES}\right) V"


def _never(*masks: str) -> Mapping[str, Any]:
    return MappingProxyType(dict.fromkeys(masks, "never"))


MISTAKES: dict[str, Mistake] = {
    mistake.name: mistake
    for mistake in (
        Mistake(
            "no-causal-mask",
            "The causal mask is never applied",
            _MASKED,
            _PLAIN,
            "Decoder self-attention above the diagonal: each row has weight on words that are still to be written. In "
            "training the loss falls towards 0, since the next word can be copied; in use it is not there to copy.",
            "decoder",
            _never("look_ahead_mask"),
            trains=True,
        ),
        Mistake(
            "mask-thrown-away",
            "The masks are applied and their result is thrown away",
            r"\texttt{scores = scores.masked\_fill(mask == 0, -inf)}",
            r"\texttt{scores.masked\_fill(mask == 0, -inf)}",
            "The same as without any mask, although the line stands there: masked_fill returns a new tensor, and only "
            "masked_fill_ changes its own. Decoder rows see later words, and batches see their padding.",
            "decoder",
            _never("padding_mask", "look_ahead_mask"),
            trains=True,
        ),
        Mistake(
            "no-scaling",
            "The scores are not divided by √d_head",
            _PLAIN,
            r"\text{softmax}\!\left(Q K^\top\right) V",
            "The largest weight of each row: the softmax is nearly all or nothing, so its gradient would be nearly 0.",
            tap=NoScaling(),
        ),
        Mistake(
            "no-positions",
            "No positions are added to the embeddings",
            r"x_t = \sqrt{d}\, E[\text{token}_t] + p_t",
            r"x_t = \sqrt{d}\, E[\text{token}_t]",
            "Two equal words have equal rows in the encoder, and a shuffled sentence has the same patterns, shuffled.",
            "encoder",
            MappingProxyType({"positions": "none"}),
            trains=True,
        ),
        Mistake(
            "padding-mask-inverted",
            "The padding mask of the source is inverted",
            r"M_j = -\infty \text{ where } \text{token}_j = \text{[PAD]}",
            r"M_j = -\infty \text{ where } \text{token}_j \ne \text{[PAD]}",
            "Encoder and cross-attention: every word is hidden alike, so that all weigh the same, and whatever is "
            "written hardly depends on the order of importance that the heads had learned.",
            "encoder",
            tap=InvertedPaddingMask(),
        ),
        Mistake(
            "softmax-over-queries",
            "The softmax is taken over the wrong axis",
            r"\alpha_{ij} = \frac{e^{s_{ij}}}{\sum_{j'} e^{s_{ij'}}}",
            r"\alpha_{ij} = \frac{e^{s_{ij}}}{\sum_{i'} e^{s_{i'j}}}",
            "The sums: columns sum to 1 and rows do not, so a query may get many times a value, or almost none.",
            tap=SoftmaxOverQueries(),
        ),
        Mistake(
            "target-not-shifted",
            "The target is not shifted",
            r"\text{reads } y_0 \dots y_{T-1}, \quad \text{writes } y_1 \dots y_T",
            r"\text{reads } y_1 \dots y_T, \quad \text{writes } y_1 \dots y_T",
            "The training loss against the validation loss, whose target is shifted: the model learns to say again the "
            "word that it reads, which is not the next one.",
            shifted=False,
            trains=True,
        ),
    )
}
TRAINABLE = tuple(name for name, mistake in MISTAKES.items() if mistake.trains)
RUNNABLE = tuple(name for name, mistake in MISTAKES.items() if mistake.runs)


def mistake(name: str, among: Sequence[str] = tuple(MISTAKES)) -> Mistake:
    """Return the mistake called `name`. Raises ValueError for a name that is not in `among`."""
    if name not in among:
        raise ValueError(f"There is no mistake {quoted(name)} here; choose one of {', '.join(among)}.")
    return MISTAKES[name]


# ---- a model at hand -----------------------------------------------------------------------------------------------


def break_model(model: Transformer, name: str) -> tuple[Transformer, Tap | None]:
    """Return the model with that mistake, its weights shared, and the tap that every pass of it needs.

    Raises ValueError for a mistake of training, and for a model that does not have what would be broken.
    """
    chosen = mistake(name, RUNNABLE)
    config = model.config
    if type(config) is not ModelConfig and (chosen.tap is not None or "positions" in chosen.changes):
        raise ValueError(
            "This model's positions are a bias on its scores, which are not scaled; choose a model of the paper's own "
            f"network to break it by {name}."
        )
    if chosen.changes and all(getattr(config, field) == value for field, value in chosen.changes.items()):
        raise ValueError(f"This model already has the mistake {name}; choose another model to break.")
    return _changed(model, chosen.changes), chosen.tap


def _changed(model: Transformer, changes: Mapping[str, Any]) -> Transformer:
    if not changes:
        return model
    changed = _copied(model)
    changed.config = replace(model.config, **changes)
    if changes.get("positions") == "none":
        changed.encoder, changed.decoder = _copied(model.encoder), _copied(model.decoder)
        for stack in (changed.encoder, changed.decoder):
            stack.embedding = _copied(stack.embedding)
            stack.embedding.positions = NoPositions()
    return changed


def _copied(module: M) -> M:
    """Return another module with the same parts, in which a part may be replaced."""
    copied = copy.copy(module)
    copied.__dict__["_modules"] = dict(module._modules)
    return copied


class BrokenTranslator(Translator):
    """A translator with a mistake, which is in all that it computes; its card and its traces say so.

    Whoever decodes with its `prepared` or runs its `model` gives the pass its `tap`, which may be None.
    """

    def __init__(self, checkpoint: Checkpoint, mistake: Mistake):
        model, self.tap = break_model(checkpoint.model, mistake.name)
        title = f"{checkpoint.card.get('title', 'A model')}, broken: {mistake.name}"
        card = {**checkpoint.card, "title": title, "broken": mistake.name}
        super().__init__(replace(checkpoint, model=model, card=card))
        self.mistake = mistake

    def _search(self, sources: list[list[int]], decoding: Decoding, options: dict[str, Any]) -> list[list[Translation]]:
        return super()._search(sources, decoding, {**options, "tap": chain(self.tap, options.get("tap"))})

    def log_probs(self, src_ids: ArrayLike | Tensor, tgt_ids: ArrayLike | Tensor, tap: Tap | None = None) -> Tensor:
        return super().log_probs(src_ids, tgt_ids, chain(self.tap, tap))

    def trace_ids(self, source: Sequence[int], target: Sequence[int], interventions: Sequence[Tap] = ()) -> Trace:
        trace = super().trace_ids(source, target, interventions)
        return replace(trace, interventions=[f"broken: {self.mistake.name}", *trace.interventions])


def break_translator(translator: Translator, name: str) -> BrokenTranslator:
    """Return the translator with that mistake. Raises ValueError as `break_model` does."""
    return BrokenTranslator(translator.checkpoint, mistake(name, RUNNABLE))

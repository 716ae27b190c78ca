"""Mistakes that tutorials make, and parts left out: each with its right and its wrong equation, applied to a model.

    broken = break_translator(translator, "no-scaling")      # shares the weights; `translator` stays as it is
    trace = broken.trace("The cat sat on the mat.")
    translation = broken.translate("The cat sat on the mat.")

A mistake is a change of the network, by its configuration where that can say it; else it is a tap, which gives
attention the pattern of the wrong equation. Those that training can make are trained by `python -m headlight train
--break NAME`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from headlight.language import gettext, translatable
from transformer.attention import Linear
from transformer.checkpoint import Checkpoint
from transformer.config import ModelConfig
from transformer.decoding import Decoding
from transformer.layers import ACTIVATIONS, FeedForward, Residual
from transformer.model import Embedding, Transformer
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
        return scores.masked_fill(inputs.mask, -1e9).softmax(-1)  # tutorials' value: -∞ would give NaN


@dataclass(frozen=True)
class SoftmaxOverQueries(WholePass):
    """The softmax down the columns: the weights of each key, not of each query, sum to 1."""

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        scores = _scores(inputs, inputs.q.size(-1) ** -0.5).masked_fill(~inputs.mask, -torch.inf)
        return scores.softmax(-2).nan_to_num(0.0)  # a key that no query may see has no weights


# ---- parts left out: each takes a copy of a module of the network, and returns what stands in its place -------------


def _no_positions(module: nn.Module) -> nn.Module:
    if isinstance(module, Embedding):
        module.positions = NoPositions()
    return module


def _no_residual(module: nn.Module) -> nn.Module:
    if isinstance(module, Residual):
        module.connected = False
    return module


def _no_norms(module: nn.Module) -> nn.Module:
    return nn.Identity() if isinstance(module, nn.LayerNorm) else module


def _no_feed_forward(module: nn.Module) -> nn.Module:
    """Make the feed-forward network return 0, so that the residual connection passes its input on."""
    if isinstance(module, FeedForward):
        outer = Linear(module.outer.in_features, module.outer.out_features, bias=False)
        module.outer = outer.to(module.outer.weight).requires_grad_(False)
        nn.init.zeros_(outer.weight)
    return module


def _no_activation(module: nn.Module) -> nn.Module:
    if isinstance(module, FeedForward):
        module.activation = ACTIVATIONS["none"]
    return module


def _no_embedding_scale(module: nn.Module) -> nn.Module:
    if isinstance(module, Embedding):
        module.scale = 1.0
    return module


# ---- the mistakes --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mistake:
    """A mistake in an implementation, or a part left out. `right` and `wrong` are LaTeX."""

    name: str  # "no-causal-mask"
    title: str  # "The causal mask is never applied"
    right: str
    wrong: str
    look_at: str  # what to look at, in a sentence or two
    kind: Literal["encoder", "decoder"] | None = None  # the attention in which it shows; None is any
    changes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # of ModelConfig
    part: Callable[[nn.Module], nn.Module] | None = None  # applied to a copy of each module of the network
    tap: Tap | None = None
    shifted: bool = True  # in training, the decoder's input is the target shifted by one
    trains: bool = False

    @property
    def runs(self) -> bool:
        """Whether a trained model can have the mistake; others exist only in training."""
        return bool(self.changes) or self.part is not None or self.tap is not None


_SCORES = r"\frac{Q K^\top}{\sqrt{d_k}}"
_MASKED_ATTENTION = rf"\text{{softmax}}\!\left({_SCORES} + M\right) V, \quad M_{{ij}} = -\infty \text{{ where }} j > i"
_UNMASKED_ATTENTION = rf"\text{{softmax}}\!\left({_SCORES}\right) V"


def _never(*masks: str) -> Mapping[str, Any]:
    return MappingProxyType(dict.fromkeys(masks, "never"))


MISTAKES: dict[str, Mistake] = {
    mistake.name: mistake
    for mistake in (
        Mistake(
            "no-causal-mask",
            translatable("The causal mask is never applied"),
            _MASKED_ATTENTION,
            _UNMASKED_ATTENTION,
            translatable(
                "Decoder self-attention above the diagonal: each row has weight on words that are still to be written. "
                "In training the loss falls towards 0, since the next word can be copied; in use it is not there to "
                "copy."
            ),
            "decoder",
            _never("look_ahead_mask"),
            trains=True,
        ),
        Mistake(
            "mask-thrown-away",
            translatable("The masks are applied and their result is thrown away"),
            r"\texttt{scores = scores.masked\_fill(mask == 0, -inf)}",
            r"\texttt{scores.masked\_fill(mask == 0, -inf)}",
            translatable(
                "The same as without any mask, although the line stands there: masked_fill returns a new tensor, and "
                "only masked_fill_ changes its own. Decoder rows see later words, and batches see their padding."
            ),
            "decoder",
            _never("padding_mask", "look_ahead_mask"),
            trains=True,
        ),
        Mistake(
            "no-scaling",
            translatable("The scores are not divided by √d_head"),
            _UNMASKED_ATTENTION,
            r"\text{softmax}\!\left(Q K^\top\right) V",
            translatable(
                "The largest weight of each row: the softmax is nearly all or nothing, so its gradient would be nearly "
                "0."
            ),
            tap=NoScaling(),
        ),
        Mistake(
            "no-positions",
            translatable("No positions are added to the embeddings"),
            r"x_t = \sqrt{d}\, E[\text{token}_t] + p_t",
            r"x_t = \sqrt{d}\, E[\text{token}_t]",
            translatable(
                "Two equal words have equal rows in the encoder, and a shuffled sentence has the same patterns, "
                "shuffled."
            ),
            "encoder",
            MappingProxyType({"positions": "none"}),
            _no_positions,
            trains=True,
        ),
        Mistake(
            "padding-mask-inverted",
            translatable("The padding mask of the source is inverted"),
            r"M_j = -\infty \text{ where } \text{token}_j = \text{[PAD]}",
            r"M_j = -\infty \text{ where } \text{token}_j \ne \text{[PAD]}",
            translatable(
                "Encoder and cross-attention: every word is hidden alike, so that all weigh the same, and whatever is "
                "written hardly depends on the order of importance that the heads had learned."
            ),
            "encoder",
            tap=InvertedPaddingMask(),
        ),
        Mistake(
            "softmax-over-queries",
            translatable("The softmax is taken over the wrong axis"),
            r"\alpha_{ij} = \frac{e^{s_{ij}}}{\sum_{j'} e^{s_{ij'}}}",
            r"\alpha_{ij} = \frac{e^{s_{ij}}}{\sum_{i'} e^{s_{i'j}}}",
            translatable(
                "The sums: columns sum to 1 and rows do not, so a query may get many times a value, or almost none."
            ),
            tap=SoftmaxOverQueries(),
        ),
        Mistake(
            "target-not-shifted",
            translatable("The target is not shifted"),
            r"\text{reads } y_0 \dots y_{T-1}, \quad \text{writes } y_1 \dots y_T",
            r"\text{reads } y_1 \dots y_T, \quad \text{writes } y_1 \dots y_T",
            translatable(
                "The training loss against the validation loss, whose target is shifted: the model learns to say again "
                "the word that it reads, which is not the next one."
            ),
            shifted=False,
            trains=True,
        ),
        Mistake(
            "no-residual",
            translatable("There are no residual connections"),
            r"x + \text{Sublayer}(x)",
            r"\text{Sublayer}(x)",
            translatable(
                "The size of the residual stream, and the translation: each sublayer replaces what it reads. A word "
                "and its position reach the next layer only as far as the heads happen to look at that word."
            ),
            changes=MappingProxyType({"residual": False}),
            part=_no_residual,
            trains=True,
        ),
        Mistake(
            "no-norms",
            translatable("There are no layer norms"),
            r"\text{Norm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
            r"\text{Norm}(x) = x",
            translatable(
                "The size of the residual stream: nothing brings it back to a fixed size, and each sublayer was "
                "trained to read vectors of that size."
            ),
            changes=MappingProxyType({"norm_form": "none", "final_norm": False, "embedding_norm": False}),
            part=_no_norms,
            trains=True,
        ),
        Mistake(
            "no-feed-forward",
            translatable("There are no feed-forward networks"),
            r"x + W_2\, f(W_1 x + b_1) + b_2",
            "x",
            translatable(
                "The translation: attention only moves vectors from token to token and mixes them. What is computed "
                "from each vector by itself is missing."
            ),
            part=_no_feed_forward,
        ),
        Mistake(
            "no-non-linearity",
            translatable("The feed-forward networks have no non-linearity"),
            r"W_2\, f(W_1 x + b_1) + b_2",
            r"W_2 (W_1 x + b_1) + b_2 = W x + b",
            translatable(
                "The size of the residual stream, and the translation: two linear layers without a function between "
                "them are one linear layer, and what the function set to 0, or nearly, now comes through."
            ),
            changes=MappingProxyType({"activation": "none"}),
            part=_no_activation,
            trains=True,
        ),
        Mistake(
            "no-embedding-scale",
            translatable("The embeddings are not multiplied by √d_model"),
            r"x_t = \sqrt{d}\, E[\text{token}_t] + p_t",
            r"x_t = E[\text{token}_t] + p_t",
            translatable(
                "The first layer of the encoder: words are √d_model times smaller beside their positions, so heads see "
                "where a word stands better than which word it is."
            ),
            "encoder",
            MappingProxyType({"scale_embeddings": False}),
            _no_embedding_scale,
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


# ---- applied to a model ---------------------------------------------------------------------------------------------


def break_model(model: Transformer, name: str) -> tuple[Transformer, Tap | None]:
    """Return the model with that mistake, its weights shared, and the tap that every pass of it needs.

    Raises ValueError for a mistake of training, and for a model that does not have what would be broken.
    """
    chosen = mistake(name, RUNNABLE)
    config = model.config
    if type(config) is not ModelConfig and (chosen.tap is not None or chosen.part is not None):
        raise ValueError(
            gettext(
                "This model's positions are a bias on its scores, which are not scaled; choose a model of the paper's "
                "own network to break it by {name}.",
                name=name,
            )
        )
    if chosen.changes and all(getattr(config, field) == value for field, value in chosen.changes.items()):
        raise ValueError(
            gettext("This model already has the mistake {name}; choose another model to break.", name=name)
        )
    broken = model if chosen.part is None else _rebuilt(model, chosen.part)
    if chosen.changes:
        broken = copy.copy(broken)
        broken.config = replace(config, **chosen.changes)
    return broken, chosen.tap


def _rebuilt(module: M, part: Callable[[nn.Module], nn.Module]) -> M:
    """Return another module with the same weights, in which `part` was applied to each module inside."""
    copied = copy.copy(module)
    submodules = module._modules.items()
    copied.__dict__["_modules"] = {name: inner and part(_rebuilt(inner, part)) for name, inner in submodules}
    return copied


class BrokenTranslator(Translator):
    """A translator with a mistake in everything that it computes; its card and its traces name the mistake.

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

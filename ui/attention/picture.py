"""The picture for a trace and a view: which cells, under which labels, and how the numbers were transformed.

L layers, H heads, Q queries (rows), K keys (columns).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from headlight.analysis import Check, max_heads, mean_heads, rollout, rollout_source, value_weighted_patterns
from headlight.analysis.head_changes import HeadChange
from headlight.analysis.layout import Layout, lay_out, measures, narrowest
from headlight.analysis.measures import HeadValues
from headlight.analysis.sites import pruned_heads
from headlight.language import gettext, translatable, within
from transformer import Trace, Translator
from transformer.taps import Intervention, Tap, chain
from transformer.trace import Kind
from ui.attention.view import AttentionView
from ui.state import models
from ui.state.queue import TURNS
from ui.viewer import Kinds

SHOWS = {
    "raw": translatable("Raw weights"),
    "value": translatable("Weights × values"),
    "mean": translatable("Mean of the heads"),
    "max": translatable("Largest of the heads"),
    "rollout": translatable("Rollout"),
    "difference": translatable("Difference"),
}
SHOW_HELP = {
    "raw": "",
    "value": translatable(
        "Each weight times the length of its value vector after the output projection "
        "(Kobayashi et al. 2020). Lengths, not shares: rows don't sum to 1."
    ),
    "mean": translatable(
        "The mean over the layer's heads, a head that is off counting as 0: an average; no single head need look like "
        "it."
    ),
    "max": translatable("The largest weight that any head of the layer gives. Rows sum to 1 or more."),
    "rollout": translatable(
        "Attention multiplied through all layers up to this one, half of each layer being the residual "
        "connection (Abnar and Zuidema 2020). In cross-attention, the rest of a row's weight, up to 1, comes from the "
        "target's own earlier tokens."
    ),
    "difference": translatable(
        "Weights with your changes minus weights without, both force-decoding the original translation."
    ),
}


@dataclass(frozen=True)
class ShownTrace:
    """The traces of one sentence: where heads are changed, without and with the changes."""

    name: str  # of the model
    version: tuple[int, ...]  # of its files
    model: Translator
    trace: Trace  # with the changes
    plain: Trace  # without
    forced: Trace | None  # the original translation, force-decoded with the changes
    changes: tuple[HeadChange, ...]
    target: str | None  # what somebody typed for a translation
    packed: dict[tuple[bool, bool, str], Kinds] = field(default_factory=dict)  # by words, special tokens hidden, scale
    layouts: dict[tuple[Kind, bool, bool], tuple[Layout, HeadValues]] = field(default_factory=dict)  # by kind and these

    @cached_property
    def checks(self) -> list[Check]:
        """Return the checks of the trace.

        They are computed where they are shown, since the model reads both sentences twice more for them.
        """
        return models.checks(self.name, self.trace.text, self.target, self.taps, self.version)

    @property
    def taps(self) -> tuple[Intervention, ...]:
        """Return the changes of heads as taps of a pass."""
        return _taps(self.changes)

    @property
    def tap(self) -> Tap | None:
        """All interventions of a pass as one tap: the changes of heads, and the model's mistake if that is a tap."""
        return chain(*models.own_taps(self.model), *self.taps)

    def pruned(self, kind: Kind) -> set[tuple[int, int]]:
        """Return (layer, head) from 0 of the heads of a kind that the model lacks."""
        return pruned_heads(self.model.model.config, kind)

    def without_weights(self, kind: Kind, layer: int, head: int) -> str:
        """Return why a head has no weights, in a word; "" where it has."""
        if (layer, head) in self.pruned(kind):
            return gettext("pruned")
        return "" if self.trace.pattern(kind)[layer, head].any() else gettext("off")

    def measured(self, kind: Kind, words: bool, hide: bool) -> tuple[Layout, HeadValues]:
        """Return the layout of a kind's tokens, and the measures of its heads.

        They are computed once for all the heads to choose.
        """
        how = kind, words, hide
        if how not in self.layouts:
            layout = lay_out(self.trace, kind, words, hide)
            self.layouts[how] = layout, measures(self.trace, layout)
        return self.layouts[how]


def shown_trace(name: str, text: str, view: AttentionView) -> ShownTrace:
    """Return the traces of a sentence in the model of that name, with and without the heads that are changed."""
    model, version = models.translator(name), models.version(name)
    changes = tuple(change for change in view.changes if change.exists_in(model.model.config))
    taps = _taps(changes)
    # A trace that has yet to be made comes with its checks, in one turn: nobody gets in line twice.
    if TURNS.busy and not models.has_trace(name, text, view.target, taps):
        models.checks(name, text, view.target, taps)
    plain = models.trace(name, text, view.target)
    if not taps:
        return ShownTrace(name, version, model, plain, plain, None, (), view.target)
    changed = models.trace(name, text, view.target, taps)
    forced = models.forced_trace(name, plain.source.ids, plain.target.ids, taps)
    return ShownTrace(name, version, model, changed, plain, forced, changes, view.target)


def _taps(changes: tuple[HeadChange, ...]) -> tuple[Intervention, ...]:
    return tuple(change.tap() for change in changes)


def combined(trace: Trace, kind: str, show: str) -> np.ndarray:
    """Return the layers of a kind as one picture each, [L, tokens, tokens], by "mean", "max" or "rollout"."""
    patterns = trace.pattern(kind)
    if show == "mean":
        return mean_heads(patterns)
    if show == "max":
        return max_heads(patterns)
    assert show == "rollout"
    if kind == "cross":
        return rollout_source(trace.pattern("encoder"), trace.pattern("decoder"), patterns).source
    return rollout(patterns)


@dataclass(frozen=True)
class Panel:
    """The picture of the chosen head."""

    layout: Layout
    layer: int  # from 0
    head: int  # from 0
    show: str
    cells: np.ndarray  # [Q, K]
    name: str  # what a cell holds
    limit: float  # where the scale ends
    hidden: float  # the share of the picture's weight that lies on columns that are left out
    off: str = ""  # "off" or "pruned" where it has no weights

    @property
    def title(self) -> str:
        if self.show in ("mean", "max", "rollout"):
            return gettext("Layer {layer}", layer=self.layer + 1)
        return gettext("Layer {layer}, head {head}", layer=self.layer + 1, head=self.head + 1)

    @property
    def note(self) -> str:
        """The note next to the title: what is shown in place of the head's weights, and why; "" otherwise."""
        return ", ".join([within(gettext(SHOWS[self.show]))] * (self.show != "raw") + [self.off] * bool(self.off))

    @property
    def signed(self) -> bool:
        return self.show == "difference"


def chosen_head(traces: ShownTrace, view: AttentionView) -> tuple[int, int]:
    """Return (layer, head) from 0: the view's where this model has it, else the head with the narrowest attention."""

    def narrowest_head() -> tuple[int, int]:
        layout, values = traces.measured(view.kind, words=False, hide=False)
        return narrowest(values, layout.masked_whole)

    layers, heads = traces.trace.pattern(view.kind).shape[:2]
    return view.head_within(layers, heads, narrowest_head)


def panel(traces: ShownTrace, view: AttentionView, layout: Layout) -> Panel:
    """Return the picture of the chosen head, or of the heads of its layer together, as the view says."""
    layer, head = chosen_head(traces, view)
    weights, name, limit = traces.trace.pattern(view.kind)[layer, head], gettext("weight"), 1.0
    show = view.show
    if show == "difference" and traces.forced is not None:
        weights = traces.forced.pattern(view.kind)[layer, head] - traces.plain.pattern(view.kind)[layer, head]
        limit = float(np.abs(weights).max()) or 1.0
        # Rows and columns are those of the translation that both wrote.
        layout = lay_out(traces.plain, view.kind, view.words, view.hide)
    elif show == "value":
        source, target = traces.trace.source.ids, traces.trace.target.ids
        with TURNS.turn():
            moved = value_weighted_patterns(traces.model.model, source, target, traces.tap)[view.kind][layer]
        weights, name, limit = moved[head], gettext("length"), float(moved.max()) or 1.0
    elif show in ("mean", "max", "rollout"):
        weights = combined(traces.trace, view.kind, show)[layer]
    else:
        show = "raw"
        limit = max(1.0, float(weights.max()))  # a head that was scaled up goes beyond 1
    cells = layout.apply(weights)
    off = traces.without_weights(view.kind, layer, head) if show in ("raw", "value") else ""
    return Panel(layout, layer, head, show, cells, name, limit, layout.share_hidden(np.abs(weights)), off)

"""The written tokens to choose from, with how much of each came from the source."""

from __future__ import annotations

from headlight.analysis.why import ALTI
from transformer import Trace, Translator
from ui.state.view import update
from ui.why.components import scrubber
from ui.why.passes import measured_of
from ui.why.view import WhyView


def chosen(view: WhyView, trace: Trace, first: int) -> int:
    """The step that is shown, from 0; `first` where the view leaves it open."""
    return min(first if view.step is None else view.step - 1, len(trace.writes) - 1)


def section(name: str, model: Translator, trace: Trace, step: int) -> None:
    shares = measured_of(name, trace).by_measure[ALTI].source.sum(-1)
    source, target = languages(model)
    scrubber(
        trace.writes.labels,
        shares.clip(0, 1).tolist(),
        step,
        (source, f"{target} so far"),
        key="why-scrubber",
        on_step=lambda to: update(step=to + 1, instead=None),
    )


def languages(model: Translator) -> tuple[str, str]:
    """What the two sides are called: their languages, where the card says them and they differ."""
    source, target = str(model.card.get("source", "")), str(model.card.get("target", ""))
    return (source, target) if source and target and source != target else ("source", "target")

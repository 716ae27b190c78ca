"""Names and explanations of the measures on the page."""

from __future__ import annotations

from dataclasses import replace

from headlight.analysis.atlas import Atlas
from headlight.analysis.atlas.roles import named
from headlight.analysis.measures import MEASURES, Measure
from headlight.formatting import minus, percent
from transformer.trace import Kind


def present(atlas: Atlas, *kinds: Kind) -> list[Measure]:
    """Return the measures of these kinds of attention, worded for the units by which this corpus is aligned.

    Measures that use gold data or extra forward passes say more than those of the weights alone, and come first.
    """
    return [
        replace(measure, meaning=named(measure.meaning, atlas.units))
        for measure in sorted(MEASURES.values(), key=lambda measure: measure.of_weights)
        if any(measure.name in atlas.heads[kind] for kind in kinds)
    ]


def value_text(measure: Measure, value: float) -> str:
    return percent(value) if measure.unit == "share" else minus(f"{value:z.{measure.digits}f}")


def head_name(kind: str, layer: int, head: int) -> str:
    """Return layer and head, which are from 0, as people count them."""
    return f"{kind.capitalize()}, layer {layer + 1}, head {head + 1}"

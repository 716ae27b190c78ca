"""Messages to the picture: each measure of every head of one kind, for the model as it is and at each snapshot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from headlight.analysis.atlas import Atlas, MeasureSpread
from headlight.analysis.atlas.report import History
from headlight.analysis.atlas.roles import named, roles
from headlight.analysis.measures import MEASURES, Measure
from headlight.formatting import minus, percent
from transformer.trace import Kind

NOTE = "Rows are layers, columns heads; a dot marks a head that is named after the measure. Click to open one."


def header(atlas: Atlas, history: History, kind: Kind, selected: tuple[int, int], **chosen: Any) -> dict[str, Any]:
    """Return the message; `chosen` are the `measure` and the `step` that the view has."""
    moments: list[tuple[int | None, Atlas]] = [*history, (None, atlas)]
    n_layers, n_heads = atlas.heads[kind]["entropy"].mean.shape
    heads_by_role = [_heads_by_role(moment, kind, n_layers, n_heads) for _, moment in moments]
    return {
        "kind": kind,
        "layers": n_layers,
        "heads": n_heads,
        "selected": list(selected),
        "steps": [step for step, _ in moments],
        "note": NOTE,
        "measures": [
            {
                "name": measure.name,
                "label": measure.label,
                "meaning": measure.meaning,
                **_scale(measure, moments, kind),
                "values": [_numbers(moment.heads[kind].get(measure.name)) for _, moment in moments],
                "texts": [_texts(measure, moment.heads[kind].get(measure.name)) for _, moment in moments],
                "named": [of.get(measure.name, []) for of in heads_by_role],
            }
            for measure in present(atlas, kind)
        ],
        **chosen,
    }


def _heads_by_role(atlas: Atlas, kind: Kind, n_layers: int, n_heads: int) -> dict[str, list[list[int]]]:
    """Return the heads that are named after each measure."""
    by_measure: dict[str, list[list[int]]] = {}
    for layer in range(n_layers):
        for head in range(n_heads):
            for role in roles(atlas, kind, layer, head):
                by_measure.setdefault(role.kind.measure, []).append([layer, head])
    return by_measure


def _scale(measure: Measure, moments: list[tuple[int | None, Atlas]], kind: Kind) -> dict[str, Any]:
    """Return the scale: shares from 0 to 1, correlations from -1 to 1, the rest from 0 to the largest that is shown.

    A scale of nats is symmetric around 0, since they are negative where a head does harm.
    """
    least, limit = measure.range
    if least is not None and limit is not None:
        text = "" if measure.unit == "share" else minus(f"{least:g} to {limit:g}")
        return {"least": least, "most": limit, "signed": least < 0, "range": text}
    means = [moment.heads[kind][measure.name].mean for _, moment in moments if measure.name in moment.heads[kind]]
    largest = max([float(np.nanmax(np.abs(mean))) for mean in means if not np.isnan(mean).all()], default=0.0) or 1.0
    if least is None:
        return {"least": -largest, "most": largest, "signed": True, "range": f"± {largest:.2g}"}
    unit = f" {measure.unit}" if largest >= 0.1 else ""  # smaller numbers have more digits, which leave it no room
    return {"least": least, "most": largest, "signed": False, "range": f"to {largest:.2g}{unit}"}


def _numbers(spread: MeasureSpread | None) -> list[list[float | None]] | None:
    if spread is None:
        return None
    return [[None if np.isnan(value) else round(value, 4) for value in row] for row in spread.mean.tolist()]


def _texts(measure: Measure, spread: MeasureSpread | None) -> list[list[str]] | None:
    """Return each head's number with its spread."""
    if spread is None:
        return None
    unit = "" if measure.unit in ("share", "correlation") else f" {measure.unit}"
    rows = zip(spread.mean.tolist(), spread.deviation.tolist(), strict=True)
    return [
        [
            "has no value" if np.isnan(mean) else f"{value_text(measure, mean)} ± {value_text(measure, spread)}{unit}"
            for mean, spread in zip(means, deviations, strict=True)
        ]
        for means, deviations in rows
    ]


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
    """Return a head's name on screen, such as "Cross, layer 1, head 2"; `layer` and `head` count from 0."""
    return f"{kind.capitalize()}, layer {layer + 1}, head {head + 1}"

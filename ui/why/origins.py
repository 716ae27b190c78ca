"""Origin of the chosen token: its contributions, with attention and the cost of leaving out each source token."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from headlight.analysis.why import ALTI, INTEGRATED, Agreement, MeasuredOrigins, agreements, with_integrated
from headlight.charts.document import Drawing
from headlight.charts.why import BarGroup, MapScale, bars, maps, shares
from headlight.formatting import percent, signed
from headlight.glossary import explained, term
from transformer import Trace, Translator
from ui.state.view import bound, update
from ui.state.why_measured import why_measured
from ui.why.ablation import METHODS as ABLATION_METHODS
from ui.why.ablation import draw_ablation
from ui.why.components import TOLERANCE, Row, check, draw_picture, finite, head_grid, scrubber, table
from ui.why.downloads import COLUMN_PIXELS, Picture
from ui.why.passes import WrittenToken, head_contributions, integrated_steps, measured_origins
from ui.why.view import COMPARED_MEASURES, WhyView
from ui.widgets.controls import choose
from ui.widgets.disclosure import draw_when_open
from ui.widgets.text import literal

# Columns: the rank correlation with the absolute effect of leaving a token out, and with the signed effect.
SIZE_COLUMN, SIGNED_COLUMN = "By size", "Signed"
MAX_INTEGRATION_ERROR = 0.05  # share of the difference; Sundararajan et al. call the points enough within 5 %
MIN_BAR_SHARE = 0.08  # tokens with less than this share of the largest bar are grouped into one row


def draw_origins(token: WrittenToken) -> list[Picture]:
    """Draw the sentence, the picture, the check, the measures compared, and how it is measured."""
    view, step = token.view, token.step
    origins, measure = measured_origins(*token.forced), COMPARED_MEASURES[view.beside]
    integrated, drawn = None, origins
    if view.beside == "integrated":
        steps = integrated_steps(*token.forced)
        integrated, drawn = steps[step], with_integrated(origins, steps)
    st.subheader(f"Where “{literal(token.label)}” came from", anchor="where-it-came-from")
    st.markdown(sentence(origins, token))
    groups = groups_of(drawn, token, measure)

    def draw(theme: str, across: int, least: float = 0.0) -> Drawing:
        return shares(groups, (measure, "contribution"), theme, least=least, across=across)

    draw_picture(partial(draw, least=0.0 if view.every else MIN_BAR_SHARE), COLUMN_PIXELS, key="why-shares")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choose(view, "beside", "Beside the contributions", COMPARED_MEASURES, menu=True, width=220)
        st.toggle("Every token", view.every, **bound("every"))
    contribution = origins.by_measure[ALTI]
    source, prefix = float(contribution.source[step].sum()), float(contribution.prefix[step].sum())
    check(
        abs(source + prefix - 1) < TOLERANCE,
        f"Contributions sum to 1: {source:.3f} + {prefix:.3f} = {source + prefix:.3f}. "
        f"Left out: {len(token.trace.source)} runs of the model, each without one token of the source.",
    )
    if integrated is not None:
        check(
            abs(integrated.total - integrated.difference) <= MAX_INTEGRATION_ERROR * abs(integrated.difference),
            f"Integrated gradients sum to {signed(integrated.total, plus=True)}; from average tokens to these, the "
            f"logit gains {signed(integrated.difference, plus=True)}. Bars show sizes.",
        )
    through = draw_when_open("Through which heads", "why-through-opened", _through_heads, token, source)
    heads = [*filter(None, [through]), *draw_ablation(token)]
    compared = _compared(token, drawn)
    rows = rows_of(drawn, token)
    with st.expander("As tables"):
        table(rows, "why-contributions")
        for picture in heads:
            table(picture.rows, f"why-table-{picture.title}")
        table(compared.rows, "why-agreement-table")
    with st.expander("How it is measured"):
        terms = ("contribution", "log-probability", "cross-attention", "rollout", "value zeroing")
        st.markdown(explained(f"{METHODS}\n\n{ABLATION_METHODS}", *terms))
    return [Picture(f"Where {token.label} came from", draw, rows), *heads, compared]


def _through_heads(token: WrittenToken, source: float) -> Picture:
    """Draw the share of each cross-attention head in the contribution of the source, `source`."""
    heads = head_contributions(*token.forced)[token.step]
    limit = max(1e-9, float(heads.max()))
    grid = head_grid("Cross-attention, head", heads)
    scale = MapScale(limit, ("0", f"{percent(limit)} of the token"), percent=True)

    def draw(theme: str, across: int) -> Drawing:
        return maps([grid], theme, scale, across=across, cell=38.0)

    draw_picture(draw, COLUMN_PIXELS, key="why-through")
    check(
        abs(float(heads.sum()) - source) < TOLERANCE,
        f"All heads sum to what came from the {literal(languages(token.model)[0])}: "
        f"{heads.sum():.3f} = {source:.3f}.",
    )
    rows: list[Row] = [
        {"Layer": f"{layer + 1}", "Head": f"{head + 1}", "Share": float(share)}
        for (layer, head), share in np.ndenumerate(heads)
    ]
    return Picture("Through which heads", draw, rows)


METHODS = (
    "**Contributions**: ALTI+ (Ferrando et al. 2022, *Towards Opening the Black Box of Neural Machine Translation*). "
    "Each attention block is taken apart into what every token gives; a token's share is how much nearer it brings the "
    "sum, and shares are multiplied from layer to layer.\n\n"
    "**Left out**: how much the log-probability of the token falls without that source token; negative where it rises. "
    "The translation is forced, so what was written so far stays.\n\n"
    "**Raw attention**: the mean of all heads and layers, of cross-attention for the source and of the decoder's "
    "self-attention for what was written so far; each sums to 1 by itself. **Norm-weighted**: Kobayashi et al. 2020. "
    "**Rollout**: Abnar and Zuidema 2020. **Value zeroing**: Mohebbi et al. 2023, *Quantifying Context Mixing in "
    "Transformers*; following it through an encoder and a decoder is ours. In both, half of each layer is the residual "
    "connection. **Gradient × input**, by its size: Denil et al. 2014. **Integrated gradients**, by their size: "
    "Sundararajan et al. 2017, *Axiomatic Attribution for Deep Networks*, from the mean of all embeddings at the same "
    "positions. What they sum to and what the logit gains come closer with more points; here there are 64.\n\n"
    "**Through which heads**: in each layer, a token's contribution is divided among the heads by how much nearer each "
    "brings the token's vector."
)


def sentence(origins: MeasuredOrigins, token: WrittenToken) -> str:
    """Return "68 % from the English, 32 % from the French so far. Leaving out X changes most."."""
    from_source = float(origins.by_measure[ALTI].source[token.step].sum())
    source, target = languages(token.model)
    left_out = origins.left_out[token.step]
    at = int(np.abs(left_out).argmax())
    return (
        f"**{percent(from_source)}** from the {literal(source)}, "
        f"**{percent(1 - from_source)}** from the {literal(target)} so far. "
        f"{term('leaving out', 'Leaving out')} **{literal(token.trace.source.labels[at])}** changes most: "
        f"{signed(-float(left_out[at]), plus=True)} nats."
    )


def groups_of(origins: MeasuredOrigins, token: WrittenToken, measure: str) -> list[BarGroup]:
    (source, target), trace, step = languages(token.model), token.trace, token.step
    first, second, read = origins.by_measure[measure], origins.by_measure[ALTI], slice(0, step + 1)
    return [
        BarGroup(source, trace.source.labels, first.source[step], second.source[step], origins.left_out[step]),
        BarGroup(
            f"{target} so far", trace.reads.labels[read], first.prefix[step, read], second.prefix[step, read], None
        ),
    ]


def rows_of(origins: MeasuredOrigins, token: WrittenToken) -> list[Row]:
    """Return a row with every measure for each source token and each earlier token at a step."""
    trace, step = token.trace, token.step
    rows: list[Row] = []
    for side, labels in (("source", trace.source.labels), ("prefix", trace.reads.labels[: step + 1])):
        for at, label in enumerate(labels):
            row: Row = {"Token": label, "Side": "source" if side == "source" else "so far"}
            for name, contributions in origins.by_measure.items():
                row[name] = float(getattr(contributions, side)[step][at])
            row["left out, nats"] = float(origins.left_out[step][at]) if side == "source" else None
            rows.append(row)
    return rows


def _compared(token: WrittenToken, origins: MeasuredOrigins) -> Picture:
    """Draw each measure's rank correlation with leaving out, here and over the corpus that came measured."""
    changed = bool(token.view.changes)
    corpus = None if changed else why_measured(token.name)
    rows = agreement_rows(agreements(origins), agreements(origins, signed=True), corpus)

    def draw(theme: str, across: int) -> Drawing:
        values = [(str(row["Measure"]), float(row[SIZE_COLUMN] or 0), _text(row)) for row in rows]
        return bars(values, theme, across=across)

    st.markdown("**Which measure agrees with leaving a token out?**")
    where = "this sentence" if corpus is None else f"{corpus['sentences']} test sentences of {corpus['corpus']}"
    interval = "" if corpus is None else " (95\u00a0% interval)"
    st.caption(
        f"Bars: how far it agrees, in this sentence, with how much the token changes. Numbers: over {where}, the same"
        f"{interval} **|** signed: does it rank last what speaks against the written token?"
    )
    draw_picture(draw, COLUMN_PIXELS, key="why-agreement")
    if INTEGRATED not in origins.by_measure:
        st.caption("Integrated gradients take most time: choose them above to see their bar for this sentence.")
    st.caption(
        f"Spearman's {term('rank correlation')} over the source tokens, mean of {len(token.trace.writes)} steps: 1 is "
        f"the same order, 0 is no relation. {_over(corpus, changed)} Attention and shares are never negative, so they "
        "can't say what speaks against a token."
    )
    return Picture("Which measure agrees with leaving a token out", draw, rows)


def _over(corpus: dict[str, Any] | None, changed: bool) -> str:
    """Return a sentence with the best measure over the corpus, and those that are not significantly worse."""
    if changed:
        return "What is known from a corpus holds for the model with all its heads."
    if corpus is None:
        return "No measurement over a corpus came with this model."
    close = corpus["not_told_apart_from_best"]
    rivals = f"; {' and '.join(close)} cannot be told apart from it" if close else ""
    return f"Over the sentences {corpus['best']} agrees best{rivals}."


def agreement_rows(
    here: dict[str, Agreement], signed_here: dict[str, Agreement], corpus: dict[str, Any] | None
) -> list[Row]:
    """Return a row per measure, in the corpus's order where one was measured: one sentence is too few to rank by."""
    rows: list[Row] = []
    measured = {} if corpus is None else corpus["measures"]
    for measure in [*measured, *(name for name in here if name not in measured)]:
        row: Row = {"Measure": measure}
        for column, by_measure in ((SIZE_COLUMN, here), (SIGNED_COLUMN, signed_here)):
            summary = by_measure.get(measure)
            row |= {column: summary and finite(summary.mean), f"{column}, spread": summary and finite(summary.spread)}
            if corpus is not None:
                over = measured.get(measure)
                over = over if over is None or column == SIZE_COLUMN else over["signed"]
                row |= {f"{column}, corpus {part}": over and over[part] for part in ("mean", "low", "high")}
        rows.append(row)
    return rows


def _text(row: Row) -> str:
    """Return the numbers over the corpus, or without one those of the sentence."""
    if f"{SIZE_COLUMN}, corpus mean" not in row:
        return f"{_number(row[SIZE_COLUMN])}  |  {_number(row[SIGNED_COLUMN])}"
    if row[f"{SIZE_COLUMN}, corpus mean"] is None:
        return "not measured"
    mean, low, high = (_number(row[f"{SIZE_COLUMN}, corpus {part}"]) for part in ("mean", "low", "high"))
    return f"{mean} ({low} to {high})  |  {_number(row[f'{SIGNED_COLUMN}, corpus mean'])}"


def _number(value: object) -> str:
    return signed(value) if isinstance(value, float) else "no order"


def chosen_step(view: WhyView, trace: Trace, first: int) -> int:
    """Return the step that is shown, from 0; `first` where the view leaves it open."""
    return min(first if view.step is None else view.step - 1, len(trace.writes) - 1)


def step_scrubber(token: WrittenToken) -> None:
    shares = measured_origins(*token.forced).by_measure[ALTI].source.sum(-1)
    source, target = languages(token.model)
    scrubber(
        token.trace.writes.labels,
        shares.clip(0, 1).tolist(),
        token.step,
        (source, f"{target} so far"),
        key="why-scrubber",
        on_step=lambda to: update(step=to + 1, instead=None),
    )


def languages(model: Translator) -> tuple[str, str]:
    """Return the names of the two sides: their languages, where the card says them and they differ."""
    source, target = str(model.card.get("source", "")), str(model.card.get("target", ""))
    return (source, target) if source and target and source != target else ("source", "target")

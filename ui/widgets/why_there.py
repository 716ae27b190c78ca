"""Why a head looks there: the score of a cell as pairs of writers, in a sentence, a matrix and a list."""

from __future__ import annotations

import numpy as np
import streamlit as st

from headlight.analysis.head_changes import BRIEF_NAMES
from headlight.analysis.sites import kind_of, site_of
from headlight.analysis.stream import stream
from headlight.analysis.why.residual_parts import BIAS, EMBEDDING, POSITION, Writer
from headlight.analysis.why.score_parts import Relative, ScoreParts, score_parts_of
from headlight.analysis.why.score_words import score_sentences
from headlight.charts.colours import LESS_COLOUR, MORE_COLOUR
from headlight.charts.document import image
from headlight.charts.score_parts import pair_matrix
from headlight.formatting import plain_label, probability_text, signed
from headlight.glossary import explained
from headlight.language import gettext, localized, translatable
from transformer import Trace
from transformer.taps import Intervention, Site, chain
from transformer.trace import Kind
from ui.state import models
from ui.state.cache import cached
from ui.state.view import widget_key
from ui.widgets.disclosure import draw_when_open
from ui.widgets.table import Cell, bar, table_html
from ui.widgets.text import literal

MAX_PAIRS = 6  # in the list
ITSELF = "itself"  # selects the score itself, compared with nothing
NARROW_PIXELS = 312  # the width of the matrix on a phone
_BRIEF = {EMBEDDING: translatable("embedding"), POSITION: translatable("position"), BIAS: translatable("biases")}


def why_there(
    name: str,
    trace: Trace,
    kind: Kind,
    head: tuple[int, int],
    cell: tuple[int | None, int | None],
    taps: tuple[Intervention, ...] = (),
    across: int = 388,
) -> None:
    """Draw an expander with the parts of the score of a cell (query, key) of a head (layer, head), all from 0; the
    matrix is `across` pixels wide.

    With only a query, its largest weight is explained; with only a key, the query that looks at it most.
    """
    draw_when_open(gettext("Why there?"), "why-there", _draw, name, trace, kind, head, cell, taps, across)


def _draw(
    name: str,
    trace: Trace,
    kind: Kind,
    head: tuple[int, int],
    cell: tuple[int | None, int | None],
    taps: tuple[Intervention, ...],
    across: int,
) -> None:
    pattern = trace.pattern(kind)[head[0], head[1]]
    query, key = cell
    if (query is None and key is None) or not pattern.any():
        st.caption(gettext("Choose a cell of the head first: click on it, or on its tokens."))
        return
    if query is None:
        query = int(pattern[:, key].argmax())
    if key is None or not pattern[query, key]:
        key = int(pattern[query].argmax())  # a masked key has no score
    asking, keys = plain_label(trace.rows(kind)[query]), list(map(plain_label, trace.columns(kind)))
    if kind != "encoder":  # the query is the vector of the token that is read; the row writes the next one
        asking = f"{plain_label(trace.reads.labels[query])} → {asking}"
    visible = np.flatnonzero(pattern[query])
    alternatives: list[int | str] = ["mean", ITSELF, *(int(other) for other in visible if other != key)]
    names = {"mean": gettext("the mean of the row"), ITSELF: gettext("nothing: the score itself")}
    chosen = st.selectbox(
        gettext("Compared with"),
        alternatives,
        format_func=lambda other: names[other] if isinstance(other, str) else f"{other + 1} {keys[other]}",
        key=widget_key(f"rather-{kind}-{head}-{(query, key)}"),
        width=240,
    )
    rather: Relative = chosen if isinstance(chosen, int) else "mean" if chosen == "mean" else None
    ids = tuple(trace.source.ids), tuple(trace.target.ids)
    score = site_of(kind, head[0]), head[1], query, key
    parts = _parts(name, models.version(name), ids, score, rather, taps)
    sentences = score_sentences(parts, asking, keys[key], keys[rather] if isinstance(rather, int) else None)
    st.markdown(literal(" ".join(sentences)))
    weight = float(parts.weights[key])
    text = gettext(
        "The score of “{key}” is {score}, the mean of the row {mean}; the softmax makes the score a weight of "
        "{weight}.",
        key=keys[key],
        score=signed(float(parts.scores[key])),
        mean=signed(float(parts.scores[np.isfinite(parts.scores)].mean())),
        weight=probability_text(weight),
    )
    st.caption(explained(literal(text), "score"))
    axes = gettext(
        "rows: who wrote the query at “{query}”; columns: who wrote the key at “{key}”", query=asking, key=keys[key]
    )
    st.caption(explained(literal(axes), "query", "key"))
    theme = st.context.theme.type or "light"
    labels = [brief_name(w) for w in parts.query_writers], [brief_name(w) for w in parts.key_writers]
    pictures = [
        image(pair_matrix(parts.pairs, *labels, theme, room, sentences[1]), of)
        for room, of in ((across, "wide"), (NARROW_PIXELS, "narrow"))
    ]
    st.html(f'<div class="why-there">{"".join(pictures)}</div>')
    st.markdown(f"**{gettext('Largest pairs')}**")
    pairs = parts.largest(MAX_PAIRS)
    st.html(
        table_html(
            "bars ranking",
            [
                (
                    f"{brief_name(pair.query)} × {brief_name(pair.key)}",
                    Cell(
                        bar(
                            abs(pair.value / (pairs[0].value or 1.0)),
                            MORE_COLOUR if pair.value > 0 else LESS_COLOUR,
                        ),
                        "wide",
                    ),
                    signed(pair.value, plus=True),
                )
                for pair in pairs
            ],
            numbers=(2,),
        )
    )
    st.caption(_checked(parts, weight, float(parts.weights_without(pairs[0])[key])))


def _checked(parts: ScoreParts, before: float, after: float) -> str:
    """Return the weight without the largest pair, the check of the sum, and what is held fixed."""
    count, total, score = localized(f"{parts.pairs.size:,}"), signed(parts.total), signed(parts.score)
    if parts.position_bias:
        summed = gettext(
            "The {count} pairs and the bias for the distance, {bias}, sum to {sum}; the model computes {score}.",
            count=count,
            bias=signed(parts.position_bias, plus=True),
            sum=total,
            score=score,
        )
    else:
        text = translatable("The {count} pairs sum to {sum}; the model computes {score}.")
        summed = gettext(text, count=count, sum=total, score=score)
    without = gettext(
        "Without the largest pair the weight would be {after} instead of {before}.",
        after=probability_text(after),
        before=probability_text(before),
    )
    held_fixed = gettext(
        "The scale of every norm is held at its value. It shows what the score is made of, not why a part wrote what "
        "it did."
    )
    return f"{without} {summed} {held_fixed}"


def brief_name(writer: Writer) -> str:
    """Return a writer's name where there is little room: "encoder 2.2", "ff 1"."""
    layer, head = writer.layer + 1, writer.head + 1
    if writer.part in _BRIEF:
        return gettext(_BRIEF[writer.part])
    if writer.is_head:
        return gettext(BRIEF_NAMES[kind_of(Site(writer.stack, writer.layer, writer.part))], layer=layer, head=head)
    return gettext("ff {layer}", layer=layer)


@cached(40, translatable("Splitting the score"))
def _parts(
    name: str,
    version: tuple[int, ...],
    ids: tuple[tuple[int, ...], tuple[int, ...]],
    score: tuple[Site, int, int, int],
    relative_to: Relative,
    taps: tuple[Intervention, ...],
) -> ScoreParts:
    """Return the parts of a score (site, head, query, key) of the pass over `ids` (source, target)."""
    opened = models.translator(name)
    passed = stream(opened.model, *ids, chain(*models.own_taps(opened), *taps))
    return score_parts_of(passed, *score, relative_to)

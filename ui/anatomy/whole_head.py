"""A whole head as three matrices: scores, masked scores, weights.

The masks are applied apart, together, or as in the model, over the sentence, a padded batch of two, or a tutorial's
example.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from headlight.analysis.masks import (
    MASKS,
    TUTORIAL_WORDS,
    Mask,
    Matrices,
    added_and_filled,
    masks_at,
    own_mask,
    tutorial,
)
from headlight.charts.colours import theme_named
from headlight.formatting import minus, plural, two_digits
from headlight.glossary import explained
from headlight.importers.examples import examples
from transformer import Trace, Translator
from transformer.tokenizers import number_duplicates
from ui.anatomy.chosen import ChosenPart, tokens
from ui.anatomy.matrix_table import (
    MAX_CELLS,
    MAX_ROOMY_COLUMNS,
    MINUS_INFINITY,
    MatrixAxes,
    matrix_html,
    side_by_side,
    window,
)
from ui.anatomy.passes import whole_head
from ui.anatomy.view import AnatomyView
from ui.state import models
from ui.state.view import bound
from ui.widgets.controls import choose
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.text import literal

FLOAT16_LARGEST = float(np.finfo(np.float16).max)
_OF = {"sentence": "This sentence", "batch": "A padded batch of two", "tutorial": "I LOVE PYTHON"}
_MASKS = {"none": "None", "padding": "Padding", "look-ahead": "Look-ahead", "both": "Both"}
_HIDES = {
    "none": "Nothing is hidden",
    "padding": "Padding is hidden",
    "look-ahead": "Later tokens are hidden",
    "both": "Padding and later tokens are hidden",
}
_SOURCE = (
    "Queries and keys are those that the tutorial *Coding transformer model from scratch* (adeveloperdiary) prints, "
    "with four digits: three tokens of d_k 6. Without a mask, the row of **I** is its 0.3064, 0.3530, 0.3406. The "
    "sentence is the one that it masks, with other numbers. There it prints **.5082 .4918** as the row of LOVE: a "
    "misprint, since neither its scores before the mask (.4830 .3263, which give .5391 .4609) nor those after it "
    "(.5903 .3597, which give .5574 .4426) have that softmax."
)


@dataclass(frozen=True)
class DrawnMatrices:
    """The matrices that are drawn, with their labels."""

    matrices: Matrices
    rows: Sequence[str]
    columns: Sequence[str]
    chosen: int | None  # the row that the page follows
    digits: int = 2


def draw(chosen: ChosenPart) -> None:
    view: AnatomyView = st.session_state["view"]
    st.caption(
        explained(
            "Each row is a query token, each column a key token that it may look at. The scores are what "
            "the softmax would get without a mask; the mask replaces what is hidden by −∞; the softmax makes weights "
            "of each row, which sum to 1. A hidden key gets nothing, since e to the power of −∞ is 0.",
            "query",
            "key",
            "score",
            "mask",
        )
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choose(view, "matrices", "Matrices of", _OF)
        mask = _mask_control(view, chosen)
    with plain_errors():
        drawn_matrices = _matrices(chosen, view, mask)
        if drawn_matrices is not None:
            _pictures(drawn_matrices)
            draw_when_open("Adding a mask or filling it in", "added-or-filled", _added_or_filled, drawn_matrices)
            draw_when_open("These matrices as tables", "matrices-as-table", _as_table, drawn_matrices)


def _mask_control(view: AnatomyView, chosen: ChosenPart) -> Mask:
    """Draw the choice of a mask; return the view's where it has a meaning for this attention, else the model's own."""
    example = view.matrices == "tutorial"
    options = MASKS if example else masks_at(chosen.site)
    default: Mask = "look-ahead" if example else own_mask(chosen.site, chosen.config)
    mask = next((option for option in options if option == view.mask), default)
    binding = bound("mask", f"mask-{chosen.part.kind}-{example}", convert=lambda mask: "" if mask == default else mask)
    choose(view, "mask", "Mask", {option: _MASKS[option] for option in options}, mask, **binding)
    return mask


def _matrices(chosen: ChosenPart, view: AnatomyView, mask: Mask) -> DrawnMatrices | None:
    """Return the matrices, below a sentence that says what they are; None where a second sentence is missing."""
    if view.matrices == "tutorial":
        st.caption(_SOURCE)
        return DrawnMatrices(tutorial(mask), TUTORIAL_WORDS, TUTORIAL_WORDS, None, 4)
    model, trace = chosen.model, chosen.trace
    traces: tuple[Trace, ...] = (trace,)
    if view.matrices == "batch":
        second = _second_sentence(view, model, trace)
        if second is None:
            st.caption("Type a second sentence: the shorter one is filled up with padding.")
            return None
        traces = (trace, models.trace(chosen.name, second, None))
    default = own_mask(chosen.site, model.model.config)
    # The model's own mask is the one of the pass itself, whatever it is called.
    every = whole_head(chosen.name, traces, chosen.site, chosen.head, None if mask == default else mask)
    at = _padded(traces, chosen)
    rows, columns = (
        _filled(labels, size, model)
        for labels, size in zip(_labels(traces[at], chosen), every[at].scores.shape, strict=True)
    )
    added = len(columns) - len(_labels(traces[at], chosen)[1])
    st.caption(_caption(mask, default, added, len(traces) > 1, literal(traces[at].text)))
    return DrawnMatrices(every[at], rows, columns, chosen.query if at == 0 else None)


def _second_sentence(view: AnatomyView, model: Translator, trace: Trace) -> str | None:
    """Return the other sentence of the batch, chosen among the model's examples or typed; None without an example."""
    offered = [example.text for example in examples(model.card) if example.text != trace.text]
    if view.second is not None and view.second not in offered:
        offered.insert(0, view.second)
    first = view.second if view.second is not None else _of_other_length(trace.text, offered, model)
    second: str | None = st.selectbox(
        "Second sentence of the batch",
        offered,
        index=None if first is None else offered.index(first),
        accept_new_options=True,
        placeholder="Choose an example or type a sentence",
        **bound("second", convert=lambda text: text or None),
    )
    return second


def _of_other_length(text: str, offered: list[str], model: Translator) -> str | None:
    """Return the first sentence with another number of tokens, since two of the same length have no padding to show."""
    encode = model.checkpoint.source_tokenizer.encode
    return next((other for other in offered if len(encode(other)) != len(encode(text))), next(iter(offered), None))


def _padded(traces: tuple[Trace, ...], chosen: ChosenPart) -> int:
    """Return which sentence of the batch has fewer keys, and so the padding; the second of two equal ones."""
    keys = [len(_labels(trace, chosen)[1]) for trace in traces]
    return 0 if len(keys) == 1 or keys[0] < keys[1] else 1


def _labels(trace: Trace, chosen: ChosenPart) -> tuple[list[str], list[str]]:
    """Return the labels of the query tokens and of the key tokens."""
    return tokens(trace, chosen.stack).labels, trace.columns(chosen.part.kind)


def _filled(labels: list[str], size: int, model: Translator) -> list[str]:
    pad = model.checkpoint.target_tokenizer.label(model.model.config.pad_id)
    return number_duplicates([*labels, *[pad] * (size - len(labels))])


def _caption(mask: Mask, default: Mask, added: int, batch: bool, text: str) -> str:
    if mask == default:
        does = f"**As the model does.** {_HIDES[mask]}."
    else:
        does = (
            f"**Not what the model does:** {_HIDES[mask].lower()} here, in this head alone; the vectors that reach it "
            "are the model's own."
        )
    if batch and added:
        return (
            f"{does} Shown is the shorter sentence, “{text}”, with {plural(added, 'token')} of padding; "
            "rows of padding are computed too, and nobody reads them."
        )
    if batch:
        return f"{does} Both sentences have as many tokens, so there is no padding."
    alone = " A sentence alone has no padding: a padded batch of two shows it." if mask in ("padding", "both") else ""
    return does + alone


def _axes(drawn: DrawnMatrices) -> tuple[MatrixAxes, tuple[slice, slice]]:
    """Return the axes of the part that is drawn, and the rows and columns of that part."""
    queries, keys = drawn.matrices.scores.shape
    down = window(queries, drawn.chosen)
    across = down if queries == keys else window(keys, None)
    chosen = None if drawn.chosen is None else drawn.chosen - down.start
    hidden = ~drawn.matrices.visible[down, across]
    return MatrixAxes(drawn.rows[down], drawn.columns[across], hidden, chosen), (down, across)


def _score_table(drawn: DrawnMatrices, title: str, values: np.ndarray, hidden: str = "") -> str:
    """Return `values` [Q, K] on the scale of the scores; masked cells say `hidden`, unless it is empty."""
    axes, view = _axes(drawn)
    limit = float(np.abs(drawn.matrices.scores[view]).max())
    digits = drawn.digits if len(axes.columns) <= MAX_ROOMY_COLUMNS else 1
    theme = theme_named(st.context.theme.type or "light")
    return matrix_html(title, values[view], axes, theme, (-limit, limit), hidden=hidden, digits=digits)


def _pictures(drawn: DrawnMatrices) -> None:
    matrices, theme = drawn.matrices, theme_named(st.context.theme.type or "light")
    axes, view = _axes(drawn)
    tables = [
        _score_table(drawn, "Scores", matrices.scores),
        _score_table(drawn, "Masked scores", matrices.scores, MINUS_INFINITY),
        matrix_html("Weights", matrices.weights[view], axes, theme, (0.0, 1.0), hidden="0", digits=drawn.digits),
    ]
    st.html(side_by_side(tables))
    queries, keys = matrices.scores.shape
    too_many = max(queries, keys) > MAX_CELLS
    cut = f" Of {queries} rows and {keys} columns, at most {MAX_CELLS} of each are drawn." if too_many else ""
    followed = "" if axes.chosen is None else literal(axes.rows[axes.chosen])
    row = f" The outlined row, {followed}, is the token that the page follows." if followed else ""
    st.caption(f"Hatched: hidden by the mask, which is not a low score. Blue below zero, orange above.{row}{cut}")


def _added_or_filled(drawn: DrawnMatrices) -> None:
    """Draw the same mask added to the scores, as formulas have it, and filled in, as code has it."""
    masked = added_and_filled(drawn.matrices.scores, drawn.matrices.visible)
    st.markdown(
        r"Formulas add a matrix: $\text{softmax}(S + M)$, where M is 0 where a query may look and −∞ where it may "
        "not. Code fills in: `S.masked_fill(hidden, -inf)` overwrites the same cells. Any number plus −∞ is −∞, so "
        "both give the same scores."
    )
    matrices = {"M": masked.mask, "S + M": masked.added, "S, filled in": masked.filled}
    st.html(side_by_side([_score_table(drawn, title, values, MINUS_INFINITY) for title, values in matrices.items()]))
    infinite, finite = masked.nowhere
    st.caption(
        f"The weights of the two differ by at most {two_digits(masked.apart)}; with −10⁹ in the place of −∞, which "
        f"many programs add, by {two_digits(masked.finite_apart)}. A row that hides every key is another matter: "
        f"with −∞ its weights are {'no numbers (0/0)' if math.isnan(infinite) else two_digits(infinite)}, with "
        f"−10⁹ all alike, {two_digits(finite)} each. And in float16, whose largest number is "
        f"{FLOAT16_LARGEST:,.0f}, −10⁹ is −∞ again."
    )


def _as_table(drawn: DrawnMatrices) -> None:
    matrices = drawn.matrices
    tables = {
        "Scores": matrices.scores,
        "Masked scores": np.where(matrices.visible, matrices.scores, -np.inf),
        "Weights": matrices.weights,
    }
    for title, values in tables.items():
        st.markdown(f"**{title}**")
        table: dict[str, Sequence[object]] = {"Query": list(drawn.rows)}
        table |= dict(zip(drawn.columns, _numbers(values, drawn.digits).T.tolist(), strict=True))
        st.dataframe(table, hide_index=True, key=f"matrices-{title}")


def _numbers(values: np.ndarray, digits: int) -> np.ndarray:
    """Format numbers as text, in which −∞ can be read too."""
    decimals = max(digits, 3)
    return np.array([["−∞" if np.isneginf(x) else minus(f"{x:.{decimals}f}") for x in row] for row in values])

"""Rotary positions and ALiBi beside the encoding that is added: what each does to the scores, measured."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st

from headlight.analysis.score_positions import (
    SCORE_SCHEMES,
    SHIFT_POSITIONS,
    ScoreProperties,
    alibi_slopes,
    equal_token_scores,
    score_properties,
)
from headlight.charts.colours import Theme, theme_named
from headlight.formatting import brief, two_digits
from headlight.glossary import explained
from ui.positions.codes import MAX_MEASURED_DIMENSIONS
from ui.positions.schemes import PICTURE_POSITIONS, SchemeVerdict, thumbnail_html, verdict_html
from ui.state.cache import cached
from ui.widgets.table import Cell, Html, table_html

MEASURED_TOKENS = 200  # that the scores are measured over
ALIBI_HEADS = 8  # as in its paper
_NAMES = {"sinusoidal": "Sinusoidal, added", "rotary": "Rotary (RoPE)", "alibi": "ALiBi"}
_WHERE_APPLIED = {
    "sinusoidal": "once, to the embedding; it stays in the vector, also in the values",
    "rotary": "in every layer: turns the pairs of each query and key by position · ω",
    "alibi": "in every layer: takes m · distance from each score, a slope m per head",
}


def distance_alone(properties: ScoreProperties) -> SchemeVerdict:
    """Judge the change of a score when both tokens move."""
    return SchemeVerdict(
        "yes" if properties.shifted < 1e-9 else "no", f"changes by up to {two_digits(properties.shifted)}"
    )


def nearer_first(properties: ScoreProperties) -> SchemeVerdict:
    """Judge how scores fall with the distance."""
    return SchemeVerdict("yes" if properties.fall > 0.1 else "no", f"falls by {two_digits(properties.fall)}")


def twice_as_long(properties: ScoreProperties) -> str:
    """Return how far distance lowers a score in a text twice as long."""
    return f"lowers by up to {brief(properties.longer)}, before {brief(properties.lowest)}"


_ROWS = (
    ("Distance alone", f"the score of two tokens, both {SHIFT_POSITIONS} positions further on", distance_alone),
    ("Nearer counts more", "the score of two equal tokens, from neighbours to the far half", nearer_first),
)


def draw_in_scores(width: int, base: float) -> None:
    """Draw the table of schemes that act on scores, for a head of that width."""
    st.markdown("**Positions in the scores instead**")
    slopes = alibi_slopes(ALIBI_HEADS)
    st.caption(
        explained(
            "Most newer models add nothing to the embeddings: rotary positions (Su et al. 2021) turn queries and keys, "
            "so that their product depends on the distance; ALiBi (Press et al. 2021) takes something from a score for "
            f"each step of distance, m from 1/{1 / slopes[0]:g} for head 1 to 1/{1 / slopes[-1]:g} for head "
            f"{ALIBI_HEADS}. In the pictures, {PICTURE_POSITIONS} queries by {PICTURE_POSITIONS} keys of one token "
            "repeated, the only differences are those of positions: orange is a higher score.",
            "query",
            "key",
            "score",
        )
    )
    width = min(width, MAX_MEASURED_DIMENSIONS)
    properties = {scheme: _measured(scheme, width, base) for scheme in SCORE_SCHEMES}
    st.html(in_scores_html(properties, width, theme_named(st.context.theme.type or "light")))
    st.caption(
        f"Measured here over {MEASURED_TOKENS} random tokens of {width} numbers, in standard deviations of the scores; "
        "ALiBi with the slope of head 1. T5 has a learned bias per distance instead. On texts longer than those of "
        "training, Press et al. found, the loss soon rises with sinusoidal positions, a little later with rotary "
        "ones, and not with ALiBi, where a far key only gets less weight."
    )


@cached(32, "Measuring", seconds=3600, turn=False)
def _measured(scheme: str, width: int, base: float) -> ScoreProperties:
    return score_properties(scheme, MEASURED_TOKENS, width, base, float(alibi_slopes(ALIBI_HEADS)[0]))


def in_scores_html(properties: dict[str, ScoreProperties], width: int, theme: Theme) -> str:
    """Return a table with a scheme per column and a property per row."""
    rows: list[list[str | Cell]] = [
        ["", *(Html(_picture(scheme, width, theme)) for scheme in SCORE_SCHEMES)],
        ["Where it acts", *(_WHERE_APPLIED[scheme] for scheme in SCORE_SCHEMES)],
    ]
    for name, explanation, judge in _ROWS:
        verdicts = (verdict_html(judge(properties[scheme]), theme) for scheme in SCORE_SCHEMES)
        rows.append([Html(f"{name}<small>{html.escape(explanation)}</small>"), *verdicts])
    longer = Html("Twice as long<small>what distance does to the score of two equal tokens</small>")
    rows.append([longer, *(twice_as_long(properties[scheme]) for scheme in SCORE_SCHEMES)])
    heads = ["", *(_NAMES[scheme] for scheme in SCORE_SCHEMES)]
    return table_html("schemes in-scores lined", rows, heads, scrolls="Positions in the scores")


def _picture(scheme: str, width: int, theme: Theme) -> str:
    """Return the scores of a token with itself, on the diverging colour scale around their mean."""
    # The base that makes as many waves in 16 positions as 10,000 makes in a sentence.
    scores = equal_token_scores(scheme, PICTURE_POSITIONS, width, 100, float(alibi_slopes(ALIBI_HEADS)[0]))
    around = scores - scores.mean()
    limit = float(np.abs(around).max())
    along = "the same along each diagonal" if _same_along_diagonals(scores) else "not the same along the diagonals"
    description = f"{PICTURE_POSITIONS} by {PICTURE_POSITIONS} scores of equal tokens, {along}"
    return thumbnail_html(around, limit, description, theme)


def _same_along_diagonals(scores: np.ndarray) -> bool:
    return bool(np.abs(scores[1:, 1:] - scores[:-1, :-1]).max() < 1e-9)

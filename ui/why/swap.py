"""Swap the cause: another sentence leads to another word; which part of the true run restores the first?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from headlight.analysis.sites import by_kind, kind_of
from headlight.analysis.why.activation_patching import Direction
from headlight.charts.document import Drawing
from headlight.charts.why import Map, MapScale, bars, maps
from headlight.formatting import percent, signed
from headlight.glossary import term
from transformer.taps import Site
from transformer.trace import Kind
from ui.state.view import set_view, update, widget_key
from ui.why.antecedents import head_name, named_among_best, pairs_of_the_grammar
from ui.why.cause import Cause, proposals
from ui.why.components import KIND_NAMES, Row, draw_picture, head_grid, head_rows, table
from ui.why.downloads import Picture
from ui.why.passes import TOKEN_HEADS, Swap, Swapped, WrittenToken, best_heads, exchange
from ui.why.view import DIRECTIONS, EXCHANGED, WhyView
from ui.widgets.controls import choose
from ui.widgets.sentence import difference
from ui.widgets.sentence_box import sentence_box
from ui.widgets.text import literal

MIN_LOGIT_CHANGE = 1.0  # below, shares of the change say little
BY_TOKEN = {"tokens": "head tokens", "forward": "feed-forward", "states": "states"}  # a choice -> one of `why.PARTS`


class Wording(NamedTuple):
    """The words for one direction of an exchange."""

    changes: str  # what the difference of logits does
    exchanged: str  # what is done with a part


WORDING: dict[Direction, Wording] = {
    "denoise": Wording("returns", "given back"),
    "noise": Wording("is lost", "taken away"),
}


def draw_swap(token: WrittenToken, cause: Cause | None, instead: int) -> list[Picture]:
    """Draw both sentences, the choices, the maps, the top heads together, and the checks; return the pictures."""
    view, trace = token.view, token.trace
    st.subheader("Swap the cause", anchor="swap-the-cause")
    contrast = f"“{literal(token.label)}” rather than “{literal(token.label_of(instead))}”"
    gives = view.direction == "denoise"
    st.caption(
        "Change one word of the sentence. Then "
        + (
            "give one part at a time back what it had computed for the true one: how much of "
            if gives
            else "let one part at a time compute what it would for the other one: how much of "
        )
        + f"{contrast} {'returns' if gives else 'is lost'}?"
    )
    _choose_sentence(token, cause)
    if cause is None:
        st.info(
            "There is no other sentence yet. Type this one with one word changed, so that the model writes something "
            "else.",
            icon=":material/info:",
        )
        return []
    difference(trace.text, cause.text)
    if cause.ids == tuple(trace.source.ids):
        st.info("Both sentences are the same to the model. Change a word.", icon=":material/info:")
        return []
    _note_first_difference(token, cause)
    _controls(view)
    if view.exchanged == "patterns" and len(cause.ids) != len(trace.source):
        st.info(
            "A pattern is exchanged whole, so both sentences need the same number of tokens: here "
            f"{len(trace.source)} and {len(cause.ids)}. Choose another part, or another sentence.",
            icon=":material/info:",
        )
        return []
    swapped = exchange(*token.forced, _swap(token, cause, instead))
    st.markdown(
        f"As it is: difference of the {term('logit', 'logits')} **{signed(swapped.patching.true, plus=True)}**. "
        f"Swapped: **{signed(swapped.patching.corrupted, plus=True)}**."
    )
    if swapped.patching.true - swapped.patching.corrupted < MIN_LOGIT_CHANGE:
        st.caption(
            f":material/info: The other sentence hardly speaks against {contrast}: there is next to nothing to "
            f"{'give back' if gives else 'take away'}, and shares of it say little. Choose another token above, or "
            "another sentence."
        )
    pictures = _by_head(token, swapped) if swapped.top else _by_token(token, swapped)
    _identities(swapped)
    if view.exchanged == "heads" and gives and not view.changes and (facts := pairs_of_the_grammar(token.name)):
        st.caption(facts)
    with st.expander("As tables"):
        for picture in pictures:
            table(picture.rows, f"why-table-{picture.title}")
    with st.expander("How it is measured"):
        st.markdown(METHODS)
    return pictures


def _note_first_difference(token: WrittenToken, cause: Cause) -> None:
    """Say where the other sentence first leads to another token, unless it is at the token's step."""
    labels = token.trace.writes.labels
    if cause.first is None:
        st.caption(":material/info: The other sentence leads to the same words; only their probabilities differ.")
    elif cause.first < token.step:
        st.caption(
            ":material/info: With the other sentence the model would already write something else than "
            f"“{literal(labels[cause.first])}”, token {cause.first + 1}; what was written before "
            f"“{literal(token.label)}” is forced here."
        )
    elif (first := cause.first) > token.step:
        st.caption(
            ":material/info: With the other sentence the model writes the same up to "
            f"“{literal(labels[first])}”, token {first + 1}."
        )
        st.button(
            "Go to that token",
            icon=":material/arrow_forward:",
            on_click=lambda: update(step=first + 1, instead=None),
            type="tertiary",
        )


METHODS = (
    "Activation patching (Vig et al. 2020, *Investigating Gender Bias in Language Models Using Causal Mediation "
    "Analysis*; Wang et al. 2023, *Interpretability in the Wild*). Both sentences are read with the same words written "
    "so far.\n\n"
    "**Give back** (denoising): the run of the other sentence gets one part of the true run. What returns the word is "
    "enough for it. **Take away** (noising): the true run gets one part of the other's. What loses the word is needed "
    "for it. Of two parts that can each do the work alone, both give it back and neither takes it away (Heimersheim "
    "and Nanda 2024, *How to use and interpret activation patching*).\n\n"
    "The share is how far the difference of the two logits moves, divided by the difference between both runs. Below 0 "
    "it moves away; shares of single parts need not add up.\n\n"
    "**Heads** are exchanged at every token. **Attention patterns** are exchanged without the values: where the head "
    "looks, not what it hands over. **Heads, token by token** are the eight heads that change most. **Feed-forward "
    "networks** and **states**, the residual stream after a layer, are exchanged at one token.\n\n"
    "Where the two sentences have different lengths, the tokens that both have are aligned in their order, and "
    "between them those that were exchanged one for one; what was added or left out has no partner, and stays as it is."
)


def _controls(view: WhyView) -> None:
    """Draw the choices of what is exchanged, in which direction and, token by token, in which stack."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choose(view, "exchanged", "What is exchanged", EXCHANGED, menu=True, width=220)
        text = "Give back: what returns the word is enough for it. Take away: what loses the word is needed for it."
        choose(view, "direction", "Direction", DIRECTIONS, help=text)
        if view.exchanged in BY_TOKEN:
            names = {"encoder": "Encoder, source", "decoder": "Decoder, so far"}
            choose(view, "states", "Stack", names)


def _swap(token: WrittenToken, cause: Cause, instead: int) -> Swap:
    """Return what is exchanged. Token by token, these are the stack's most effective heads at all tokens together."""
    view = token.view
    direction: Direction = "denoise" if view.direction == "denoise" else "noise"
    swap = Swap(cause.ids, token.step, instead, "heads", direction)
    if view.exchanged == "tokens":
        restored = exchange(*token.forced, swap).patching.restored
        own = {site: shares for site, shares in restored.items() if site.stack == view.states}
        swap = swap._replace(heads=tuple(best_heads(own, TOKEN_HEADS)))
    return swap._replace(part=BY_TOKEN.get(view.exchanged, view.exchanged))


def _scale(swapped: Swapped) -> MapScale:
    changes = WORDING[swapped.patching.direction].changes
    return MapScale(1.0, ("0", f"100\u00a0% of the difference {changes}"), percent=True)


def _by_head(token: WrittenToken, swapped: Swapped) -> list[Picture]:
    """Draw the shares of all heads, or of their patterns, and those that change most together."""
    direction, patterns = swapped.patching.direction, token.view.exchanged == "patterns"
    shares = by_kind(_of_heads(swapped))
    heads = Picture(
        f"{'Patterns' if patterns else 'Heads'} {WORDING[direction].exchanged} one at a time",
        partial(_maps, shares, swapped),
        head_rows(shares, "Share"),
        590,
    )
    top = Picture("The top heads together", partial(_top, swapped), _top_rows(swapped), 336)
    left, right = st.columns([7, 4], gap="large")
    with left:
        draw_picture(heads.draw, heads.across, key="why-patched")
        run = "in the true run" if direction == "denoise" else "for the other sentence"
        st.caption(
            f"{term('restored', 'Per cent of the difference')} that {WORDING[direction].changes} when this head alone "
            f"{'looks where it does' if patterns else 'computes as'} {run}."
        )
    with right:
        st.markdown(f"**The top {len(swapped.top)}**")
        draw_picture(top.draw, top.across, key="why-top")
        alone = sum(_share(swapped, at) for at in swapped.top)
        st.caption(_compared(alone, swapped.together) + named_among_best(token.name, swapped.top))
    return [heads, top]


def _by_token(token: WrittenToken, swapped: Swapped) -> list[Picture]:
    """Draw the shares of a part at one token at a time: a row for each token of a stack."""
    view, trace, patching = token.view, token.trace, swapped.patching
    stack = view.states
    labels = list(trace.source.labels if stack == "encoder" else trace.reads.labels[: token.step + 1])
    if view.exchanged == "tokens":
        what, grids = "this head at this token", _head_grids(patching.head_tokens, stack, labels)
    elif view.exchanged == "forward":
        what, values = "this layer's feed-forward network at this token", patching.feed_forward[stack].T
        grids = [Map("Feed-forward, layer", values, labels, [str(layer + 1) for layer in range(values.shape[1])])]
    else:
        what, values = "the state of this token after this layer", patching.states[stack].T
        grids = [Map("State, layer", values, labels, ["emb.", *(str(layer) for layer in range(1, values.shape[1]))])]

    def draw(theme: str, across: int) -> Drawing:
        return maps(grids, theme, _scale(swapped), across=across)

    draw_picture(draw, 590, key="why-tokens")
    rows: list[Row] = [
        {"Stack": stack, "Part": f"{grid.name} {column}", "Token": label, "Share": float(grid.values[i, j])}
        for grid in grids
        for j, column in enumerate(grid.columns)
        for i, label in enumerate(labels)
    ]
    shares = [float(row["Share"] or 0.0) for row in rows]
    at = int(np.nanargmax(np.abs(shares)))
    largest = f"“{literal(str(rows[at]['Token']))}”, {str(rows[at]['Part']).lower()}: {percent(shares[at], 0)}"
    st.caption(
        f"{term('restored', 'Per cent of the difference')} that {WORDING[patching.direction].changes} when {what} "
        f"alone is {'that of the true run' if patching.direction == 'denoise' else 'as for the other sentence'}. "
        + (f"Largest: {largest}." if round(100 * shares[at]) else "None does much alone.")
    )
    title = f"{EXCHANGED[view.exchanged]} {WORDING[patching.direction].exchanged} at one token"
    return [Picture(title, draw, rows, 590)]


def _head_grids(by_site: Mapping[Site, np.ndarray], stack: str, labels: list[str]) -> list[Map]:
    """Return a grid of tokens and heads for each kind of attention in a stack, of the heads that were exchanged."""
    grids = []
    for kind, name in KIND_NAMES.items():
        columns = {
            f"{site.layer + 1}.{head + 1}": shares[head]
            for site, shares in by_site.items()
            for head in _finite(shares)
            if kind_of(site) == kind and site.stack == stack
        }
        if columns:
            grids.append(Map(f"{name}, head", np.stack(list(columns.values()), 1), labels, list(columns)))
    return grids


def _finite(shares: np.ndarray) -> list[int]:
    """Return the heads that were exchanged, at some token."""
    return np.flatnonzero(np.isfinite(shares).any(-1)).tolist()


def _of_heads(swapped: Swapped) -> dict[Site, np.ndarray]:
    return swapped.patching.restored or swapped.patching.patterns


def _choose_sentence(token: WrittenToken, cause: Cause | None) -> None:
    """Draw the box of the other sentence, and the menu of words that the grammar proposes."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = cause.text if cause is not None else ""
        sentence_box("The other sentence", text, "corrupted")
        if offered := proposals(token.model, token.trace):
            key = widget_key("proposal")
            st.menu_button("Another word", offered, key=key, on_click=_propose, args=(key,), format_func=literal)


def _propose(key: str) -> None:
    if (text := st.session_state[key]) is not None:
        set_view(corrupted=text)


def _share(swapped: Swapped, at: tuple[Site, int]) -> float:
    return float(_of_heads(swapped)[at[0]][at[1]])


def _maps(shares: Mapping[Kind, np.ndarray], swapped: Swapped, theme: str, across: int) -> Drawing:
    grids = []
    for kind, values in shares.items():
        layers, heads = values.shape
        picks = [[f"{kind} {layer} {head}" for head in range(heads)] for layer in range(layers)]
        grids.append(head_grid(f"{KIND_NAMES[kind]}, head", values, picks))
    chosen = [f"{kind_of(site)} {site.layer} {head}" for site, head in swapped.top]
    drawing = maps(grids, theme, _scale(swapped), chosen=chosen, across=across, cell=38.0)
    plain = [element.replace(' role="button" tabindex="0"', ' role="img"') for element in drawing.elements]
    return drawing._replace(elements=plain)


def _top(swapped: Swapped, theme: str, across: int) -> Drawing:
    rows = [("together", swapped.together, percent(swapped.together, 0))]
    rows += [(head_name(*at), _share(swapped, at), percent(_share(swapped, at), 0)) for at in swapped.top]
    return bars(rows, theme, across=across)


def _compared(alone: float, together: float) -> str:
    how = "their effects add up"
    if abs(together - alone) > 0.02:
        how = "they help each other" if together > alone else "their effects overlap"
    return f"One by one they add up to {percent(alone, 0)}: {how}. "


def _identities(swapped: Swapped) -> None:
    everything, nothing = swapped.patching.everything, swapped.patching.nothing
    holds = abs(everything - 1) < 5e-4 and abs(nothing) < 5e-4
    true_only, swapped_only = swapped.unpaired
    exchanged = WORDING[swapped.patching.direction].exchanged
    mark = "check_circle" if holds else "info" if true_only or swapped_only else "error"
    st.caption(
        f":material/{mark}: "
        + f"Everything {exchanged}: {percent(everything, 1)}. Nothing: {percent(nothing, 1)}."
        + (
            f" The sentences are aligned by the tokens that both have; {len(true_only)} of the true one and "
            f"{len(swapped_only)} of the other have no partner and were left as they are, which is why everything need "
            "not be 100\u00a0%."
            if true_only or swapped_only
            else ""
        )
    )


def _top_rows(swapped: Swapped) -> list[Row]:
    exchanged = WORDING[swapped.patching.direction].exchanged.capitalize()
    rows: list[Row] = [{exchanged: head_name(*at), "Share": _share(swapped, at)} for at in swapped.top]
    return [*rows, {exchanged: "together", "Share": swapped.together}]

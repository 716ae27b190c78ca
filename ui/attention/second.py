"""A second sentence, read by the same head: its box, and the two pictures side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.analysis.compared import LabelledPattern, PatternPair, compared
from headlight.formatting import minus
from headlight.importers.examples import examples
from transformer import Translator
from ui.attention.large import large_head
from ui.attention.picture import Panel, ShownTrace, panel, shown_trace
from ui.attention.view import MAX_NAMED_HEADS, AttentionView
from ui.state.view import reseed, update
from ui.viewer import big_head
from ui.widgets.choose import choose
from ui.widgets.errors import plain_errors
from ui.widgets.sentence import token_strip
from ui.widgets.sentence_box import sentence_box
from ui.widgets.text import literal

COMPARE = {"sides": "Side by side", "difference": "Difference"}
MAX_DIFFERENCES = 6  # differences that are listed


def second_sentence(
    name: str, model: Translator, text: str, view: AttentionView, below: DeltaGenerator, container: DeltaGenerator
) -> ShownTrace | None:
    """Draw the box of a second sentence and its translation in `container`.

    Before it is opened there is a button in `below` instead.
    """
    if view.second is None:
        below.button(
            "Compare with a second sentence",
            icon=":material/compare:",
            key="second-open",
            type="tertiary",
            help="Shows the same head for two sentences beside each other.",
            on_click=_open,
            args=(closest(text, (example.text for example in examples(model.card))),),
        )
        return None
    source, target = container.columns([5, 6], gap="medium")
    with source, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        sentence_box("Second sentence", view.second, "second")
        st.button("Close", icon=":material/close:", key="second-close", help="Show one sentence", on_click=_close)
    with target, plain_errors():
        other = shown_trace(name, view.second, replace(view, target=None))
        st.caption(f"{model.card.get('target', 'Translation')}, written by the model")
        token_strip(other.trace, model)
        return other
    return None


def _open(text: str) -> None:
    update(second=text)
    reseed()


def _close() -> None:
    update(second=None)


def closest(text: str, candidates: Iterable[str]) -> str:
    """Return the sentence of the others that shares most words with the text; the text itself where there is none."""
    words = text.split()
    different = [other for other in candidates if other != text]
    return max(different, key=lambda other: SequenceMatcher(None, words, other.split()).ratio(), default=text)


def compare(shown: ShownTrace, second: ShownTrace, view: AttentionView, large: Panel) -> None:
    """Draw the chosen head in both sentences, side by side or as a difference, and where it differs most."""
    both = side_by_side(second, view, large)
    sides = [LabelledPattern(side.cells, side.layout.rows, side.layout.columns, side.layout.masked) for side in both]
    pair = compared(*sides)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{large.title} in both sentences**")
        st.space("stretch")
        choose(view, "compare", "Compare", COMPARE, hide_label=True)
    if view.compare == "difference":
        left, right = st.columns(2, gap="medium")
        with left:
            _difference(pair, large)
        with right:
            _largest(pair, large.name)
    else:
        left, right = st.columns(2, gap="medium")
        with left:
            large_head(both[0], view, title="First sentence", partner=both[1])
            checks(shown)
        with right:
            large_head(both[1], view, key="head-second", title="Second sentence", first=False, partner=both[0])
            checks(second)
        _largest(pair, large.name)


def side_by_side(second: ShownTrace, view: AttentionView, large: Panel) -> tuple[Panel, Panel]:
    """Draw the head of the first sentence and of the second on one scale."""
    same = replace(view, layer=large.layer + 1, head=large.head + 1)
    other = panel(second, same, second.measured(view.kind, view.words, view.hide)[0])
    limit = max(large.limit, other.limit)
    return replace(large, limit=limit), replace(other, limit=limit)


def _difference(pair: PatternPair, large: Panel) -> None:
    if not pair.rows or not pair.columns:
        st.info("The two sentences have no tokens in common, so there is nothing to subtract.")
        return
    big_head(
        pair.difference,
        pair.rows,
        pair.columns,
        pair.masked,
        key="head-difference",
        peak=float(np.abs(pair.difference).max()) or 1.0,
        signed=True,
        name=large.name,
        title=("Second sentence minus first", large.note),
        before=pair.first,
    )
    for which, tokens in zip(("first", "second"), pair.left_out, strict=True):
        if tokens:
            named = ", ".join(literal(token) for token in tokens[:MAX_NAMED_HEADS])
            more = f" and {len(tokens) - MAX_NAMED_HEADS} more" if len(tokens) > MAX_NAMED_HEADS else ""
            st.caption(f"Only in the {which} sentence, so not in the picture: {named}{more}.")


def _largest(pair: PatternPair, name: str) -> None:
    """Say where the two sentences differ most, in a sentence and as a table."""
    changes = pair.largest(MAX_DIFFERENCES)
    if not changes or not changes[0].difference:
        return
    most = changes[0]
    st.markdown(
        f"The largest difference: **{literal(most.row)}** looks at **{literal(most.column)}** with a {name} of "
        f"{most.first:.2f} in the first sentence and {most.second:.2f} in the second."
    )
    rows = "\n".join(
        f"| {literal(change.row)} looks at {literal(change.column)} | {change.first:.3f} | {change.second:.3f} | "
        f"{minus(f'{change.difference:+.3f}')} |"
        for change in changes
    )
    st.markdown(f"| Largest differences | First | Second | Difference |\n|:---|---:|---:|---:|\n{rows}")


def checks(shown: ShownTrace) -> None:
    """Draw which checks of a trace hold, and what each says."""
    with plain_errors():  # they are made here, within a fragment, whose errors Streamlit would show as they are
        hold = sum(check.holds for check in shown.checks)
        icon = ":material/check_circle:" if hold == len(shown.checks) else ":material/error:"
        with st.popover(f"Checks: {hold} of {len(shown.checks)} hold", icon=icon, type="tertiary"):
            for check in shown.checks:
                mark = ":material/check:" if check.holds else ":material/close:"
                st.markdown(f"{mark} **{check.name}.** {check.detail}")

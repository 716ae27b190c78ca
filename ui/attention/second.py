"""A second sentence, read by the same head: its box, and the two pictures side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.analysis.compared import LabelledPattern, PatternPair, compared
from headlight.analysis.head_changes import MAX_NAMED_HEADS
from headlight.formatting import minus
from headlight.importers.examples import examples
from headlight.language import gettext, translatable
from transformer import Translator
from ui.attention.large import large_head
from ui.attention.picture import Panel, ShownTrace, panel, shown_trace
from ui.attention.view import AttentionView
from ui.state.view import set_view, update
from ui.viewer import big_head
from ui.widgets.controls import choose
from ui.widgets.errors import plain_errors
from ui.widgets.sentence import TRANSLATION, token_strip
from ui.widgets.sentence_box import sentence_box
from ui.widgets.text import literal

COMPARE = {"sides": translatable("Side by side"), "difference": translatable("Difference")}
MAX_DIFFERENCES = 6  # differences that are listed


def second_sentence(
    name: str, model: Translator, text: str, view: AttentionView, below: DeltaGenerator, container: DeltaGenerator
) -> ShownTrace | None:
    """Draw the box of a second sentence and its translation in `container`.

    Before it is opened there is a button in `below` instead.
    """
    if view.second is None:
        below.button(
            gettext("Compare with a second sentence"),
            icon=":material/compare:",
            key="second-open",
            type="tertiary",
            help=gettext("Shows the same head for two sentences beside each other."),
            on_click=set_view,
            kwargs={"second": closest(text, (example.text for example in examples(model.card)))},
        )
        return None
    source, target = container.columns([5, 6], gap="medium")
    with source, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        sentence_box(gettext("Second sentence"), view.second, "second")
        help = gettext("Show one sentence")
        st.button(gettext("Close"), icon=":material/close:", key="second-close", help=help, on_click=_close)
    with target, plain_errors():
        other = shown_trace(name, view.second, replace(view, target=None))
        st.caption(
            gettext("{language}, written by the model", language=gettext(str(model.card.get("target", TRANSLATION))))
        )
        token_strip(other.trace, model)
        return other
    return None


def _close() -> None:
    update(second=None)


def closest(text: str, candidates: Iterable[str]) -> str:
    """Return the candidate that shares most words with the text; the text itself where there is no other."""
    words = text.split()
    different = [candidate for candidate in candidates if candidate != text]
    return max(different, key=lambda sentence: SequenceMatcher(None, words, sentence.split()).ratio(), default=text)


def compare(traces: ShownTrace, second: ShownTrace, view: AttentionView, large: Panel) -> None:
    """Draw the chosen head in both sentences, side by side or as a difference, and where it differs most."""
    both = side_by_side(second, view, large)
    sides = [LabelledPattern(side.cells, side.layout.rows, side.layout.columns, side.layout.masked) for side in both]
    pair = compared(*sides)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{gettext('{head} in both sentences', head=large.title)}**")
        st.space("stretch")
        names = {name: gettext(text) for name, text in COMPARE.items()}
        choose(view, "compare", gettext("Compare"), names, hide_label=True)
    if view.compare == "difference":
        left, right = st.columns(2, gap="medium")
        with left:
            _difference(pair, large)
        with right:
            _largest(pair, large.name)
    else:
        left, right = st.columns(2, gap="medium")
        with left:
            large_head(both[0], view, title=gettext("First sentence"), partner=both[1])
            checks(traces)
        with right:
            title = gettext("Second sentence")
            large_head(both[1], view, key="head-second", title=title, first=False, partner=both[0])
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
        st.info(gettext("The two sentences have no tokens in common, so there is nothing to subtract."))
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
        title=(gettext("Second sentence minus first"), large.note),
        before=pair.first,
    )
    only = (
        translatable("Only in the first sentence, so not in the picture: {tokens}."),
        translatable("Only in the second sentence, so not in the picture: {tokens}."),
    )
    for text, tokens in zip(only, pair.left_out, strict=True):
        if tokens:
            named = ", ".join(literal(token) for token in tokens[:MAX_NAMED_HEADS])
            if len(tokens) > MAX_NAMED_HEADS:
                named = gettext("{tokens} and {number} more", tokens=named, number=len(tokens) - MAX_NAMED_HEADS)
            st.caption(gettext(text, tokens=named))


def _largest(pair: PatternPair, name: str) -> None:
    """Say where the two sentences differ most, in a sentence and as a table."""
    changes = pair.largest(MAX_DIFFERENCES)
    if not changes or not changes[0].difference:
        return
    most = changes[0]
    st.markdown(
        gettext(
            "The largest difference: **{query}** looks at **{key}** with a {weight} of {first} in the first sentence "
            "and {second} in the second.",
            query=literal(most.row),
            key=literal(most.column),
            weight=name,
            first=minus(f"{most.first:.2f}"),
            second=minus(f"{most.second:.2f}"),
        )
    )
    rows = "\n".join(
        f"| {gettext('{query} looks at {key}', query=literal(change.row), key=literal(change.column))} | "
        f"{minus(f'{change.first:.3f}')} | {minus(f'{change.second:.3f}')} | {minus(f'{change.difference:+.3f}')} |"
        for change in changes
    )
    head = gettext("| Largest differences | First | Second | Difference |")
    st.markdown(f"{head}\n|:---|---:|---:|---:|\n{rows}")


def checks(traces: ShownTrace) -> None:
    """Draw which checks of a trace hold, and what each says."""
    with plain_errors():  # they are made here, within a fragment, whose errors Streamlit would show as they are
        hold = sum(check.holds for check in traces.checks)
        icon = ":material/check_circle:" if hold == len(traces.checks) else ":material/error:"
        text = gettext("Checks: {number} of {all} hold", number=hold, all=len(traces.checks))
        with st.popover(text, icon=icon, type="tertiary"):
            for check in traces.checks:
                mark = ":material/check:" if check.holds else ":material/close:"
                st.markdown(f"{mark} **{check.name}.** {check.detail}")

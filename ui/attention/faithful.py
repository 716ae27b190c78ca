"""Agreement of attention, in this sentence, with the effect of removing a word; computed on request."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from weakref import ref

import numpy as np
import streamlit as st

from headlight.analysis.atlas import Faithfulness, faithfulness, parts_of
from headlight.analysis.head_changes import describe_changes
from headlight.formatting import signed
from headlight.glossary import explained
from headlight.language import gettext, localized, ngettext
from ui.attention.picture import ShownTrace
from ui.state.queue import TURNS
from ui.state.view import widget_key
from ui.widgets.errors import plain_errors


def faithful(traces: ShownTrace) -> None:
    """Draw a line with the numbers, or the button that computes them, which takes about as long as translating."""
    stored = st.session_state.get("faithful")
    if stored is not None and stored[0] == _key(traces):
        # Imported late: behind it are the grammars, for which the first page would wait a fifth of a second.
        from ui.state.atlases import shipped

        st.caption(f"{_caption(stored[1], traces)} {word_agreement_over_corpus(shipped(traces.name))}".rstrip())
        return
    st.button(
        gettext("Does attention agree with removing words?"),
        icon=":material/difference:",
        key=widget_key("faithful"),
        type="tertiary",
        help=gettext(
            "Removes each word of the source in turn, and compares how much less likely the translation becomes with "
            "how much cross-attention the word gets."
        ),
        on_click=_measure,
        args=(traces,),
    )


def _key(traces: ShownTrace) -> Hashable:
    # Not the model itself, which the session would keep alive; nor its id, which another gets when it is gone.
    return tuple(traces.plain.source.ids), tuple(traces.plain.target.ids), ref(traces.model), traces.changes


def _measure(traces: ShownTrace) -> None:
    """Store the result in the session, for the sentence at hand."""
    source, target = traces.plain.source.ids, traces.plain.target.ids
    words = parts_of(traces.model.checkpoint.source_tokenizer, source)
    with plain_errors(), TURNS.turn(gettext("Does attention agree with removing words?")):
        agreement = faithfulness(traces.model.model, source, target, words, traces.tap)
        st.session_state["faithful"] = _key(traces), agreement


def _caption(agreement: Faithfulness | None, traces: ShownTrace) -> str:
    if agreement is None:
        return gettext("The sentence has too few words for this comparison.")
    if np.isnan(agreement.mean):
        return gettext(
            "All words get the same attention, or removing any has the same effect: there is no order to compare."
        )
    labels = traces.plain.source.labels
    letters = all(len(word) == 1 and len(labels[word[0]]) == 1 for word in agreement.words)
    count = len(agreement.words)
    what = (
        ngettext("{count} letter", "{count} letters", count)
        if letters
        else ngettext("{count} word", "{count} words", count)
    )
    low, high = np.nanmin(agreement.by_head), np.nanmax(agreement.by_head)
    if traces.changes:
        what = gettext("{words}, with {changes}", words=what, changes=describe_changes(traces.changes))
    return explained(
        gettext(
            "Removing each of the {words} in turn: the effect and the attention that the word gets have a rank "
            "correlation of {mean} (mean of all cross-attention heads; {low} to {high} for single heads). 1 is the "
            "same order, 0 is no relation. This compares whole words over the whole translation; the Why page compares "
            "tokens, for each written token, so its numbers differ.",
            words=what,
            mean=signed(agreement.mean),
            low=signed(low),
            high=signed(high),
        ),
        "rank correlation",
        "cross-attention",
    )


def word_agreement_over_corpus(facts: dict[str, Any] | None) -> str:
    """Say how far attention agrees over the corpus that was measured with the model; "" where none was."""
    mean = facts["agreement"]["mean"][0][0] if facts else None
    if facts is None or mean is None:
        return ""
    spread = facts["agreement"]["deviation"][0][0]
    return gettext(
        "Over {sentences} sentences of {corpus}, with all heads on, it is {mean} ± {spread}.",
        sentences=facts["sampled"],
        corpus=facts["corpus"],
        mean=signed(mean),
        spread=localized(f"{spread:.2f}"),
    )

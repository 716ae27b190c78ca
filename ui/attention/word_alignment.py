"""The word alignment of the sentence: which source word each written word is linked to, drawn and to be copied."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from headlight.analysis.head_changes import BRIEF_NAMES
from headlight.charts.document import image
from headlight.charts.links import links_picture
from headlight.glossary import explained
from headlight.language import gettext, listed, localized
from ui.attention.picture import Panel, ShownTrace
from ui.attention.roles import corpus_facts
from ui.attention.view import AttentionView
from ui.state.public import without_places
from ui.state.view import widget_key
from ui.state.why_measured import alignment_measured
from ui.widgets.disclosure import draw_when_open
from ui.widgets.text import literal

PICTURE_PIXELS = 388  # pixels of the picture


class _Heads(NamedTuple):
    """Heads of cross-attention, (layer, head) from 0, that align the words, and the rule by which they were chosen."""

    heads: tuple[tuple[int, int], ...]
    is_shifted: bool  # the row that reads the word counts, not the one that writes it
    rule: str
    is_chosen: bool = False  # as the head that is drawn large

    @property
    def names(self) -> str:
        return listed([gettext(BRIEF_NAMES["cross"], layer=layer + 1, head=head + 1) for layer, head in self.heads])


def word_alignment(traces: ShownTrace, view: AttentionView, large: Panel) -> None:
    """Draw an expander with the word alignment by the best heads that are known, or by the chosen head."""
    draw_when_open(gettext("Word alignment"), "word-alignment", _draw, traces, view, large)


def _draw(traces: ShownTrace, view: AttentionView, large: Panel) -> None:
    # Imported late: behind them are the grammars, for which the first page would wait a fifth of a second.
    from headlight.analysis.word_alignment import word_alignment
    from headlight.corpora.pharaoh import format_links

    choices = _choices(traces, view, large)
    if not choices:
        st.caption(gettext("No heads are known to align words in this model: choose a head of cross-attention."))
        return
    chosen = choices[0]
    if len(choices) > 1:
        chosen = st.selectbox(
            gettext("Heads"),
            choices,
            format_func=lambda heads: (
                gettext("{heads}, chosen here", heads=heads.names) if heads.is_chosen else heads.names
            ),
            key=widget_key(f"aligning-{choices[1].names}"),
            width=320,
        )
    alignment = word_alignment(traces.trace, chosen.heads, chosen.is_shifted)
    if chosen.is_shifted:
        text = gettext(
            "Each word of the translation is linked to the source word that gets most weight from {heads} in the next "
            "row, which reads the word.",
            heads=chosen.names,
        )
    else:
        text = gettext(
            "Each word of the translation is linked to the source word that gets most weight from {heads} in the row "
            "that writes the word.",
            heads=chosen.names,
        )
    st.caption(f"{text} {chosen.rule}")
    if not alignment.links:
        st.caption(gettext("These heads give no source word any weight."))
        return
    links = ", ".join(f"{alignment.source[i]} – {alignment.target[j]}" for i, j in alignment.links)
    says = gettext("Word alignment: {links}", links=links)
    theme = st.context.theme.type or "light"
    drawing = links_picture(alignment.source, alignment.target, alignment.links, theme, PICTURE_PIXELS, says)
    st.html(f'<div class="drawings">{image(drawing)}</div>')
    st.code(format_links(alignment.links), language=None, wrap_lines=True)
    st.caption(
        gettext(
            "The links in the Pharaoh format: a word of the source, a hyphen and a word of the translation, numbered "
            "from 0 as in the picture."
        )
    )


def _choices(traces: ShownTrace, view: AttentionView, large: Panel) -> list[_Heads]:
    """Return the heads that may align the words: the best that are known first, then the chosen head."""
    best = _measured(traces) or _of_role(traces)
    choices = [best] if best else []
    if view.kind == "cross" and (best is None or best.heads != ((large.layer, large.head),)):
        rule = gettext("It is the head that is chosen above, which need not align words.")
        choices.append(_Heads(((large.layer, large.head),), False, rule, True))
    return choices


def _measured(traces: ShownTrace) -> _Heads | None:
    """Return the sum of heads that `headlight align` found best for the model."""
    facts = alignment_measured(traces.name)
    if facts is None:
        return None
    best, shape = facts["best_sum"], traces.trace.pattern("cross").shape
    heads = tuple((int(head["layer"]) - 1, int(head["head"]) - 1) for head in best["heads"])
    if not heads or not all(0 <= layer < shape[0] and 0 <= head < shape[1] for layer, head in heads):
        return None
    rate = {name: localized(f"{float(best['second_half'][name]):.3f}") for name in ("rate", "low", "high")}
    rule = gettext(
        "Of all sums of heads that were tried, this one has the lowest alignment error rate on one half of the "
        "sentences of {corpus}; on the other half it is {rate} ({low} to {high}).",
        corpus=literal(without_places(str(facts["data"]))),
        **rate,
    )
    return _Heads(heads, best["row"] == "read", explained(rule, "alignment error rate"))


def _of_role(traces: ShownTrace) -> _Heads | None:
    """Return the head that aligns best over the corpus that was measured, where one has that role."""
    from ui.state.atlases import known_roles

    roles = known_roles(traces.name)
    clearest = {} if roles is None else roles.clearest
    candidates = [(measure, clearest[measure]) for measure in ("alignment", "reading") if measure in clearest]
    if roles is None or not candidates:
        return None
    measure, ((_, layer, head), _) = max(candidates, key=lambda entry: entry[1][1].value)
    rule = gettext("Over {count} sentences of {corpus}, no head aligns better.", **corpus_facts(roles))
    return _Heads(((layer, head),), measure == "reading", rule)

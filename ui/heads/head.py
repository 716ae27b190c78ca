"""The chosen head: its names with the numbers that support them, every measure, and two sentences."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import streamlit as st

from headlight.analysis.atlas import Atlas
from headlight.analysis.atlas.reading import PRONOUN_MEASURES
from headlight.analysis.atlas.report import History
from headlight.analysis.atlas.roles import ROLE_RULE, RankedSentence, Role, compared, extreme_sentences, roles, since
from headlight.analysis.measures import Measure
from headlight.graphemes import shortened
from transformer.trace import Kind
from ui.heads.payload import head_name, present, value_text
from ui.heads.view import HeadsView
from ui.state.view import set_view
from ui.widgets.pages import PAGES, switch_page

MAX_COLUMNS = 90  # columns of a sentence


def chosen_head(atlas: Atlas, view: HeadsView) -> tuple[int, int]:
    """Return (layer, head) from 0: the view's where it exists, else one that finds antecedents, or the clearest."""
    n_layers, n_heads = atlas.heads[view.kind]["entropy"].mean.shape
    if view.layer and view.head and view.layer <= n_layers and view.head <= n_heads:
        return view.layer - 1, view.head - 1
    every = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]

    def clearest(index: tuple[int, int]) -> tuple[bool, float]:
        head_roles = roles(atlas, view.kind, *index)
        return max(((role.kind.measure in PRONOUN_MEASURES, role.value) for role in head_roles), default=(False, 0.0))

    return max(every, key=clearest)


def chosen_measure(atlas: Atlas, kind: Kind, index: tuple[int, int], view: HeadsView) -> str:
    """Return the measure whose sentences are shown: the view's, else that of the head's role, else the entropy."""
    if view.measure in atlas.heads[kind]:
        return str(view.measure)
    measures = [role.kind.measure for role in roles(atlas, kind, *index)]
    return next((name for name in measures if name in PRONOUN_MEASURES), next(iter(measures), "entropy"))


def head(atlas: Atlas, history: History, view: HeadsView, index: tuple[int, int], measure: str) -> None:
    kind = view.kind
    st.markdown(f"**{head_name(kind, *index)}**")
    if not atlas.heads[kind]["entropy"].sentences[index]:
        st.markdown(":gray[This head was pruned: the model has no such head any more.]")
        return
    head_roles = roles(atlas, kind, *index)
    for role in head_roles:
        st.markdown(f":material/label: {_sentence(role, history, kind, index)}")
    if not head_roles:
        st.markdown(":gray[No name: no measure here shows clearly what it does.]", help=ROLE_RULE)
    sentences, numbers = st.tabs(["In sentences", "In numbers"])
    with sentences:
        _examples(atlas, kind, index, measure)
    with numbers:
        _numbers(atlas, kind, index)


def since_step(role: Role, history: History, kind: Kind, index: tuple[int, int]) -> int | None:
    """Return the first snapshot from which on the head has this role; None where the last one lacks it."""
    names = [{role_then.name for role_then in roles(then, kind, *index)} for _, then in history]
    return since([step for step, _ in history], names, role.name)


def _sentence(role: Role, history: History, kind: Kind, index: tuple[int, int]) -> str:
    text, step = str(role), since_step(role, history, kind, index)
    if history:
        text += f"; since step {step:,} of its training" if step is not None else "; not in earlier snapshots"
    return text[0].upper() + text[1:] + "."


def _examples(atlas: Atlas, kind: Kind, index: tuple[int, int], measure: str) -> None:
    """Draw the sentence with the best value of the measure, and the one with the worst where the values differ."""
    (entry,) = (entry for entry in present(atlas, kind) if entry.name == measure)
    examples = ends(entry, extreme_sentences(atlas, kind, *index, measure))
    sentences = ", the same in every sentence" if len(examples) == 1 else ", sentence by sentence"
    st.caption(f"{entry.label}{sentences}", help=entry.meaning)
    for label, sentence, value in examples:
        pair = atlas.examples.get(sentence)
        if pair is None:
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            help = "Opens this head on the Attention page with this sentence and its translation."
            if st.button(label, icon=":material/grid_view:", key=f"heads-open-{label}", help=help):
                layer, head = index
                set_view(text=pair.source, target=pair.target, kind=kind, layer=layer + 1, head=head + 1)
                switch_page(PAGES[0].script, "Choose Attention in the menu.")
            st.html(
                f'<div class="translated-sentence"><b>{value}</b> '
                f"<bdi>{html.escape(shortened(pair.source, MAX_COLUMNS))}</bdi>"
                f'<div dir="auto" class="faint">{html.escape(shortened(pair.target, MAX_COLUMNS))}</div></div>'
            )


def ends(measure: Measure, best_and_worst: tuple[RankedSentence, RankedSentence]) -> list[tuple[str, int, str]]:
    """Return label, index in the corpus and value of the best and the worst sentence.

    Only one sentence is returned if both values read the same.
    """
    best, worst = ("Best sentence", "Worst sentence") if measure.unit == "share" else ("Highest", "Lowest")
    texts = [value_text(measure, ranked.value) for ranked in best_and_worst]
    if texts[0] == texts[1]:
        return [("A sentence", best_and_worst[0].position, texts[0])]
    return [(best, best_and_worst[0].position, texts[0]), (worst, best_and_worst[1].position, texts[1])]


def _numbers(atlas: Atlas, kind: Kind, index: tuple[int, int]) -> None:
    """Draw every measure with its spread over sentences, its baseline, and the number of sentences."""
    table: dict[str, list[Any]] = {"Measure": [], "Mean": [], "Spread": [], "Baseline": [], "Count": []}
    for measure in present(atlas, kind):
        spread = atlas.heads[kind][measure.name]
        mean = float(spread.mean[index])
        if np.isnan(mean):
            continue
        against = compared(atlas, kind, measure.name)
        table["Measure"].append(measure.label)
        table["Mean"].append(value_text(measure, mean))
        table["Spread"].append(f"± {value_text(measure, float(spread.deviation[index]))}")
        table["Baseline"].append("" if against is None else value_text(measure, against.value))
        table["Count"].append(f"{int(spread.units[index]):,}")
    st.dataframe(
        table,
        hide_index=True,
        key="heads-numbers",
        alt=f"Every measure of {head_name(kind, *index)} with its spread over sentences.",
        height=min(25 * (len(table["Mean"]) + 1) + 14, 320),
        row_height=25,
        column_config={
            "Measure": st.column_config.TextColumn(width=104),
            "Mean": st.column_config.TextColumn(width=62),
            "Spread": st.column_config.TextColumn(width=68, help="Standard deviation over sentences."),
            "Baseline": st.column_config.TextColumn(
                width=62,
                help="Chance: uniform attention. For antecedents, how often the better of two rules is right: the "
                "nearest noun before the pronoun, and the first noun of the sentence.",
            ),
            "Count": st.column_config.TextColumn(width=58, help="How many sentences, words or pronouns are counted."),
        },
    )

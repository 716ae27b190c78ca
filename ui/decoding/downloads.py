"""Downloads: the tree as PNG, SVG and PDF, the steps as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import streamlit as st

from headlight.language import ORIGINAL_LANGUAGE, current, gettext, localized, within
from transformer import Translator
from transformer.decoding import Decoding
from ui.decoding.payload import output_text, settings
from ui.decoding.player import horizon
from ui.decoding.search import Search, TracedHypothesis
from ui.decoding.tree_svg import tree_svg
from ui.decoding.view import Branch, DecodingView
from ui.widgets.figures import download, figure_buttons, file_stem, sentence_facts


def export(
    name: str,
    text: str,
    model: Translator,
    search: Search,
    branches: Sequence[tuple[Branch | None, TracedHypothesis]],
    view: DecodingView,
) -> None:
    """Draw the menu with every download; a file is made when its button is pressed."""
    menu = st.popover(gettext("Export"), icon=":material/download:", key="export", on_change="rerun")
    if not menu.open:
        return
    # Streamlit keeps what makes a file for as long as the menu is open; none of these files has a weight in it.
    light, lines = search.without_weights, [(branch, line.without_weights) for branch, line in branches]
    with menu:
        if horizon(search, view) is not None:
            text_of_files = gettext("These files hold the whole decode, also what the page hides now.")
            st.caption(f":material/visibility_off: {text_of_files}")
        st.caption(gettext("The tree, as shown") if view.future else gettext("The tree"))
        title = gettext("Every hypothesis of {strategy}", strategy=gettext(search.decoding.strategy.title))
        facts = tree_facts(name, text, model, search)
        figure_buttons(partial(drawing, light, view, title, facts), title, facts, file_stem(name, "tree", text))
        st.caption(gettext("The whole decode"))
        steps = partial(steps_json, text, model, light, lines)
        download(gettext("JSON, every step"), steps, f"{file_stem(name, 'decoding', text)}.json", "application/json")


def tree_facts(name: str, text: str, model: Translator, search: Search) -> dict[str, str]:
    """Return the input and the settings of the decode: name to text."""
    return {
        **sentence_facts(name, model, text, output_text(model, search)),
        gettext("Strategy"): _in_words(search.decoding),
    }


def _in_words(decoding: Decoding) -> str:
    """Return the strategy and its settings: "beam, size 3, length penalty 1", in English shorter than their labels."""
    if current() == ORIGINAL_LANGUAGE:
        return str(decoding)
    parts = [gettext(decoding.strategy.title)]
    for parameter in decoding.strategy.parameters:
        value = decoding.values[parameter.name]
        if value is not None and not (parameter.quiet and value == parameter.default):
            parts.append(f"{within(gettext(parameter.label))} {localized(f'{value:g}')}")
    return ", ".join(parts)


def drawing(search: Search, view: DecodingView, title: str, facts: dict[str, str], theme: str) -> str:
    return tree_svg(
        search.tree, search.labels, title=title, facts=facts, pruned=view.pruned, under=view.under, theme=theme
    )


def steps_json(
    text: str, model: Translator, search: Search, branches: Sequence[tuple[Branch | None, TracedHypothesis]]
) -> str:
    """Return the tree with the candidates of each step, the finished hypotheses, and the branches; ids and names."""
    tree, tokenizer = search.tree, model.checkpoint.target_tokenizer
    answers = search.answers
    nodes: list[dict[str, Any]] = []
    for index, (node, label) in enumerate(zip(tree.nodes, search.labels, strict=True)):
        entry: dict[str, Any] = {**asdict(node), "index": index, "name": label}
        del entry["rows"]
        if index in answers:
            entry["next"] = [
                {
                    "id": c.id,
                    "piece": tokenizer.piece(c.id),
                    "log_prob": c.log_prob,
                    "seen": _finite(c.filtered_log_prob),
                    "node": c.node,
                }
                for c in search.candidates[answers[index]]
            ]
        nodes.append(entry)
    content = {
        "model": str(model.card.get("title", "")),
        "text": text,
        "source": search.source.labels,
        "strategy": settings(search.decoding),
        "longest": tree.bound,
        "hypotheses": [
            {
                "text": tokenizer.decode(tree.ids(i)),
                "ids": tree.ids(i),
                "log_prob": tree.nodes[i].total,
                "score": tree.nodes[i].score,
            }
            for i in tree.hypotheses
        ],
        "nodes": nodes,
        "branches": [
            {
                "branch": str(branch),
                "text": tokenizer.decode(line.ids),
                "ids": line.ids,
                "log_probs": line.log_probs,
                "log_prob": line.log_prob,
                "score": line.score,
                "finished": line.finished,
            }
            for branch, line in branches
            if branch
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


def _finite(log_prob: float) -> float | None:
    """Return None for infinity, which JSON lacks: a token that sampling excludes has no log-probability."""
    return log_prob if log_prob > float("-inf") else None

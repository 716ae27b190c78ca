"""The player and the cards of its branches as Streamlit components, and the events that they send back."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from headlight.analysis import measure
from headlight.analysis.layout import narrowest
from headlight.language import current
from transformer import Translator
from transformer.decoding.strategies import Decoding
from ui.decoding.payload import Start, all_fit, branches_payload, player_payload
from ui.decoding.search import Search, TracedHypothesis, search
from ui.decoding.view import MAX_BRANCHES, NODE_NUMBERS, Branch, DecodingView
from ui.state import models
from ui.state.cache import cached
from ui.state.view import settle, update
from ui.viewer.component import component

_COUNTER = itertools.count()


_PLAYER = component(
    "player",
    "mountPlayer",
    "icons",
    "drawing",
    "candidates",
    "looks",
    "tree",
    "beam",
    "hypotheses",
    "player",
    styles=("decoding",),
)
_BRANCHES = component("branches", "mountBranches", "icons", "drawing", "branches", styles=("decoding",))


def player(name: str, text: str, model: Translator, search: Search) -> None:
    """Draw the sentence as a scrubber, each step's candidates and attention, and the tree of hypotheses."""
    view: DecodingView = st.session_state["view"]
    start = _start(name, text, search, view)
    layer, head = shown_head(search, view)
    settle(layer=layer + 1, head=head + 1)
    all_patterns_fit = all_fit(search.encoder, search.decoder, search.cross)
    only = None if all_patterns_fit else (layer, head)
    payload = _payload(name, text, search.decoding, start, only, current())
    search_without_weights = search.without_weights
    _PLAYER(
        data=payload,
        key="player",
        on_shown_change=lambda: _take_shown(search_without_weights, model),
        on_pick_change=lambda: _take_pick(search_without_weights),
    )


@cached(12, key=models.versioned)
def _payload(
    name: str, text: str, decoding: Decoding, start: Start, only: tuple[int, int] | None, language: str
) -> bytes:
    return player_payload(models.translator(name), search(name, text, decoding), start, only)


def _start(name: str, text: str, search: Search, view: DecodingView) -> Start:
    """Return what the player opens with.

    It is the same as long as only the reader has moved it, so that nothing is sent again.
    """
    occasion = (st.session_state.get("seeds", 0), name, models.version(name), text, search.decoding)
    stored = st.session_state.get("player-start")
    if stored is None or stored[0] != occasion:
        node, end = shown_node(search, view)
        layer, head = shown_head(search, view)
        is_chosen = view.layer is not None or view.head is not None
        start = Start(str(next(_COUNTER)), node, end, layer, head, is_chosen, view.pruned, view.under, view.future)
        stored = st.session_state["player-start"] = (occasion, start)
    start = stored[1]
    assert isinstance(start, Start)
    return start


def shown_node(search: Search, view: DecodingView) -> tuple[int, int]:
    """Return the node whose choice is shown, and the end of the hypothesis that it is shown on."""
    tree = search.tree
    start = tree.find(view.path)
    end = tree.winner if start is None or not view.path else tree.end_of(start)
    path = tree.path(end)
    return path[min(view.step or 1, len(path) - 1)], end


def horizon(search: Search, view: DecodingView) -> int | None:
    """Return the last step that may be seen; None is every one, as it is once the best translation is complete."""
    node, end = shown_node(search, view)
    at_winner = node == end == search.tree.winner
    return None if view.future or at_winner else search.tree.nodes[node].step


def shown_head(search: Search, view: DecodingView) -> tuple[int, int]:
    """Return layer and head from 0: the view's where the decoder has them, else the sharpest of cross-attention."""

    def sharpest() -> tuple[int, int]:
        pattern = search.best.cross
        # Narrow, and at something else than [EOS].
        masked, special = np.zeros(pattern.shape[-2:], bool), np.array(search.source.special)
        return narrowest(measure(pattern, masked, special), masked)

    layers, heads = search.cross.shape[1:3]
    return view.head_within(layers, heads, sharpest)


def _take_shown(search: Search, model: Translator) -> None:
    """Take the reader's position into the view, so that the address has it."""
    selection = st.session_state["player"].get("shown")
    if (fields := shown_fields(selection, search, model)) is not None:
        update(**fields)


def shown_fields(selection: object, search: Search, model: Translator) -> dict[str, Any] | None:
    """Return what the browser sent as fields of the view, or None where it is not valid."""
    tree, stack = search.tree, model.model.config.decoder
    match selection:
        case {
            "node": int(node),
            "end": int(end),
            "layer": int() | None as layer,
            "head": int() | None as head,
            "pruned": bool(pruned),
            "under": str(under),
            "future": bool(future),
        }:
            is_valid = 0 < node < len(tree.nodes) and 0 < end < len(tree.nodes)
            exists = 0 <= (layer or 0) < stack.n_layers and 0 <= (head or 0) < stack.n_heads
            if not (is_valid and exists and under in NODE_NUMBERS):
                return None
            path = () if end == tree.winner else tuple(tree.ids(end))
            chosen = {} if layer is None or head is None else {"layer": layer + 1, "head": head + 1}
            shows = {"pruned": pruned, "under": under, "future": future}
            return {"step": tree.nodes[node].step, "path": path, **shows, **chosen}
    return None


def _take_pick(search: Search) -> None:
    """Start a branch from a candidate that was clicked, or a word that a step is pointed at."""
    view: DecodingView = st.session_state["view"]
    branch = picked(st.session_state["player"].get("pick"), search)
    if branch is not None:
        st.session_state["revealed"] = str(branch)
        other_branches = tuple(other for other in view.branches if other != branch)
        update(branches=(*other_branches, branch)[-MAX_BRANCHES:])


def picked(pick: object, search: Search) -> Branch | None:
    """Return what the browser sent as a branch, or None where it is not valid. It counts heads from 0."""
    match pick:
        case {"answer": int(answer), "id": int(token)} if 0 <= answer < len(search.row_nodes) and token >= 0:
            return Branch((*search.tree.ids(search.row_nodes[answer]), token))
        case {"answer": int(answer), "word": int(word), "heads": [*heads]} if (
            0 <= answer < len(search.row_nodes) and 0 <= word < len(search.source) and len(heads) <= 1_000
        ):
            chosen = [_head(head) for head in heads]
            if None not in chosen:
                ids = tuple(search.tree.ids(search.row_nodes[answer]))
                return Branch(ids, word + 1, tuple(head for head in chosen if head))
    return None


def _head(head: object) -> tuple[int, int | None] | None:
    match head:
        case [int(layer), int(number)] if 0 <= layer < 999 and 0 <= number < 999:
            return layer + 1, number + 1
        case [int(layer), None] if 0 <= layer < 999:
            return layer + 1, None
    return None


def branch_cards(model: Translator, search: Search, lines: Sequence[tuple[Branch | None, TracedHypothesis]]) -> None:
    """Draw the branches side by side, after the original decode; each can be closed."""
    view: DecodingView = st.session_state["view"]
    reveal = st.session_state.pop("revealed", None)
    payload = branches_payload(model, search, lines, shown_head(search, view), reveal)
    _BRANCHES(data=payload, key="branches", on_pick_change=_close)


def _close() -> None:
    view: DecodingView = st.session_state["view"]
    closed: Mapping[str, Any] | None = st.session_state["branches"].get("pick")
    if isinstance(closed, Mapping) and isinstance(closed.get("close"), str):
        update(branches=tuple(branch for branch in view.branches if str(branch) != closed["close"]))

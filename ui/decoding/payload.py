"""A search and its branches as bytes for the browser.

R answers of the model, C candidates of all answers together, N nodes, L layers, H heads, S source tokens, T steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headlight.analysis.reference import branching
from headlight.analysis.search_tree import OUTCOMES
from headlight.language import gettext
from headlight.viewer.packing import MAX_EXACT_WEIGHTS, pack
from transformer import Translator
from transformer.decoding.strategies import Decoding
from transformer.tokenizers import number_duplicates
from ui.decoding.lanes import lanes
from ui.decoding.search import MAX_SHOWN_CANDIDATES, RowPatterns, Search, TracedHypothesis
from ui.decoding.view import Branch, never_written


@dataclass(frozen=True)
class Start:
    """The state that the player opens with; it opens again when `id` changes. Layer and head count from 0.

    `chosen` is False where the page chose the head.
    """

    id: str
    node: int  # whose choice is shown: a node other than [SOS]
    end: int  # the end of the hypothesis that is stepped through
    layer: int
    head: int
    chosen: bool
    pruned: bool
    under: str
    future: bool


class StringTable:
    """A table in which each different string is stored once; calling it with a string returns the string's index."""

    def __init__(self) -> None:
        self.indices: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.indices.setdefault(text, len(self.indices))


def settings(decoding: Decoding) -> dict[str, Any]:
    """Return the strategy for JSON: its name, what kind it is, and its settings by the fields of a link."""
    strategy = decoding.strategy
    return {
        "name": strategy.name,
        "searches": strategy.searches,
        "draws": strategy.draws,
        "size": decoding.size,
        "penalty": decoding.length_penalty,
        "temperature": decoding.temperature,
        **{parameter.field: decoding.values[parameter.name] for parameter in strategy.parameters},
    }


def output_text(model: Translator, search: Search) -> str:
    """Return what the search ended with."""
    return model.checkpoint.target_tokenizer.decode(search.tree.ids(search.tree.winner))


def player_payload(model: Translator, search: Search, start: Start, only: tuple[int, int] | None) -> bytes:
    """Return the message to player.js: every head, or `only` one (layer and head from 0)."""
    tree, tokenizer, strings = search.tree, model.checkpoint.target_tokenizer, StringTable()
    answers = search.answers
    flat = [candidate for candidates in search.candidates for candidate in candidates]
    header: dict[str, Any] = {
        "start": asdict(start),
        "strategy": settings(search.decoding),
        "normalises": search.normalises,
        "bound": tree.bound,
        "vocabulary": search.vocabulary,
        "steps": search.decoder.shape[-1],
        "top": MAX_SHOWN_CANDIDATES,
        "never": sorted(never_written(model.model.config)),
        "source": number_duplicates(search.source.labels),
        "language": gettext(str(model.card.get("source", "source"))),
        "nodes": {
            "parent": [-1 if node.parent is None else node.parent for node in tree.nodes],
            "step": [node.step for node in tree.nodes],
            "name": [strings(label) for label in search.labels],
            "outcome": [OUTCOMES.index(node.outcome) for node in tree.nodes],
            "answer": [answers.get(index, -1) for index in range(len(tree.nodes))],
            "lane": lanes(tree),
            "lane_unpruned": [-1 if lane is None else lane for lane in lanes(tree, pruned=False)],
        },
        "candidates": {
            "first": np.cumsum([0, *map(len, search.candidates)]).tolist(),
            "id": [candidate.id for candidate in flat],
            "name": [strings(tokenizer.label(candidate.id)) for candidate in flat],
            "node": [-1 if candidate.node is None else candidate.node for candidate in flat],
        },
        "hypotheses": [
            {
                "node": index,
                "text": tokenizer.decode(tree.ids(index)),
                "ended": tree.nodes[index].token == search.eos_id,
                "at_best": tree.at_best(index),
            }
            for index in tree.hypotheses
        ],
        "hides": model.model.config.look_ahead_mask == "applied",
        **_heads(model),
    }
    arrays: dict[str, NDArray[Any]] = {
        "log_prob": np.array([node.log_prob for node in tree.nodes], np.float32),
        "total": np.array([node.total for node in tree.nodes], np.float32),
        "score": np.array([node.score for node in tree.nodes], np.float32),
        "probability": np.exp(np.array([candidate.log_prob for candidate in flat], np.float64)).astype(np.float32),
        "seen": np.exp(np.array([candidate.filtered_log_prob for candidate in flat], np.float64)).astype(np.float32),
    }
    header |= {"only": only, "strings": list(strings.indices)}
    arrays["encoder"] = _chosen(search.encoder, only)
    arrays |= {"decoder": _rows(search.decoder, only), "cross": _rows(search.cross, only)}
    return pack(header, arrays)


def branches_payload(
    model: Translator,
    search: Search,
    lines: Sequence[tuple[Branch | None, TracedHypothesis]],
    head: tuple[int, int],
    reveal: str | None,
) -> bytes:
    """Return the message to branches.js: cards side by side, the first with the original decode.

    `head` is the head to open with, (layer, head) from 0; `reveal` the branch that was asked for last, to scroll to.
    """
    before = lines[0][1]
    partings = [branching(before.ids, line.ids) for _, line in lines]
    left = [any(differs) for differs in zip(*(parting.before_differs for parting in partings), strict=True)]
    only = None if all_fit(*(array for _, line in lines for array in (line.decoder, line.cross))) else head
    cards, arrays = [], {}
    for number, (branch, line) in enumerate(lines):
        parting = partings[number]
        # The step to open at: that of the change; in the original decode, the one at which the latest branch left it.
        at = branch.step - 1 if branch else (lines[-1][0].step - 1 if lines[-1][0] else 0)
        cards.append(
            {
                "branch": str(branch) if branch else None,
                "forced": len(branch.ids) - 1 if branch and branch.word is None else None,
                "word": branch.word - 1 if branch and branch.word is not None else None,
                "heads": _heads_in_words(branch) if branch else "",
                "step": at,
                "tokens": model.checkpoint.target_tokenizer.labels(line.ids),
                "differs": parting.after_differs if branch else left,
                "shared": parting.shared if branch else min(other.shared for other in partings),
                "log_prob": line.log_prob,
                "score": line.score,
                "ended": line.finished,
                "same": branch is not None and line.ids == before.ids,
            }
        )
        arrays[f"p{number}"] = np.exp(np.array(line.log_probs)).astype(np.float32)
        arrays[f"decoder{number}"] = _chosen(line.decoder, only)
        arrays[f"cross{number}"] = _chosen(line.cross, only)
    header = {
        "cards": cards,
        "source": number_duplicates(search.source.labels),
        "normalises": search.normalises,
        "shown": head,
        "only": only,
        "reveal": reveal,
        **_heads(model),
    }
    return pack(header, arrays)


def _heads_in_words(branch: Branch) -> str:
    """Describe which heads a branch changes: "all heads", "layer 2", "layer 3, head 1"."""
    if not branch.heads:
        return gettext("all heads")
    return "; ".join(
        gettext("layer {layer}", layer=layer)
        if head is None
        else gettext("layer {layer}, head {head}", layer=layer, head=head)
        for layer, head in branch.heads
    )


def _heads(model: Translator) -> dict[str, Any]:
    config = model.model.config
    return {
        kind: {"layers": stack.n_layers, "heads": stack.n_heads}
        for kind, stack in (("encoder_heads", config.encoder), ("decoder_heads", config.decoder))
    }


def all_fit(*patterns: np.ndarray | RowPatterns) -> bool:
    """Return whether these heads are few enough for the browser to have all of them."""
    return sum(array.size for array in patterns) <= MAX_EXACT_WEIGHTS


def _rows(patterns: RowPatterns, only: tuple[int, int] | None) -> np.ndarray:
    """Return every row: of all heads in full precision, or of `only` one in half precision."""
    if only is None:
        return np.asarray(patterns)
    _, layers, heads, _ = patterns.shape
    layer, head = min(only[0], layers - 1), min(only[1], heads - 1)
    return patterns.rows(range(patterns.shape[0]), slice(layer, layer + 1), slice(head, head + 1), np.float16)


def _chosen(array: np.ndarray, only: tuple[int, int] | None) -> np.ndarray:
    """Return all heads in full precision, or `only` one in half precision: the last of a stack that lacks it.

    Layers are the first axis, and heads the second.
    """
    if only is None:
        return array
    layer, head = (min(index, size - 1) for index, size in zip(only, array.shape, strict=False))
    return array[layer : layer + 1, head : head + 1].astype(np.float16)

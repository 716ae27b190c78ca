"""A decode as the page shows it: the tree, and the candidates and attention of each forward pass.

R rows that the model computed (the root and each hypothesis that was extended), L layers, H heads, S source tokens,
T steps, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from transformer import Translator
from transformer.decoding import DecodeStep, allowed, tempered
from transformer.decoding.arguments import longest
from transformer.decoding.kept import Kept
from transformer.decoding.tree import Tree, grow
from transformer.taps import Site
from transformer.trace import Tokens
from transformer.translator import describe_tokens
from ui.decoding.strategy import Strategy
from ui.decoding.view import Branch
from ui.state import models
from ui.state.cache import kept

_NONE = np.empty(0, np.float32)
TOP = 6  # candidates that are shown of each distribution, in addition to those that the search kept


class Candidate(NamedTuple):
    """A token that could come next."""

    id: int
    log_prob: float  # its log-probability under the model
    seen: float  # the same after temperature, top-k and top-p
    node: int | None  # where it stands in the tree


@dataclass(frozen=True, eq=False)
class Search:
    """One sentence's decode, with every candidate and every pattern. Arrays can't be written to."""

    source: Tokens
    strategy: Strategy
    tree: Tree
    asked: tuple[int, ...]  # [R] the node that each row continues
    candidates: tuple[tuple[Candidate, ...], ...]  # [R] most probable first
    vocabulary: int  # V
    encoder: np.ndarray  # [L, H, S, S]
    decoder: np.ndarray  # [R, L, H, T]: the newest token's self-attention
    cross: np.ndarray  # [R, L, H, S]

    @property
    def answers(self) -> dict[int, int]:
        """The answer that each node has, by node."""
        return {node: r for r, node in enumerate(self.asked)}

    @property
    def without_weights(self) -> Search:
        """The same with no attention weights, a twentieth of the bytes: for what stays with an open page, such as its
        callbacks and downloads. A long sentence's weights take a hundred megabytes, which only the cache keeps."""
        return replace(self, encoder=_NONE, decoder=_NONE, cross=_NONE)

    @property
    def log_prob_per_token(self) -> float | None:
        """The mean over the best translation; None where it was sampled."""
        end = self.tree.nodes[self.tree.winner]
        return None if self.strategy.name == "sampling" else end.total / end.step


@dataclass(frozen=True, eq=False)
class Line:
    """One hypothesis, and its attention weights: `decoder` [L, H, T, T], `cross` [L, H, T, S]."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    log_prob: float
    score: float
    finished: bool
    decoder: np.ndarray
    cross: np.ndarray

    @property
    def without_weights(self) -> Line:
        """The same with no attention weights, as of a `Search`."""
        return replace(self, decoder=_NONE, cross=_NONE)


def search(name: str, text: str, strategy: Strategy) -> Search:
    """The decode of a sentence, shared by the sessions that ask for the same. Raises ValueError for no sentence."""
    return _search(name, models.version(name), text, strategy)


def line(name: str, text: str, strategy: Strategy, branch: Branch) -> Line:
    """The best hypothesis of a decode that is changed as `branch` says."""
    return _line(name, models.version(name), text, strategy, branch)


def bound_of(model: Translator, source: Sequence[int]) -> int:
    """The most tokens that a sentence may get."""
    return int(longest(model.source_batch([list(source)]), None, model.model.config))


def fitting(model: Translator, source: Sequence[int], branches: Sequence[Branch]) -> list[Branch]:
    """The branches that are possible for this model and sentence."""
    bound = bound_of(model, source)
    return [branch for branch in branches if branch.fits(model.model.config, len(source), bound)]


@kept(20, "Decoding")
def _search(name: str, version: tuple[int, ...], text: str, strategy: Strategy) -> Search:
    model = models.translator(name)
    source = model.encode(text)
    if strategy.name == "sampling":
        steps = _kept(name, version, text).sample(**strategy.drawing)
    else:
        steps = list(strategy.steps(model.prepared, model.source_batch([source])))
    return searched(model, source, strategy, steps)


@kept(20)
def _kept(name: str, version: tuple[int, ...], text: str) -> Kept:
    model = models.translator(name)
    return Kept(model.prepared, model.source_batch([model.encode(text)]))


@kept(60, "Continuing from there")
def _line(name: str, version: tuple[int, ...], text: str, strategy: Strategy, branch: Branch) -> Line:
    model = models.translator(name)
    source = model.encode(text)
    tap_at = branch.tap_at(model.model.config, len(source))
    steps = list(strategy.steps(model.prepared, model.source_batch([source]), branch.ids, tap_at))
    search = searched(model, source, strategy, steps)
    return line_in(search, search.tree.winner, model.model.config.eos_id)


def searched(model: Translator, source: list[int], strategy: Strategy, steps: Sequence[DecodeStep]) -> Search:
    """The steps of one sentence, taken together."""
    bound = bound_of(model, source)
    tree = grow(steps, bound=bound, size=strategy.size, length_penalty=strategy.penalty)
    first = np.cumsum([0, *(len(step.sentences) for step in steps)])  # the answers of each step, one a row
    asked = [0] * int(first[-1])
    for index, node in enumerate(tree.nodes):
        if node.row is not None:
            asked[int(first[node.step]) + node.row] = index
    candidates = [candidate_row for step in steps for candidate_row in _candidates(model, strategy, step)]
    return Search(
        describe_tokens(model.checkpoint.source_tokenizer, source),
        strategy,
        tree,
        tuple(asked),
        tuple(_placed(candidate_row, tree, node) for candidate_row, node in zip(candidates, asked, strict=True)),
        model.model.config.target_vocab_size,
        *_patterns(steps),
    )


def _candidates(model: Translator, strategy: Strategy, step: DecodeStep) -> list[list[Candidate]]:
    """For each row the likeliest tokens, and those that the step considered, most probable first."""
    seen = step.log_probs
    if strategy.name == "sampling" or strategy.temperature != 1:
        seen = tempered(allowed(seen, model.model.config), strategy.temperature, strategy.top_k, strategy.top_p)
    top = step.log_probs.topk(min(TOP, step.log_probs.size(1))).indices
    rows = []
    for row, best in enumerate(top):
        others = step.tokens[step.parents == row]
        ids = torch.cat([best, others[~torch.isin(others, best)]])
        log_probs, as_seen = step.log_probs[row, ids], seen[row, ids]
        order = log_probs.argsort(descending=True, stable=True)
        columns = (ids[order].tolist(), log_probs[order].tolist(), as_seen[order].tolist())
        rows.append([Candidate(*cells, None) for cells in zip(*columns, strict=True)])
    return rows


def _placed(candidates: list[Candidate], tree: Tree, node: int) -> tuple[Candidate, ...]:
    """The candidates after a node, with their places in the tree."""
    places = {tree.nodes[child].token: child for child in tree.children[node]}
    return tuple(candidate._replace(node=places.get(candidate.id)) for candidate in candidates)


def _patterns(steps: Sequence[DecodeStep]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Encoder, decoder and cross, as `Search` holds them."""
    total, length = sum(len(step.sentences) for step in steps), len(steps)
    first = steps[0].patterns
    assert first is not None, "the page records its decodes"
    encoder = np.stack([first[site][0].float().cpu().numpy() for site in sorted(first) if site.stack == "encoder"])
    layers = 1 + max(site.layer for site in first if site.stack == "decoder")
    shape = (total, layers, first[Site("decoder", 0, "cross")].size(1))
    decoder = np.zeros((*shape, length), np.float32)
    cross = np.zeros((*shape, encoder.shape[-1]), np.float32)
    at = 0
    for step in steps:
        assert step.patterns is not None
        rows = slice(at, at := at + len(step.sentences))
        for layer in range(layers):
            own, other = (step.patterns[Site("decoder", layer, kind)] for kind in ("self", "cross"))
            decoder[rows, layer, :, : step.index + 1] = own.float().cpu().numpy()
            cross[rows, layer] = other.float().cpu().numpy()
    for array in (encoder, decoder, cross):
        array.setflags(write=False)
    return encoder, decoder, cross


def line_in(search: Search, end: int, eos_id: int) -> Line:
    """The hypothesis that ends in a node of the tree."""
    path = search.tree.path(end)
    nodes = [search.tree.nodes[index] for index in path[1:]]
    answers = search.answers
    rows = [answers[index] for index in path[:-1]]
    decoder, cross = (array[rows].transpose(1, 2, 0, 3) for array in (search.decoder, search.cross))
    return Line(
        tuple(node.token for node in nodes),
        tuple(node.log_prob for node in nodes),
        nodes[-1].total,
        nodes[-1].score,
        nodes[-1].token == eos_id,
        decoder[..., : len(rows)],
        cross,
    )

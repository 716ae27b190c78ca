"""A decode as the page shows it: the tree, and the candidates and attention of each forward pass.

R rows that the model computed (the root and each hypothesis that was extended), L layers, H heads, S source tokens,
T steps, V target vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from headlight.analysis.resampling import Resampler
from headlight.analysis.search_tree import Tree, grow
from headlight.language import translatable
from transformer import Translator
from transformer.decoding import DecodeStep, allowed, tempered
from transformer.decoding.search import Options, max_lengths
from transformer.decoding.strategies import Decoding
from transformer.taps import Site
from transformer.trace import Tokens
from transformer.translator import describe_tokens
from transformer.yielding import yield_turn
from ui.decoding.view import Branch
from ui.state import models
from ui.state.cache import cached, read_only

_NO_PATTERNS = np.empty(0, np.float32)
MAX_SHOWN_CANDIDATES = 6  # candidates that are shown of each distribution, in addition to those that the search kept


class Candidate(NamedTuple):
    """A token that could be written next."""

    id: int
    log_prob: float  # its log-probability under the model
    filtered_log_prob: float  # the same after temperature, top-k and top-p
    node: int | None  # where it stands in the tree


@dataclass(frozen=True, eq=False)
class RowPatterns:
    """The patterns of each of R rows, stored by step.

    As one array with the width of the last step, a long beam's rows would take twice the memory, and as much again
    while they are copied into it.
    """

    steps: tuple[np.ndarray, ...]  # [N, L, H, K] each, N rows of that step

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The shape of all rows as one array: R, L, H, and the most keys that any has."""
        if not self.steps:
            return 0, 0, 0, 0
        _, layers, heads, keys = self.steps[-1].shape
        return sum(map(len, self.steps)), layers, heads, keys

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return sum(step.nbytes for step in self.steps)

    def rows(
        self, chosen: Sequence[int], layers: slice = slice(None), heads: slice = slice(None), dtype: type = np.float32
    ) -> np.ndarray:
        """Return the `chosen` of the R rows as one array; 0 stands where a row has no key."""
        _, n_layers, n_heads, keys = self.shape
        shape = len(range(n_layers)[layers]), len(range(n_heads)[heads]), keys
        first = np.cumsum([0, *map(len, self.steps)])
        dense: np.ndarray = np.zeros((len(chosen), *shape), dtype)
        for at, row in enumerate(chosen):
            step = int(np.searchsorted(first, row, "right")) - 1
            pattern = self.steps[step][row - first[step], layers, heads]
            dense[at, ..., : pattern.shape[-1]] = pattern
        return dense

    def __array__(self, dtype: type | None = None, copy: bool | None = None) -> np.ndarray:
        return self.rows(range(self.shape[0]), dtype=dtype or np.float32)


@dataclass(frozen=True, eq=False)
class Search:
    """The decode of a sentence, with every candidate and every pattern. Arrays can't be written to."""

    source: Tokens
    decoding: Decoding
    tree: Tree
    labels: tuple[str, ...]  # of the nodes' tokens; the first is the token that the decoder begins with
    eos_id: int
    row_nodes: tuple[int, ...]  # [R] the node that each row continues
    candidates: tuple[tuple[Candidate, ...], ...]  # [R] most probable first
    vocabulary: int  # V
    encoder: np.ndarray  # [L, H, S, S]
    decoder: RowPatterns  # [R, L, H, T]: the newest token's self-attention
    cross: RowPatterns  # [R, L, H, S]

    @property
    def answers(self) -> dict[int, int]:
        """The row of the forward pass that each node has, by node."""
        return {node: r for r, node in enumerate(self.row_nodes)}

    @property
    def without_weights(self) -> Search:
        """Return the search without attention weights, a twentieth of the bytes.

        For what stays with an open page, such as its callbacks and downloads: a long sentence's weights take a hundred
        megabytes, which only the cache keeps.
        """
        return replace(self, encoder=_NO_PATTERNS, decoder=RowPatterns(()), cross=RowPatterns(()))

    @property
    def normalises(self) -> bool:
        """Whether the scores differ from the log-probabilities."""
        return any(node.score != node.total for node in self.tree.nodes)

    @property
    def log_prob_per_token(self) -> float | None:
        """The mean over the best translation; None where it was sampled."""
        end = self.tree.nodes[self.tree.winner]
        return None if self.decoding.strategy.draws else end.total / end.step

    @property
    def best(self) -> TracedHypothesis:
        return self.hypothesis(self.tree.winner)

    def hypothesis(self, end: int) -> TracedHypothesis:
        """Return the hypothesis that ends in a node of the tree."""
        path = self.tree.path(end)
        nodes = [self.tree.nodes[index] for index in path[1:]]
        answers = self.answers
        rows = [answers[index] for index in path[:-1]]
        decoder, cross = (kind.rows(rows).transpose(1, 2, 0, 3) for kind in (self.decoder, self.cross))
        return TracedHypothesis(
            ids=tuple(node.token for node in nodes),
            log_probs=tuple(node.log_prob for node in nodes),
            log_prob=nodes[-1].total,
            score=nodes[-1].score,
            finished=nodes[-1].token == self.eos_id,
            decoder=decoder[..., : len(rows)],
            cross=cross,
        )


@dataclass(frozen=True, eq=False)
class TracedHypothesis:
    """A hypothesis and its attention weights: `decoder` [L, H, T, T], `cross` [L, H, T, S]."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    log_prob: float
    score: float
    finished: bool
    decoder: np.ndarray
    cross: np.ndarray

    @property
    def without_weights(self) -> TracedHypothesis:
        """Return the hypothesis without attention weights, as `Search.without_weights` does."""
        return replace(self, decoder=_NO_PATTERNS, cross=_NO_PATTERNS)


def bound_of(model: Translator, source: Sequence[int]) -> int:
    """Return the maximum number of tokens of a sentence's translation."""
    return int(max_lengths(model.source_batch([list(source)]), None, model.model.config))


def fitting(model: Translator, source: Sequence[int], branches: Sequence[Branch]) -> list[Branch]:
    """Return the branches that are possible for this model and sentence."""
    bound = bound_of(model, source)
    return [branch for branch in branches if branch.fits(model.model.config, len(source), bound)]


@cached(20, translatable("Decoding"), key=models.versioned)
def search(name: str, text: str, decoding: Decoding) -> Search:
    """Decode a sentence; sessions that ask for the same share the result. Raises ValueError for no sentence."""
    model = models.translator(name)
    source = model.encode(text)
    if decoding.strategy.draws:
        steps = iter(_resampler(name, text).sample(**decoding.values))
    else:
        steps = decoding.steps(model.prepared, model.source_batch([source]), record=True)
    return searched(model, source, decoding, steps)


@cached(20, key=models.versioned)
def _resampler(name: str, text: str) -> Resampler:
    model = models.translator(name)
    return Resampler(model.prepared, model.source_batch([model.encode(text)]))


@cached(60, translatable("Continuing from there"), key=models.versioned)
def line(name: str, text: str, decoding: Decoding, branch: Branch) -> TracedHypothesis:
    """Return the best hypothesis of a decode that is changed as `branch` says."""
    model = models.translator(name)
    source = model.encode(text)
    tap_at = branch.tap_at(model.model.config, len(source))
    options: Options = {"prefix": branch.ids, "tap_at": tap_at, "record": True}
    steps = decoding.steps(model.prepared, model.source_batch([source]), **options)
    return searched(model, source, decoding, steps).best


def searched(model: Translator, source: list[int], decoding: Decoding, steps: Iterable[DecodeStep]) -> Search:
    """Collect the steps of one sentence.

    Only what is shown of each step is stored: its log-probabilities, a number per token of the vocabulary, would be
    half of the memory.
    """
    bound = bound_of(model, source)
    candidates: list[list[Candidate]] = []
    counts: list[int] = []
    patterns: list[tuple[np.ndarray, np.ndarray]] = []
    encoder = _NO_PATTERNS

    def reduced() -> Iterator[DecodeStep]:
        nonlocal encoder
        for step in steps:
            yield_turn()
            if step.index == 0:
                encoder = _encoder_patterns(step)
            candidates.extend(_candidates(model, decoding, step))
            counts.append(len(step.sentences))
            patterns.append(_decoder_patterns(step))
            yield step

    tree = grow(reduced(), bound=bound, length_penalty=decoding.length_penalty)
    first = np.cumsum([0, *counts])  # the answers of each step, one a row
    row_nodes = [0] * int(first[-1])
    for index, node in enumerate(tree.nodes):
        for row in node.rows:
            row_nodes[int(first[node.step]) + row] = index
    decoder, cross = (RowPatterns(of_kind) for of_kind in zip(*patterns, strict=True))
    config, checkpoint = model.model.config, model.checkpoint
    return Search(
        source=describe_tokens(checkpoint.source_tokenizer, source),
        decoding=decoding,
        tree=tree,
        labels=tuple(checkpoint.target_tokenizer.labels([config.sos_id, *(node.token for node in tree.nodes[1:])])),
        eos_id=config.eos_id,
        row_nodes=tuple(row_nodes),
        candidates=tuple(_with_nodes(row, tree, node) for row, node in zip(candidates, row_nodes, strict=True)),
        vocabulary=config.target_vocab_size,
        encoder=encoder,
        decoder=decoder,
        cross=cross,
    )


def _candidates(model: Translator, decoding: Decoding, step: DecodeStep) -> list[list[Candidate]]:
    """Return for each row the most probable tokens, and those that the step considered, most probable first."""
    adjusted = step.log_probs
    cuts = {name: value for name, value in decoding.values.items() if name in ("temperature", "top_k", "top_p")}
    if decoding.strategy.draws or decoding.temperature != 1:
        adjusted = tempered(allowed(adjusted, model.model.config), **cuts)
    top = step.log_probs.topk(min(MAX_SHOWN_CANDIDATES, step.log_probs.size(1))).indices
    rows = []
    for row, best in enumerate(top):
        alike = (step.written == step.written[row]).all(1)  # groups of a diverse beam may have written the same
        considered = step.tokens[alike[step.parents]].unique()
        ids = torch.cat([best, considered[~torch.isin(considered, best)]])
        log_probs, as_seen = step.log_probs[row, ids], adjusted[row, ids]
        order = log_probs.argsort(descending=True, stable=True)
        columns = (ids[order].tolist(), log_probs[order].tolist(), as_seen[order].tolist())
        rows.append([Candidate(*cells, None) for cells in zip(*columns, strict=True)])
    return rows


def _with_nodes(candidates: list[Candidate], tree: Tree, node: int) -> tuple[Candidate, ...]:
    """Return the candidates after a node, with their nodes in the tree."""
    children = {tree.nodes[child].token: child for child in tree.children[node]}
    return tuple(candidate._replace(node=children.get(candidate.id)) for candidate in candidates)


def _encoder_patterns(step: DecodeStep) -> np.ndarray:
    """Return the patterns [L, H, S, S] of a decode's first step."""
    assert step.patterns is not None, "the page records its decodes"
    sites = sorted(site for site in step.patterns if site.stack == "encoder")
    return read_only(np.stack([step.patterns[site][0].float().cpu().numpy() for site in sites]))


def _decoder_patterns(step: DecodeStep) -> tuple[np.ndarray, np.ndarray]:
    """Return the newest token's rows: self-attention [N, L, H, T] and cross-attention [N, L, H, S]."""
    patterns = step.patterns
    assert patterns is not None, "the page records its decodes"
    layers = range(1 + max(site.layer for site in patterns if site.stack == "decoder"))
    decoder, cross = (
        read_only(np.stack([patterns[Site("decoder", layer, kind)].float().cpu().numpy() for layer in layers], axis=1))
        for kind in ("self", "cross")
    )
    return decoder, cross

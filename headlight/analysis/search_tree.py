"""A search as a tree: the live and pruned hypotheses, and the outcome of each.

    steps = list(beam(model, src, size=3))
    tree = grow(steps, bound=30, length_penalty=0.6)
    tree.ids(tree.winner)

Greedy decoding and sampling give a tree with a single branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import torch

from transformer.decoding.choosers import penalty
from transformer.decoding.step import DecodeStep, Fate

# From best to worst: a prefix of the winner; of another finished sentence; of one that was still live when the search
# stopped or reached the length limit; dropped at a later step; never live.
Outcome = Literal["winner", "finished", "live", "dropped", "pruned"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True)
class Node:
    """A token that was considered after a prefix."""

    parent: int | None  # its index in `Tree.nodes`; None at [SOS]
    step: int  # tokens after [SOS] up to this one: 0 at [SOS]
    token: int
    log_prob: float  # of this token after that prefix
    total: float  # the sum of `log_prob` from [SOS] on
    score: float  # as `DecodeStep.scores` has it
    outcome: Outcome
    rows: tuple[int, ...] = ()  # of step `step` (from 0) that continue the node; several if groups of a beam agree


@dataclass(frozen=True)
class Tree:
    """The nodes, [SOS] first, step by step, each step's best first. No two nodes have the same prefix and token.

    `bound` is the most tokens that the sentence could have had, and `length_penalty` the exponent of its score.
    """

    nodes: tuple[Node, ...]
    bound: int
    length_penalty: float

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, best first."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            if node.parent is not None:
                children[node.parent].append(index)
        return tuple(map(tuple, children))

    @cached_property
    def hypotheses(self) -> tuple[int, ...]:
        """The last nodes of the sentences that were found, best first: the finished, then those still live."""
        ends = [i for i, node in enumerate(self.nodes) if not self.children[i] and node.outcome in OUTCOMES[:3]]
        return tuple(sorted(ends, key=lambda i: (OUTCOMES.index(self.nodes[i].outcome), -self.nodes[i].score)))

    @property
    def winner(self) -> int:
        """The last node of the best sentence."""
        return self.hypotheses[0]

    def path(self, index: int) -> list[int]:
        """Return the nodes from [SOS] to this one."""
        path = [index]
        while (parent := self.nodes[path[-1]].parent) is not None:
            path.append(parent)
        return path[::-1]

    def ids(self, index: int) -> list[int]:
        """Return the tokens up to this node, without [SOS]."""
        return [self.nodes[i].token for i in self.path(index)[1:]]

    def find(self, ids: Sequence[int]) -> int | None:
        """Return the node that `ids` lead to, or None if the search never considered them."""
        index = 0
        for token in ids:
            following = [i for i in self.children[index] if self.nodes[i].token == token]
            if not following:
                return None
            (index,) = following
        return index

    def end_of(self, index: int) -> int:
        """Return the last node of the best sentence that goes through a node."""
        while self.children[index]:
            index = min(
                self.children[index],
                key=lambda i: (OUTCOMES.index(self.nodes[i].outcome), -self.nodes[i].score),
            )
        return index

    def at_best(self, index: int) -> float:
        """Return the score that no continuation of a node can exceed.

        More tokens only lower the sum, and the penalty that divides it is largest at the bound.
        """
        own_penalty, largest_penalty = (
            float(penalty(torch.tensor(length), self.length_penalty)) for length in (self.nodes[index].step, self.bound)
        )
        return self.nodes[index].score * own_penalty / largest_penalty


def grow(steps: Iterable[DecodeStep], *, bound: int, length_penalty: float = 0.0) -> Tree:
    """Return the tree of a sentence that was decoded by itself, from all steps.

    `length_penalty` is the beam's; `bound` is the most tokens that the sentence could have had. Hypotheses that several
    groups of a diverse beam have in common are one node. Raises ValueError if there are no steps.
    """
    nodes: list[Node] = [Node(None, 0, -1, 0.0, 0.0, 0.0, "dropped")]
    live = [0]
    for step in steps:
        assert len(step.sentences) == len(live), "one sentence at a time"
        for row, index in enumerate(live):
            nodes[index] = replace(nodes[index], rows=(*nodes[index].rows, row))
        parents, live, known = live, [], dict[tuple[int, int], int]()
        log_probs = step.log_probs[step.parents, step.tokens]
        columns = (step.parents, step.tokens, log_probs, step.totals, step.scores, step.fates)
        for row, token, log_prob, total, score, fate in zip(*(column.tolist() for column in columns), strict=True):
            parent, outcome = parents[row], _outcome(fate)
            index = known.setdefault((parent, token), len(nodes))
            if index == len(nodes):
                nodes.append(Node(parent, step.index + 1, token, log_prob, total, score, outcome))
            elif OUTCOMES.index(outcome) < OUTCOMES.index(nodes[index].outcome):
                nodes[index] = replace(nodes[index], outcome=outcome)
            if fate == Fate.LIVE:
                live.append(index)
    if not nodes[0].rows:
        raise ValueError("There are no steps to make a tree of; pass those of a decode that has begun.")
    return Tree(tuple(_with_outcomes(nodes)), bound, length_penalty)


def _outcome(fate: int) -> Outcome:
    """Return the outcome of a node by itself, without its continuations."""
    return "finished" if fate == Fate.FINISHED else "pruned" if fate == Fate.PRUNED else "live"


def _with_outcomes(nodes: list[Node]) -> list[Node]:
    """Return the nodes, each with the best outcome of its continuations, and the best sentence as the winner."""
    parents = {node.parent for node in nodes}
    ends = [i for i in range(len(nodes)) if i not in parents]
    for i in ends:
        if nodes[i].rows:  # the node was live, but none of its continuations was considered
            nodes[i] = replace(nodes[i], outcome="dropped")
    best = min(ends, key=lambda i: (OUTCOMES.index(nodes[i].outcome), -nodes[i].score))
    nodes[best] = replace(nodes[best], outcome="winner")
    after: dict[int, Outcome] = {}
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        if index in after:
            nodes[index] = node = replace(node, outcome=after[index])
        if node.parent is not None:
            passed: Outcome = "dropped" if node.outcome == "pruned" else node.outcome
            after[node.parent] = min(after.get(node.parent, "dropped"), passed, key=OUTCOMES.index)
    return nodes

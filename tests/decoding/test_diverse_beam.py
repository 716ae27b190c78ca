"""Diverse beam search against its definition by full passes, and against plain beam search."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
import torch
from torch import Tensor

from headlight.analysis.search_tree import grow
from tests.decoding_by_hand import EOS, alone, log_prob, network, next_log_probs, penalty, same
from transformer.decoding import Fate, beam, diverse_beam, finish
from transformer.model import Transformer

BOUND = 12


def diverse_by_hand(
    model: Transformer, src: Tensor, sizes: list[int], diversity: float, alpha: float, prefix: list[int]
) -> dict[tuple[int, ...], float]:
    """Return the finished hypotheses of all groups with their scores; where several found one, its best."""
    live = [[(prefix, log_prob(model, src, prefix) if prefix else 0.0)] for _ in sizes]
    finished: list[list[tuple[tuple[int, ...], float]]] = [[] for _ in sizes]
    for length in range(len(prefix) + 1, BOUND + 1):
        chosen: Counter[int] = Counter()
        for group, size in enumerate(sizes):
            grown = [
                ([*ids, token], total + log_probability - diversity * chosen[token])
                for ids, total in live[group]
                for token, log_probability in enumerate(next_log_probs(model, src, ids))
                if log_probability > -torch.inf
            ]
            best = sorted(grown, key=lambda pair: -pair[1])[:size]
            chosen.update(ids[-1] for ids, _ in best)
            ended = [(tuple(ids), total / penalty(length, alpha)) for ids, total in best if ids[-1] == EOS]
            finished[group] = sorted(finished[group] + ended, key=lambda pair: -pair[1])
            live[group] = [pair for pair in best if pair[0][-1] != EOS]
            hope = max((total for _, total in live[group]), default=0.0) / penalty(BOUND, alpha)
            if len(finished[group]) >= size and finished[group][size - 1][1] >= hope:
                live[group] = []
    found: dict[tuple[int, ...], float] = {}
    for ids, score in itertools.chain(*finished):
        found[ids] = max(score, found.get(ids, -torch.inf))
    return found


@pytest.mark.parametrize(
    ("sizes", "diversity", "alpha", "prefix"),
    [([2, 2, 2], 0.5, 0.6, []), ([3, 2], 2.0, 1.0, [5, 4]), ([1, 1, 1, 1], 0.9, 0.0, [])],
)
def test_every_group_finds_what_the_definition_says(model, src, sizes, diversity, alpha, prefix):
    options = {"groups": len(sizes), "diversity": diversity, "length_penalty": alpha, "prefix": prefix}
    steps = list(diverse_beam(model, src, sum(sizes), max_length=BOUND, **options))
    decoded = finish(steps)
    agreeing = 0
    for row in range(len(src)):
        expected = diverse_by_hand(model, alone(src, row), sizes, diversity, alpha, prefix)
        found = {h.ids: h for h in decoded[row] if h.finished}
        assert expected.keys() == found.keys() and len({h.ids for h in decoded[row]}) == len(decoded[row])
        for ids, score in expected.items():
            assert found[ids].score == pytest.approx(score, abs=1e-4)
            assert found[ids].log_prob == pytest.approx(log_prob(model, alone(src, row), ids), abs=1e-4)
        if expected:
            assert decoded[row][0].ids == max(expected, key=lambda ids: expected[ids])
            agreeing += len(expected)
    assert agreeing >= 6
    for step in steps:
        for sentence in set(step.sentences.tolist()):
            assert len(step.having(*set(Fate) - {Fate.PRUNED}, sentence=sentence)) <= sum(sizes)
            assert (step.scores[step.having(*Fate, sentence=sentence)].diff() <= 0).all()


def test_one_group_is_a_beam_and_without_a_penalty_every_group_is(model, src):
    for size, options in ((3, {"groups": 1, "diversity": 2.0}), (6, {"groups": 2, "diversity": 0.0})):
        diverse = finish(diverse_beam(model, src, size, **options))
        assert all(map(same, diverse, finish(beam(model, src, 3))))


def test_more_groups_than_hypotheses_make_each_hypothesis_a_group(model, src):
    assert finish(diverse_beam(model, src, 2, groups=9)) == finish(diverse_beam(model, src, 2, groups=2))


def test_a_penalty_makes_sentences_differ():
    """In their first tokens: with a penalty beyond every difference of probability, no two groups choose the same."""
    src = torch.tensor([[5, 6, 4, EOS]])
    (step, *_) = diverse_beam(network(), src, 4, groups=4, diversity=10.0)
    chosen = step.tokens[step.having(*set(Fate) - {Fate.PRUNED})].tolist()
    assert len(set(chosen)) == len(chosen) == 4
    (step, *_) = diverse_beam(network(), src, 4, groups=4, diversity=0.0)
    assert len(set(step.tokens[step.having(*set(Fate) - {Fate.PRUNED})].tolist())) == 1


@pytest.mark.parametrize("diversity", [0.0, 0.3])
def test_what_groups_have_in_common_is_one_node_of_the_tree(model, src, diversity):
    steps = list(diverse_beam(model, src[:1], 6, groups=3, diversity=diversity, max_length=BOUND))
    tree = grow(steps, bound=BOUND, length_penalty=0.6)
    prefixes = [tuple(tree.ids(i)) for i in range(len(tree.nodes))]
    assert len(set(prefixes)) == len(prefixes)
    rows = {(node.step, row): i for i, node in enumerate(tree.nodes) for row in node.rows}
    for step in steps:
        for row, ids in enumerate(step.written.tolist()):
            assert tree.ids(rows[step.index, row]) == ids
    (hypotheses,) = finish(steps)
    best = [h.ids for h in hypotheses if h.finished]
    assert best == [prefixes[i] for i in tree.hypotheses if tree.nodes[i].token == EOS]
    assert prefixes[tree.winner] == hypotheses[0].ids

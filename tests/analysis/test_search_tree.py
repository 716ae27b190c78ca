"""The tree of a search against brute force by full passes, and sampling from kept steps against a fresh sample."""

from __future__ import annotations

import itertools
from functools import cache

import pytest
import torch
from torch import Tensor

from headlight.analysis.resampling import Resampler
from headlight.analysis.search_tree import OUTCOMES, Tree, grow
from tests.decoding_by_hand import EOS, PAD, SOS, UNK, network, penalty
from transformer.decoding import beam, greedy, sample
from transformer.inference.prepared import Prepared
from transformer.model import Transformer

SRC = torch.tensor([[5, 6, 4, EOS]])
WRITABLE = [UNK, EOS, 4, 5]  # of a vocabulary of 6: [PAD] and [SOS] are never written


@cache
@torch.no_grad()
def next_log_probs(model: Transformer, ids: tuple[int, ...]) -> Tensor:
    """log p of each next token after `ids`, by a full pass without a cache: [V]."""
    logits = model(SRC.clamp(max=model.config.source_vocab_size - 1), torch.tensor([[SOS, *ids]]))
    return logits[0, -1].log_softmax(-1)


def searched(model: Transformer, size: int, alpha: float, longest: int) -> Tree:
    src = SRC.clamp(max=model.config.source_vocab_size - 1)
    steps = list(beam(model, src, size, length_penalty=alpha, max_length=longest))
    return grow(steps, length_penalty=alpha, bound=longest)


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_a_beam_as_wide_as_everything_has_the_scores_of_brute_force(alpha: float) -> None:
    model, longest = network(vocabulary=6), 3
    every: dict[tuple[int, ...], float] = {}
    for length in range(1, longest + 1):
        for ids in itertools.product(WRITABLE, repeat=length):
            if EOS in ids[:-1]:
                continue
            every[ids] = sum(float(next_log_probs(model, ids[:t])[token]) for t, token in enumerate(ids))
    tree = searched(model, 256, alpha, longest)
    ends = [i for i in tree.hypotheses if tree.nodes[i].token == EOS or tree.nodes[i].step == longest]
    nodes = {tuple(tree.ids(i)): tree.nodes[i] for i in ends}
    finished = {ids: total for ids, total in every.items() if ids[-1] == EOS}
    assert {ids for ids in nodes if ids[-1] == EOS} == set(finished)
    for ids, node in nodes.items():
        assert node.total == pytest.approx(every[ids], abs=1e-4)
        assert node.score == pytest.approx(every[ids] / penalty(len(ids), alpha), abs=1e-4)
        assert node.log_prob == pytest.approx(float(next_log_probs(model, ids[:-1])[ids[-1]]), abs=1e-4)
    best = max(finished, key=lambda ids: finished[ids] / penalty(len(ids), alpha))
    assert tuple(tree.ids(tree.winner)) == best


@pytest.mark.parametrize(("size", "alpha"), [(1, 0.0), (2, 0.6), (3, 2.0)])
def test_each_step_considers_what_the_definition_of_a_beam_says(size: int, alpha: float) -> None:
    """Kept and pruned hypotheses come from full passes; the search stops when no live sentence can win."""
    model, longest = network(vocabulary=11, eos_bias=0.0), 9
    tree = searched(model, size, alpha, longest)
    live: dict[tuple[int, ...], float] = {(): 0.0}
    finished: list[float] = []
    for step in range(1, max(node.step for node in tree.nodes) + 1):
        ways = {
            (*ids, token): total + float(value)
            for ids, total in live.items()
            for token, value in enumerate(next_log_probs(model, ids))
            if token not in (PAD, SOS)
        }
        best = sorted(ways, key=ways.__getitem__, reverse=True)[: 2 * size]
        nodes = [i for i, node in enumerate(tree.nodes) if node.step == step]
        assert [tuple(tree.ids(i)) for i in nodes] == best
        assert [tree.nodes[i].total for i in nodes] == pytest.approx([ways[ids] for ids in best], abs=1e-4)
        finished += [ways[ids] / penalty(step, alpha) for ids in best[:size] if ids[-1] == EOS]
        live = {ids: ways[ids] for ids in best[:size] if ids[-1] != EOS}
        pruned = {tuple(tree.ids(i)) for i in nodes if tree.nodes[i].outcome == "pruned"}
        assert pruned == set(best[size:])
    hope = max((total / penalty(longest, alpha) for total in live.values()), default=-torch.inf)
    enough = sorted(finished, reverse=True)[size - 1 : size]
    assert step == longest or (enough and hope <= enough[0] + 1e-6)
    score = tree.nodes[tree.winner].score
    assert score == pytest.approx(max(finished), abs=1e-4) if finished else tree.nodes[tree.winner].step == longest


def test_every_node_has_the_best_outcome_of_what_comes_after_it() -> None:
    tree = searched(network(), 3, 0.6, 12)
    assert {node.outcome for node in tree.nodes} >= {"winner", "dropped", "pruned"}
    for i, node in enumerate(tree.nodes):
        after = [OUTCOMES.index(tree.nodes[child].outcome) for child in tree.children[i]]
        if node.outcome == "pruned":
            assert not node.rows and not after
        elif after:
            assert OUTCOMES.index(node.outcome) == min(min(after), OUTCOMES.index("dropped"))
    assert [i for i, node in enumerate(tree.nodes) if node.outcome == "winner"] == tree.path(tree.winner)


def test_nodes_are_found_by_what_they_wrote_and_lead_to_the_best_end() -> None:
    tree = searched(network(), 3, 0.6, 12)
    for i in range(len(tree.nodes)):
        assert tree.find(tree.ids(i)) == i
        end = tree.end_of(i)
        assert not tree.children[end] and i in tree.path(end)
        assert all(
            tree.at_best(i) >= tree.nodes[j].score - 1e-5 for j in range(i, len(tree.nodes)) if i in tree.path(j)
        )
    assert tree.end_of(0) == tree.winner
    assert tree.find([EOS, EOS]) is None


def test_greedy_and_sampling_have_one_branch() -> None:
    model = network()
    for steps in (list(greedy(model, SRC)), list(sample(model, SRC, seed=3))):
        tree = grow(steps, bound=18)
        assert tree.path(tree.winner) == list(range(len(tree.nodes)))
        assert {node.outcome for node in tree.nodes} == {"winner"}


def test_a_search_that_is_still_going_on_is_live() -> None:
    steps = list(itertools.islice(beam(network(eos_bias=-20), SRC, 2, max_length=9), 3))
    tree = grow(steps, length_penalty=0.6, bound=9)
    assert [tree.nodes[i].step for i in tree.hypotheses] == [3, 3]
    with pytest.raises(ValueError, match="no steps"):
        grow([], bound=9)


class Counted:
    """How often any model decodes."""

    def __init__(self, patch: pytest.MonkeyPatch):
        self.passes, write = 0, Prepared.write_next

        def counting(*arguments: object, **options: object) -> Tensor:
            self.passes += 1
            return write(*arguments, **options)  # type: ignore[arg-type]

        patch.setattr(Prepared, "write_next", counting)


SETTINGS = [
    {"temperature": 1.0, "seed": 3},
    {"temperature": 0.3, "seed": 3},
    {"temperature": 2.0, "seed": 3},
    {"temperature": 1.0, "top_k": 2, "seed": 3},
    {"temperature": 1.0, "top_p": 0.5, "seed": 8},
    {"temperature": 1.0, "seed": 3},
]


def test_sampling_from_kept_steps_is_sampling_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = network()
    kept = Resampler(model, SRC)
    counted = Counted(monkeypatch)
    for settings in SETTINGS:
        again = kept.sample(**settings)  # type: ignore[arg-type]
        fresh = list(sample(model, SRC, record=True, **settings))  # type: ignore[arg-type]
        assert [step.tokens.tolist() for step in again] == [step.tokens.tolist() for step in fresh]
        for one, other in zip(again, fresh, strict=True):
            assert torch.equal(one.totals, other.totals) and torch.equal(one.log_probs, other.log_probs)
            assert one.fates.tolist() == other.fates.tolist() and one.index == other.index
    before = counted.passes
    for settings in SETTINGS:
        kept.sample(**settings)  # type: ignore[arg-type]
    assert counted.passes == before
    held = [[step.log_probs, *(step.patterns or {}).values()] for step in kept.steps.values()]
    assert kept.nbytes == sum(array.nbytes for arrays in held for array in arrays) > 0
    monkeypatch.setattr("headlight.analysis.resampling.MAX_STORED_BYTES", 0)
    kept.sample(temperature=3.0, seed=11)
    assert len(kept.steps) < len(held) and counted.passes > before


def test_another_temperature_asks_nothing_while_the_same_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps before the first different token are reused."""
    model = network()
    kept = Resampler(model, SRC)
    first = kept.sample(temperature=1.0, seed=3)
    counted = Counted(monkeypatch)
    near = kept.sample(temperature=1.0001, seed=3)
    assert counted.passes == 0
    assert [step.tokens.tolist() for step in near] == [step.tokens.tolist() for step in first]
    other = kept.sample(temperature=3.0, seed=3)
    assert counted.passes > 0
    shared = sum(
        1
        for _ in itertools.takewhile(lambda pair: pair[0].tokens.equal(pair[1].tokens), zip(first, other, strict=False))
    )
    assert shared < len(other)
    assert all(a.log_probs is b.log_probs for a, b in zip(first[: shared + 1], other[: shared + 1], strict=True))

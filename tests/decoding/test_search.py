"""Greedy decoding and beam search against their definitions: full passes, brute force, and each sentence alone."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from headlight.analysis.search_tree import grow
from tests.decoding_by_hand import (
    EOS,
    EVERY_WAY,
    PAD,
    SOS,
    UNK,
    alone,
    beam3,
    beam_by_hand,
    greedy_by_hand,
    log_prob,
    network,
    next_log_probs,
    penalty,
    read,
    same,
)
from transformer.decoding import Fate, beam, finish, forced, greedy, rows_of, sample
from transformer.model import Transformer

pytestmark = pytest.mark.device


def test_sentences_of_the_fixture_end_at_different_lengths(model, src):
    lengths = [len(best.ids) for best, *_ in finish(greedy(model, src))]
    assert len(set(lengths)) >= 3, lengths
    assert {best.finished for best, *_ in finish(greedy(model, src, max_length=8))} == {True, False}


@pytest.mark.parametrize(("norm", "positions"), [("pre", "sinusoidal"), ("post", "learned"), ("pre", "none")])
def test_cached_greedy_is_the_argmax_of_full_passes(src, norm, positions):
    model = network(seed=3, norm=norm, positions=positions)
    decoded = finish(greedy(model, src, max_length=12))
    for row, (best,) in enumerate(decoded):
        assert list(best.ids) == greedy_by_hand(model, alone(src, row), 12)


def test_each_step_holds_what_a_full_pass_says(model, src):
    steps = list(greedy(model, src))
    for row, (best,) in enumerate(finish(steps)):
        expected = read(model, alone(src, row), best.ids)
        log_probs = [step.log_probs[i] for step, i in zip(steps, rows_of(steps, row, best.ids), strict=False)]
        torch.testing.assert_close(torch.stack(log_probs), expected, atol=1e-5, rtol=0)
    token, best_log_prob = steps[0].candidates(0, 3)[0]
    assert (token, best_log_prob) == (int(steps[0].log_probs[0].argmax()), float(steps[0].log_probs[0].max()))
    assert len(steps[0].candidates(0, 99)) == model.config.target_vocab_size


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_a_beam_of_one_is_greedy(model, src, alpha):
    decoded = finish(beam(model, src, 1, length_penalty=alpha))
    assert [[h.ids for h in one] for one in decoded] == [[h.ids for h in one] for one in finish(greedy(model, src))]


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_beam_that_holds_everything_is_brute_force(alpha):
    model = network(vocabulary=6, seed=4)
    src = torch.tensor([[4, 5, 5, EOS]])
    (decoded,) = finish(beam(model, src, 1000, length_penalty=alpha, max_length=4))

    words = [UNK, 4, 5]
    everything = [(*ids, EOS) for n in range(4) for ids in itertools.product(words, repeat=n)]
    cut = list(itertools.product(words, repeat=4))
    assert len(decoded) == len(everything) + len(cut)
    for group, finished in ((everything, True), (cut, False)):
        scores = {ids: log_prob(model, src, ids) / penalty(len(ids), alpha) for ids in group}
        ranked = sorted(group, key=lambda ids: -scores[ids])
        hypotheses = [h for h in decoded if h.finished == finished]
        assert [h.ids for h in hypotheses] == ranked
        assert [h.score for h in hypotheses] == pytest.approx([scores[ids] for ids in ranked], abs=1e-5)
    assert [h.finished for h in decoded] == [True] * len(everything) + [False] * len(cut)


@pytest.mark.parametrize(("size", "alpha"), [(2, 0.6), (5, 0.0), (5, 2.0)])
def test_a_beam_that_stops_early_finds_what_one_that_never_stops_does(model, src, size, alpha):
    steps = list(beam(model, src, size, length_penalty=alpha, max_length=14))
    decoded = finish(steps)
    for row in range(len(src)):
        expected = beam_by_hand(model, alone(src, row), size, alpha, 14)[:size]
        best = [h for h in decoded[row] if h.finished][:size]
        assert [list(h.ids) for h in best] == [ids for ids, _ in expected]
        assert [h.score for h in best] == pytest.approx([score for _, score in expected], abs=1e-4)
    # The sentences that were done left the batch; where longer is so much better, hope lasts.
    assert len(steps[-1].sentences.unique()) < len(src) or alpha == 2.0


def tempered_by_hand(model: Transformer, src: Tensor, ids: tuple[int, ...], temperature: float) -> float:
    total = 0.0
    for n, token in enumerate(ids):
        log_probs = torch.tensor(next_log_probs(model, src, list(ids[:n]))) / temperature
        total += (log_probs[token] - log_probs.logsumexp(0)).item()
    return total


@pytest.mark.parametrize(("temperature", "prefix"), [(0.5, []), (3.0, [5, 4])])
def test_a_beam_at_a_temperature_ranks_by_tempered_sums_and_keeps_the_models_own(temperature, prefix):
    model = network(vocabulary=6, seed=4)
    src = torch.tensor([[4, 5, 5, EOS]])
    options = {"length_penalty": 0.7, "max_length": 4, "prefix": prefix}
    steps = list(beam(model, src, 1000, temperature=temperature, **options))
    decoded = [h for h in finish(steps)[0] if h.finished]
    scores = {h.ids: tempered_by_hand(model, src, h.ids, temperature) / penalty(len(h.ids), 0.7) for h in decoded}
    assert len(decoded) == (13 if prefix else 1 + 3 + 9 + 27) - (9 if prefix else 0)
    assert [h.ids for h in decoded] == sorted(scores, key=lambda ids: -scores[ids])
    assert [h.score for h in decoded] == pytest.approx([scores[h.ids] for h in decoded], abs=1e-5)
    assert [h.log_prob for h in decoded] == pytest.approx([log_prob(model, src, h.ids) for h in decoded], abs=1e-5)
    tree = grow(steps, bound=4, length_penalty=0.7)
    assert all(tree.at_best(i) >= tree.nodes[j].score - 1e-5 for j in range(len(tree.nodes)) for i in tree.path(j))
    plain = [h.ids for h in finish(beam(model, src, 1000, **options))[0] if h.finished]
    assert prefix or plain != [h.ids for h in decoded]  # it changes what is best


def test_a_beam_never_holds_a_hypothesis_twice(model, src):
    for step in beam(model, src, 6):
        rows = [(int(s), *ids.tolist()) for s, ids in zip(step.sentences, step.written, strict=True)]
        assert len(set(rows)) == len(rows)
        pairs = list(zip(step.parents.tolist(), step.tokens.tolist(), strict=True))
        assert len(set(pairs)) == len(pairs)


def test_the_rows_of_a_step_are_the_live_candidates_of_the_one_before(model, src):
    steps = list(beam(model, src, 4))
    pruned = 0
    for step, after in itertools.pairwise(steps):
        live = step.having(Fate.LIVE)
        assert [step.hypothesis(c).ids for c in live] == [tuple(ids) for ids in after.written.tolist()]
        assert step.sentences[step.parents[live]].tolist() == after.sentences.tolist()
        for sentence in set(step.sentences.tolist()):
            mine = step.having(*Fate, sentence=sentence)
            totals = step.totals[mine]
            assert (totals.diff() <= 0).all()
            assert len(step.having(Fate.LIVE, Fate.FINISHED, Fate.UNFINISHED, sentence=sentence)) <= 4
            assert len(mine) <= 8
        pruned += len(step.having(Fate.PRUNED))
    assert pruned and not steps[-1].having(Fate.LIVE)


@EVERY_WAY
def test_the_sum_of_every_hypothesis_is_that_of_a_full_pass(model, src, decode):
    for step in decode(model, src, max_length=10):
        for candidate in range(len(step.tokens)):
            hypothesis = step.hypothesis(candidate)
            sentence = int(step.sentences[step.parents[candidate]])
            expected = log_prob(model, alone(src, sentence), hypothesis.ids)
            assert hypothesis.log_prob == pytest.approx(expected, abs=1e-4)


@EVERY_WAY
def test_a_sentence_of_a_batch_is_the_sentence_alone(model, src, decode):
    together = finish(decode(model, src))
    for row in range(len(src)):
        # Sampling gives each place in the batch draws of its own, so the sentence keeps its place.
        others = torch.full_like(src, 7)[:, : alone(src, row).size(1)]
        others[row] = alone(src, row)[0]
        assert same(together[row], finish(decode(model, others))[row])
    assert same(together[0], finish(decode(model, alone(src, 0)))[0])


# Bounds


def test_without_a_bound_each_sentence_has_one_of_its_own(src):
    model = network(eos_bias=-50)
    for row, (best,) in enumerate(finish(greedy(model, src))):
        assert not best.finished
        assert len(best.ids) == 2 * alone(src, row).size(1) + 10
    for best, *_ in finish(beam(model, src, 2, max_length=500)):
        assert len(best.ids) == model.config.max_length


def test_what_is_unfinished_comes_after_what_finished(model, src):
    decoded = finish(beam(model, src, 4, max_length=6))
    assert any({h.finished for h in hypotheses} == {True, False} for hypotheses in decoded)
    for hypotheses in decoded:
        assert [h.finished for h in hypotheses] == sorted((h.finished for h in hypotheses), reverse=True)
        for h in hypotheses:
            assert h.finished == (h.ids[-1] == EOS) and (h.finished or len(h.ids) == 6)


@EVERY_WAY
def test_padding_and_the_start_are_never_written(src, decode):
    model = network()
    with torch.no_grad():
        model.output.bias[[PAD, SOS]] += 20
    for hypotheses in finish(decode(model, src)):
        assert not {PAD, SOS} & {token for h in hypotheses for token in h.ids}
    step = next(decode(model, src))
    assert step.log_probs.exp()[:, [PAD, SOS]].sum(1).min() > 0.99  # though the model would


def test_a_model_that_starts_with_the_end_can_end(src):
    model = network(sos_id=EOS, eos_bias=2.0)
    assert any(best.finished for best, *_ in finish(greedy(model, src)))


def test_no_sentences_give_no_steps(model):
    assert finish(beam(model, torch.empty(0, 4, dtype=torch.long))) == []
    assert finish(sample(model, torch.empty(0, 0, dtype=torch.long))) == []


# What must be written


def test_a_prefix_goes_on_as_full_passes_do(model, src):
    prefixes = [[5], [], [7, 4, 9], [6, 6], [10, EOS], [1]]
    decoded = finish(greedy(model, src, prefix=prefixes, max_length=12))
    for row, (best,) in enumerate(decoded):
        assert list(best.ids) == greedy_by_hand(model, alone(src, row), 12, prefixes[row])
        assert best.log_prob == pytest.approx(log_prob(model, alone(src, row), best.ids), abs=1e-4)


def test_a_beam_with_a_prefix_is_one_that_starts_there(model, src):
    prefixes = [[5], [], [7, 4, 9], [6, 6], [8, 4], [1]]
    decoded = finish(beam(model, src, 3, prefix=prefixes, max_length=12))
    for row, hypotheses in enumerate(decoded):
        expected = beam_by_hand(model, alone(src, row), 3, 0.6, 12, prefixes[row])[:3]
        assert [list(h.ids) for h in hypotheses if h.finished][:3] == [ids for ids, _ in expected]


@EVERY_WAY
def test_a_decode_forced_to_repeat_itself_goes_on_as_it_did(model, src, decode):
    plain = finish(decode(model, src, max_length=12))
    again = finish(decode(model, src, max_length=12, prefix=[best.ids[:3] for best, *_ in plain]))
    for one, other in zip(plain, again, strict=True):
        if decode is beam3:  # which from there on has the whole beam for what begins so
            assert other[0].score >= one[0].score - 1e-4
        else:
            assert same(one, other)


def test_a_prefix_may_be_a_list_for_all_or_a_padded_tensor(model, src):
    one_each = finish(greedy(model, src, prefix=[[5, 6]] * len(src)))
    assert one_each == finish(greedy(model, src, prefix=[5, 6]))
    assert one_each == finish(greedy(model, src, prefix=torch.tensor([5, 6])))
    assert one_each == finish(greedy(model, src, prefix=torch.tensor([[5, 6, PAD]] * len(src))))
    assert all(best.ids[:2] == (5, 6) for best, *_ in one_each)


def test_a_given_target_has_the_log_probabilities_of_a_full_pass(model, src):
    targets = [[5, EOS], [4, 4, 4, 4], [EOS], [9, 8, 7, EOS], [1, 5], [6]]
    steps = list(forced(model, src, targets))
    decoded = finish(steps)
    for row, (only,) in enumerate(decoded):
        assert list(only.ids) == targets[row] and only.finished == (targets[row][-1] == EOS)
        assert only.log_prob == pytest.approx(log_prob(model, alone(src, row), targets[row]), abs=1e-4)
    assert len(steps) == 4

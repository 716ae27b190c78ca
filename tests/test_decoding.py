"""Decoding against its definition: full passes without a cache, brute force, and each sentence alone."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from transformer.config import ModelConfig, StackConfig
from transformer.decoding import (
    DecodeStep,
    Fate,
    Hypothesis,
    allowed,
    beam,
    finish,
    given,
    greedy,
    recorded,
    rows_of,
    sample,
    tempered,
)
from transformer.decoding.choosers import Live, Sample
from transformer.decoding.tree import grow
from transformer.model import Transformer
from transformer.taps import Ablate, Recorder, Replace, Scale, Site, Uniform, chain

PAD, UNK, SOS, EOS = 0, 1, 2, 3
ALPHAS = [0.0, 0.6, 1.0, 2.0]


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def network(vocabulary: int = 11, seed: int = 5, eos_bias: float = 0.5, **changes) -> Transformer:
    """Random, but sharp enough to have clear choices and to end its sentences at different lengths."""
    torch.manual_seed(seed)
    fields = {
        "d_model": 16,
        "encoder": StackConfig(1, 2, 32),
        "decoder": StackConfig(2, 4, 32),
        "norm": "pre",
        "final_norm": True,
        "max_length": 40,
    }
    model = Transformer(ModelConfig(vocabulary, vocabulary, **{**fields, **changes})).eval()
    with torch.no_grad():
        model.output.weight.mul_(1.5)
        model.output.bias.normal_()
        model.output.bias[EOS] += eos_bias
    return model


@pytest.fixture(scope="module")
def model() -> Transformer:
    return network()


@pytest.fixture(scope="module")
def src() -> Tensor:
    """Six sentences, padded."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(4, 11, (6, 9), generator=generator)
    for row, length in enumerate([9, 2, 5, 1, 7, 4]):
        ids[row, length - 1] = EOS
        ids[row, length:] = PAD
    return ids


def alone(src: Tensor, row: int) -> Tensor:
    return src[row : row + 1, : int((src[row] != PAD).sum())]


def read(model: Transformer, src: Tensor, ids: tuple[int, ...] | list[int], tap=None) -> Tensor:
    """What one full pass says of each of `ids`, given those before it: [T, V]."""
    with torch.no_grad():
        return model(src, torch.tensor([[SOS, *ids[:-1]]]), tap)[0].log_softmax(-1)


def log_prob(model: Transformer, src: Tensor, ids: tuple[int, ...] | list[int]) -> float:
    return read(model, src, ids)[torch.arange(len(ids)), list(ids)].sum().item()


def penalty(length: int, alpha: float) -> float:
    return ((5 + length) / 6) ** alpha


def next_log_probs(model: Transformer, src: Tensor, ids: list[int]) -> list[float]:
    log_probs = read(model, src, [*ids, EOS])[-1]
    log_probs[[PAD, SOS]] = -torch.inf
    return log_probs.tolist()


def greedy_by_hand(model: Transformer, src: Tensor, bound: int, prefix: list[int] | None = None) -> list[int]:
    ids = list(prefix or [])
    while len(ids) < bound and EOS not in ids:
        log_probs = next_log_probs(model, src, ids)
        ids.append(log_probs.index(max(log_probs)))
    return ids


def beam_by_hand(
    model: Transformer, src: Tensor, size: int, alpha: float, bound: int, prefix: list[int] | None = None
) -> list[tuple[list[int], float]]:
    """Textbook beam search that never stops early: finished hypotheses, best first."""
    start = list(prefix or [])
    live = [(start, log_prob(model, src, start) if start else 0.0)]
    finished = []
    while live and len(live[0][0]) < bound:
        grown = [
            ([*ids, token], total + log_probability)
            for ids, total in live
            for token, log_probability in enumerate(next_log_probs(model, src, ids))
            if log_probability > -torch.inf
        ]
        best = sorted(grown, key=lambda pair: -pair[1])[:size]
        finished += [(ids, total / penalty(len(ids), alpha)) for ids, total in best if ids[-1] == EOS]
        live = [pair for pair in best if pair[0][-1] != EOS]
    return sorted(finished, key=lambda pair: -pair[1])


Decode = Callable[..., Iterator[DecodeStep]]


def beam3(*args, **kwargs) -> Iterator[DecodeStep]:
    return beam(*args, size=3, **kwargs)


def sampled(*args, **kwargs) -> Iterator[DecodeStep]:
    return sample(*args, seed=5, **kwargs)


EVERY_WAY = pytest.mark.parametrize("decode", [greedy, beam3, sampled])


def same(one: list[Hypothesis], other: list[Hypothesis]) -> bool:
    return [h.ids for h in one] == [h.ids for h in other] and all(
        abs(a.log_prob - b.log_prob) < 1e-4 and abs(a.score - b.score) < 1e-4 and a.finished == b.finished
        for a, b in zip(one, other, strict=True)
    )


# Greedy and beam against their definitions


def test_sentences_of_the_fixture_end_at_different_lengths(model, src):
    lengths = [len(best.ids) for best, *_ in finish(greedy(model, src))]
    assert len(set(lengths)) >= 3, lengths
    assert {best.finished for best, *_ in finish(greedy(model, src, max_length=8))} == {True, False}


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
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


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_beam_of_one_is_greedy(model, src, alpha):
    decoded = finish(beam(model, src, 1, length_penalty=alpha))
    assert [[h.ids for h in one] for one in decoded] == [[h.ids for h in one] for one in finish(greedy(model, src))]


@pytest.mark.parametrize("alpha", ALPHAS)
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


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("size", [2, 5])
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


@pytest.mark.parametrize("prefix", [[], [5, 4]])
@pytest.mark.parametrize("temperature", [0.5, 1.2, 3.0])
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
    tree = grow(steps, bound=4, size=1000, length_penalty=0.7)
    assert all(tree.at_best(i) >= tree.nodes[j].score - 1e-5 for j in range(len(tree.nodes)) for i in tree.path(j))
    plain = [h.ids for h in finish(beam(model, src, 1000, **options))[0] if h.finished]
    assert prefix or plain != [h.ids for h in decoded]  # it changes what is best


def test_a_beam_at_a_temperature_decodes_a_batch_as_each_sentence_alone(model, src):
    together = finish(beam(model, src, 3, temperature=1.2, length_penalty=0.7))
    for row, hypotheses in enumerate(together):
        (own,) = finish(beam(model, alone(src, row), 3, temperature=1.2, length_penalty=0.7))
        assert [h.ids for h in own] == [h.ids for h in hypotheses]


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
    steps = list(given(model, src, targets))
    decoded = finish(steps)
    for row, (only,) in enumerate(decoded):
        assert list(only.ids) == targets[row] and only.finished == (targets[row][-1] == EOS)
        assert only.log_prob == pytest.approx(log_prob(model, alone(src, row), targets[row]), abs=1e-4)
    assert len(steps) == 4


# Sampling


def test_one_seed_gives_one_sample(model, src):
    first, again, other = (finish(sample(model, src, seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert [h[0].ids for h in first] != [h[0].ids for h in other]


def test_equal_sentences_of_a_batch_are_drawn_independently(model, src):
    twins = alone(src, 0).expand(20, -1)
    assert len({best.ids for best, *_ in finish(sample(model, twins, seed=3))}) > 10


@pytest.mark.parametrize("options", [{"top_k": 1}, {"top_p": 1e-6}, {"temperature": 0.001}])
def test_sampling_from_the_likeliest_alone_is_greedy(model, src, options):
    for one, other in zip(finish(sample(model, src, **options)), finish(greedy(model, src)), strict=True):
        assert same(one, other)


@pytest.mark.parametrize(
    "options",
    [{}, {"temperature": 2.0}, {"temperature": 0.5, "top_k": 4}, {"top_p": 0.7}, {"top_k": 5, "top_p": 0.8}],
)
def test_tokens_come_as_often_as_their_probabilities_say(model, src, options):
    draws = 4000
    (step,) = sample(model, alone(src, 0).expand(draws, -1), max_length=1, seed=8, **options)
    counts = step.tokens.bincount(minlength=model.config.target_vocab_size)

    def expected(**options) -> Tensor:
        return draws * tempered(allowed(step.log_probs[0], model.config), **options).exp()

    def chi_square(expected: Tensor) -> float:
        possible = expected > 0
        return ((counts - expected)[possible] ** 2 / expected[possible]).sum().item()

    assert counts[expected(**options) == 0].sum() == 0
    assert chi_square(expected(**options)) < 28  # with 8 degrees of freedom, one in 2,000 is larger
    hotter = {**options, "temperature": 1.4 * options.get("temperature", 1.0)}
    assert chi_square(expected(**hotter)) > 28


def test_the_smallest_draw_is_a_token_that_may_be_written():
    """Tokens of probability 0 come first in the vocabulary, where the sum has not begun to grow."""
    log_probs = torch.tensor([[-torch.inf, -torch.inf, 0.5, 0.5]]).log_softmax(-1)
    live = Live(torch.tensor([0]), torch.empty(1, 0, dtype=torch.long), torch.zeros(1))
    for draw, token in ((0.0, 2), (0.49, 2), (0.51, 3), (1 - 2**-24, 3)):
        draws = torch.tensor([[draw]], dtype=torch.float64)
        chosen = Sample(EOS, torch.tensor([9]), draws, 1.0, None, 1.0)(live, log_probs, log_probs)
        assert chosen.tokens.tolist() == [token]


def test_tempered_is_its_definition():
    log_probs = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()

    def probs(**options) -> list[float]:
        return tempered(log_probs, **options).exp().tolist()

    assert probs() == pytest.approx([0.5, 0.3, 0.15, 0.05])
    squares = [0.25, 0.09, 0.0225, 0.0025]
    assert probs(temperature=0.5) == pytest.approx([x / sum(squares) for x in squares])
    assert probs(top_k=2) == pytest.approx([0.625, 0.375, 0, 0])
    assert probs(top_p=0.49) == pytest.approx([1, 0, 0, 0])
    assert probs(top_p=0.51) == pytest.approx([0.625, 0.375, 0, 0])
    assert probs(top_k=3, top_p=0.9) == pytest.approx([0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0])
    assert probs(top_k=99) == probs()
    turned = tempered(log_probs.flip(0), top_p=0.51)
    assert turned.exp().tolist() == pytest.approx([0, 0, 0.375, 0.625])


# What the taps see and do


@EVERY_WAY
def test_the_rows_of_the_steps_stacked_are_the_patterns_of_one_pass(model, src, decode):
    steps = list(decode(model, src, record=True))
    for row, (best, *_) in enumerate(finish(steps)):
        recorder = Recorder()
        read(model, alone(src, row), best.ids, recorder)
        stacked = recorded(steps, row, best.ids)
        assert set(stacked) == set(model.sites())
        for site, (whole,) in recorder.items():
            queries, keys = whole.shape[-2:]
            torch.testing.assert_close(stacked[site][:, :queries, :keys], whole[0], atol=1e-5, rtol=0)
            assert stacked[site][:, :, keys:].sum() == 0 or site.stack == "encoder"


def test_the_winner_of_a_beam_changes_places_and_is_followed(model, src):
    """Without such a change, the test above would say nothing of reordering."""
    steps = list(beam(model, src, 5))
    changed = 0
    for sentence, (best, *_) in enumerate(finish(steps)):
        rows = rows_of(steps, sentence, best.ids)
        firsts = [step.sentences.tolist().index(sentence) for step in steps[: len(rows)]]
        changed += len({row - first for row, first in zip(rows, firsts, strict=True)}) > 1
    assert changed


def test_without_recording_there_are_no_patterns(model, src):
    steps = list(greedy(model, src))
    assert steps[0].patterns is None
    with pytest.raises(ValueError, match="record=True"):
        recorded(steps, 0, steps[0].hypothesis(0).ids)
    with pytest.raises(ValueError, match="never written"):
        rows_of(steps, 0, [4, 4, 4, 4])


TAPS = [
    Ablate(Site("decoder", 0, "cross"), 1),
    Uniform(Site("decoder", 1, "self"), 0),
    Scale(Site("encoder", 0, "self"), 0, 3.0),
    chain(Ablate(Site("decoder", 1, "cross"), 0), Ablate(Site("encoder", 0, "self"), 1)),
]


@pytest.mark.parametrize("tap", TAPS)
@EVERY_WAY
def test_an_intervention_acts_as_in_a_full_pass_and_leaves_the_model_alone(model, src, decode, tap):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    steps = list(decode(model, src, tap=tap))
    changed = False
    for row, (best, *_) in enumerate(finish(steps)):
        with_tap = read(model, alone(src, row), best.ids, tap)
        without = read(model, alone(src, row), best.ids)
        log_probs = [step.log_probs[i] for step, i in zip(steps, rows_of(steps, row, best.ids), strict=False)]
        torch.testing.assert_close(torch.stack(log_probs), with_tap, atol=1e-4, rtol=0)
        changed |= not torch.allclose(with_tap, without, atol=1e-2)
    assert changed
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_one_step_can_be_pointed_at_another_word(model, src):
    site, sentence = Site("decoder", 1, "cross"), alone(src, 0)
    pointed = tuple(float(key == 2) for key in range(sentence.size(1)))
    plain = list(greedy(model, sentence, record=True))
    point = Replace(site, 3, (pointed,))
    steps = list(greedy(model, sentence, record=True, tap_at=lambda step: point if step == 2 else None))
    for before, after in zip(plain[:2], steps[:2], strict=True):
        assert torch.equal(before.log_probs, after.log_probs)
    assert not torch.allclose(plain[2].log_probs, steps[2].log_probs, atol=1e-3)
    assert steps[2].patterns[site][0, 3].tolist() == list(pointed)
    assert steps[3].patterns[site][0, 3].tolist() != list(pointed)


def test_the_tap_of_a_step_comes_after_the_tap_of_all(model, src):
    site = Site("decoder", 0, "cross")
    seen = []

    def look(site_seen, pattern, inputs):
        if site_seen == site:
            seen.append(float(pattern[:, 1].abs().sum()))
        return pattern

    steps = list(greedy(model, src, tap=Ablate(site, 1), tap_at=lambda step: look))
    assert len(seen) == len(steps) and set(seen) == {0.0}


def test_two_threads_decode_as_each_would_alone(model, src):
    jobs = {
        "beam": lambda: list(beam(model, src, 4, record=True)),
        "ablated": lambda: list(beam(model, src.flip(0), 3, record=True, tap=TAPS[0])),
        "sampled": lambda: list(sample(model, src, seed=9, record=True)),
    }
    alone = {name: job() for name, job in jobs.items()}
    wrong: list[str] = []
    together = threading.Barrier(len(jobs))

    def work(name: str) -> None:
        together.wait()
        for _ in range(5):
            steps = jobs[name]()
            equal = len(steps) == len(alone[name]) and all(
                torch.equal(a.log_probs, b.log_probs)
                and torch.equal(a.tokens, b.tokens)
                and all(torch.equal(a.patterns[site], b.patterns[site]) for site in a.patterns)
                for a, b in zip(steps, alone[name], strict=True)
            )
            if not equal:
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@EVERY_WAY
def test_the_gradient_mode_between_steps_is_the_callers(model, src, decode):
    for _ in decode(model, src):
        assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    with torch.no_grad():
        for _ in decode(model, src):
            assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


# Bad arguments


@pytest.mark.parametrize(
    ("decode", "options", "message"),
    [
        (beam, {"size": 0}, "size of the beam is 0"),
        (beam, {"size": 10**9}, "from 1 to 1000"),
        (beam, {"length_penalty": -1}, "length_penalty is -1"),
        (beam, {"length_penalty": float("nan")}, "length_penalty is nan"),
        (sample, {"temperature": 0.0}, "temperature is 0.0"),
        (beam, {"temperature": 0.0}, "temperature is 0.0"),
        (sample, {"temperature": float("nan")}, "temperature is nan"),
        (sample, {"top_k": 0}, "top_k is 0"),
        (sample, {"top_p": 0.0}, "top_p is 0.0"),
        (sample, {"top_p": 1.1}, "top_p is 1.1"),
        (sample, {"seed": -1}, "seed is -1"),
        (greedy, {"max_length": 0}, "max_length is 0"),
        (greedy, {"prefix": [5, 5, 5], "max_length": 2}, "has 3 tokens, but at most 2"),
        (greedy, {"prefix": [5] * 41}, "has 41 tokens, but at most"),
        (greedy, {"prefix": [11]}, "no target token 11; its ids run from 0 to 10"),
        (greedy, {"prefix": [-1]}, "no target token -1"),
        (greedy, {"prefix": [SOS, 5]}, "leave them out"),
        (greedy, {"prefix": [5, PAD]}, "leave them out"),
        (greedy, {"prefix": [EOS, 5]}, "goes on after"),
        (greedy, {"prefix": [[5], [5]]}, "2 targets for 6 sources"),
        (given, {"target": [[5]] * 5 + [[]]}, "target is empty"),
        (given, {"target": [5] * 41}, "at most 40"),
    ],
)
def test_a_wrong_argument_is_refused_at_the_call(model, src, decode, options, message):
    with pytest.raises(ValueError, match=message):
        decode(model, src, **options)


@pytest.mark.parametrize(
    ("src", "message"),
    [
        (torch.tensor([[4, 11]]), "no source token 11"),
        (torch.tensor([[-1, 4]]), "no source token -1"),
        (torch.tensor([4, 5]), r"shape \[2\]"),
        (torch.zeros(1, 3), "float32"),
        (torch.empty(2, 0, dtype=torch.long), "no tokens"),
        (torch.full((1, 41), 5), "41 tokens and this model reads at most 40"),
    ],
)
def test_a_wrong_source_is_refused_at_the_call(model, src, message):
    with pytest.raises(ValueError, match=message):
        greedy(model, src)


def test_a_model_in_training_mode_is_refused(src):
    with pytest.raises(ValueError, match=r"model.eval\(\)"):
        greedy(network().train(), src)


def test_an_output_that_is_no_number_is_refused(model, src):
    with pytest.raises(ValueError, match="step 1 .* not a number"):
        finish(beam(model, src, tap=Scale(Site("decoder", 0, "self"), 0, float("inf"))))

"""What the steps of a decode hold, what taps see and do between them, and several decodes at once."""

from __future__ import annotations

import threading

import pytest
import torch

from tests.decoding_by_hand import EVERY_WAY, alone, beam3, read, sampled
from transformer.decoding import beam, finish, greedy, recorded, rows_of, sample
from transformer.taps import Ablate, Recorder, Replace, Scale, Site, Uniform, chain


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
    """Without such a change the test above would not cover reordering."""
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


@pytest.mark.parametrize(("decode", "tap"), [*zip((beam3, greedy, sampled, beam3), TAPS, strict=True)])
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
        for _ in range(3):
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

"""Sampling: as often as the probabilities say, and the same for the same seed."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.decoding_by_hand import EOS, alone, same
from transformer.decoding import allowed, finish, greedy, sample, tempered
from transformer.decoding.choosers import Live, Sample

pytestmark = pytest.mark.device


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

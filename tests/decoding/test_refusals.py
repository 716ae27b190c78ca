"""What cannot be decoded is refused at the call."""

from __future__ import annotations

import pytest
import torch

from tests.decoding_by_hand import EOS, PAD, SOS, network
from transformer.decoding import beam, diverse_beam, finish, forced, greedy, sample
from transformer.decoding.strategies import Decoding, parameters
from transformer.taps import Scale, Site


@pytest.mark.parametrize(
    ("decode", "options", "message"),
    [
        (beam, {"size": 0}, "size of the beam is 0"),
        (beam, {"size": 10**9}, "from 1 to 1000"),
        (beam, {"length_penalty": -1}, "length_penalty is -1"),
        (diverse_beam, {"size": 101}, "size of the beam is 101; it must be from 1 to 100"),
        (diverse_beam, {"groups": 0}, "number of groups is 0"),
        (diverse_beam, {"diversity": -0.1}, "diversity is -0.1; it must be from 0 to 10"),
        (diverse_beam, {"diversity": float("nan")}, "diversity is nan"),
        (beam, {"length_penalty": float("nan")}, "length_penalty is nan"),
        (sample, {"temperature": 0.0}, "temperature is 0.0"),
        (sample, {"temperature": float("nan")}, "temperature is nan"),
        (sample, {"top_k": 0}, "top_k is 0"),
        (sample, {"top_p": 0.0}, "top_p is 0.0"),
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
        (forced, {"target": [[5]] * 5 + [[]]}, "target is empty"),
        (forced, {"target": [5] * 41}, "at most 40"),
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


def test_an_option_that_no_strategy_has_is_refused(model, src):
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_tokens'"):
        greedy(model, src, max_tokens=3)
    with pytest.raises(ValueError, match="no decoding strategy 'luck'; choose one of greedy"):
        Decoding.of("luck")
    with pytest.raises(ValueError, match="beam search has no top_k; it takes size, length_penalty"):
        Decoding.of("beam", top_k=3)


def test_strategies_that_share_a_field_share_its_bounds_and_open_within_them():
    for sharing in parameters().values():
        assert len({(parameter.least, parameter.most, parameter.type) for _, parameter in sharing}) == 1
        for _, parameter in sharing:
            for value in (parameter.default, parameter.initial):
                assert value is None or parameter.least <= value <= parameter.most

"""The encoder as a reader of bags: without positions it is a network that never had any."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headlight.analysis.order import embedded, encoder_states, reordering
from tests.small import small_t5_checkpoint, small_translator
from transformer.model import Transformer

IDS = [5, 6, 7, 5, 8, 3]
SHUFFLED = [8, 5, 7, 6, 5, 3]


def model_with(positions: str, norm: str = "pre") -> Transformer:
    return small_translator(positions=positions, norm=norm).model


@pytest.mark.parametrize(("positions", "norm"), [("sinusoidal", "pre"), ("learned", "post"), ("none", "pre")])
def test_with_positions_it_is_the_model_and_without_it_is_one_that_has_none(positions: str, norm: str) -> None:
    model = model_with(positions, norm)
    src = torch.tensor([IDS])
    with torch.no_grad():
        assert np.array_equal(encoder_states(model, IDS), model.encode(src)[0].numpy())
        bare = Transformer(replace(model.config, positions="none")).eval()
        bare.load_state_dict({k: v for k, v in model.state_dict().items() if "positions" not in k})
        assert np.array_equal(encoder_states(model, IDS, positions=False), bare.encode(src)[0].numpy())


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_without_positions_the_outputs_are_a_permutation(positions: str) -> None:
    model = model_with(positions)
    order = reordering(IDS, SHUFFLED)
    assert order is not None

    def apart(having: bool) -> float:
        first, second = (encoder_states(model, ids, having) for ids in (IDS, SHUFFLED))
        return float(np.abs(first[order] - second).max())

    assert apart(False) < 1e-5
    assert apart(True) > 1e-3


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_the_sum_is_what_the_first_layer_receives(positions: str) -> None:
    model = model_with(positions)
    parts = embedded(model, IDS)
    with torch.no_grad():
        embedding = model.encoder.embedding
        assert np.array_equal(parts.both, embedding(torch.tensor([IDS]))[0].numpy())
        assert parts.tokens == pytest.approx(embedding.tokens.weight[IDS].numpy() * np.sqrt(16))
        if positions == "none":
            assert not parts.positions.any()
        else:
            assert np.array_equal(parts.positions, embedding.positions.table[: len(IDS)].numpy())
    assert np.abs(parts.tokens + parts.positions - parts.both).max() < 1e-6


def test_where_the_sum_is_normed_the_first_layer_receives_the_norm() -> None:
    model = small_translator(positions="learned", embedding_norm=True, scale_embeddings=False).model
    parts, weights = embedded(model, IDS), model.encoder.embedding
    with torch.no_grad():
        assert np.array_equal(parts.tokens, weights.tokens.weight[IDS].numpy())
        assert parts.both == pytest.approx(parts.tokens + parts.positions, abs=1e-6)
        assert parts.read == pytest.approx(weights.norm(torch.tensor(parts.both)).numpy(), abs=1e-6)
        assert np.array_equal(parts.read, weights(torch.tensor([IDS]))[0].numpy())
        bare = Transformer(replace(model.config, positions="none")).eval()
        bare.load_state_dict({k: v for k, v in model.state_dict().items() if "positions" not in k})
        assert np.array_equal(encoder_states(model, IDS, positions=False), bare.encode(torch.tensor([IDS]))[0].numpy())


def test_a_t5_without_its_bias_is_one_whose_table_is_zero() -> None:
    model = small_t5_checkpoint().model
    having, without = encoder_states(model, IDS), encoder_states(model, IDS, positions=False)
    order = reordering(IDS, SHUFFLED)
    assert order is not None
    assert np.abs(without[order] - encoder_states(model, SHUFFLED, positions=False)).max() < 1e-5
    assert np.abs(having[order] - encoder_states(model, SHUFFLED)).max() > 1e-2
    with torch.no_grad():
        assert np.array_equal(having, model.encode(torch.tensor([IDS]))[0].numpy())
        model.encoder.layers[0].attention.position_bias.table.weight.zero_()
        assert without == pytest.approx(model.encode(torch.tensor([IDS]))[0].numpy(), abs=1e-5)


def test_a_reordering_puts_each_token_back() -> None:
    assert reordering([7, 8, 9], [9, 7, 8]) == [2, 0, 1]
    assert reordering([], []) == []
    order = reordering(IDS, SHUFFLED)
    assert order is not None
    assert [IDS[place] for place in order] == SHUFFLED
    assert sorted(order) == list(range(len(IDS)))
    assert [order[1], order[4]] == [0, 3]  # the first 5 is the first 5, the second the second


@pytest.mark.parametrize("other", [[7, 8], [7, 8, 9, 9], [7, 8, 8], [7, 8, 10]])
def test_other_words_are_no_reordering(other: list[int]) -> None:
    assert reordering([7, 8, 9], other) is None

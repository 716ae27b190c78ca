"""Both norms, the feed-forward network and the cost of a layer, each against PyTorch's own or a count by hand."""

import math

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from headlight.analysis.network import crossing, layer_cost, table_1
from headlight.analysis.norms import both_norms, moved_by_others
from headlight.analysis.stream import FEED_FORWARD, layer_blocks, stream
from tests.analysis.why.models import NAMES, SRC, TGT, build

OTHER, THIRD = [7, 6, 8, 12, 5, 3], [10, 9, 3]


@pytest.mark.parametrize("name", NAMES)
def test_both_norms_are_pytorchs(name: str) -> None:
    model = build(name)
    batch = [stream(model, source, TGT) for source in (SRC, OTHER)]
    passed = batch[0]
    residual = passed.residuals("encoder", 1)["self"][0]
    for token in range(len(SRC)):
        both = both_norms(batch, "encoder", 1, "self", token)
        made = [layer_blocks(one, "encoder", 1)["self"] for one in batch]
        rows = torch.cat([one.before if residual.norm_first else one.before + one.output for one in made])
        over_batch = torch.nn.BatchNorm1d(rows.size(1), affine=False).train()(rows)
        np.testing.assert_allclose(both.batch, over_batch[token].numpy(), atol=1e-4)
        plain = type(residual.norm)(rows.size(1), eps=residual.norm.eps)
        np.testing.assert_allclose(both.layer, plain(rows[token]).detach().numpy(), atol=1e-4)


def test_another_sentence_in_the_batch_moves_batch_norm_alone() -> None:
    model = build("pre")
    first, *others = (stream(model, source, TGT) for source in (SRC, OTHER, THIRD))
    beside = [both_norms([first, other], "encoder", 0, FEED_FORWARD, 2) for other in others]
    assert np.array_equal(beside[0].layer, beside[1].layer) and np.array_equal(beside[0].read, beside[1].read)
    assert np.abs(beside[0].batch - beside[1].batch).max() > 0.1


def test_the_norm_of_a_whole_stack_and_a_model_without_one() -> None:
    model = build("pre")
    passed = stream(model, SRC, TGT)
    both = both_norms([passed], "decoder", None, "", 1)
    np.testing.assert_allclose(both.read, passed.decoder.states[-1][1].double().numpy())
    with pytest.raises(ValueError, match="no norm there"):
        both_norms([stream(build("post"), SRC, TGT)], "encoder", None, "", 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_feed_forward_network_sees_one_token_and_is_two_convolutions_of_width_1(name: str) -> None:
    model = build(name)
    passed = stream(model, SRC, TGT)
    assert moved_by_others(passed, "encoder", 1, 3) < 1e-6
    module, block = passed.layer("encoder", 1).feed_forward, layer_blocks(passed, "encoder", 1)[FEED_FORWARD]

    def convolved(linear: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv1d(x, linear.weight[:, :, None], linear.bias)

    with torch.no_grad():
        x = block.read.T[None]  # [1, M, N], as convolutions have it
        inside = module.activation(convolved(module.inner, x))
        if module.gate is not None:
            inside = inside * convolved(module.gate, x)
        np.testing.assert_allclose(convolved(module.outer, inside)[0].T.numpy(), block.output.numpy(), atol=1e-5)


@pytest.mark.parametrize("name", ["post", "t5"])
def test_the_cost_of_a_layer_is_what_pytorch_counts(name: str) -> None:
    model, n = build(name), 6
    config, layer = model.config, model.encoder.layers[0]
    width = layer.attention.query.out_features
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        mask = torch.ones(1, 1, 1, n, dtype=torch.bool)
        layer(torch.randn(1, n, config.d_model), mask, lambda site, pattern, _: pattern)
    cost = layer_cost(n, config.d_model, width, config.encoder.d_ff, layer.feed_forward.gate is not None)
    assert 2 * sum(cost) == counter.get_total_flops()  # it counts multiplications and additions apart


def test_the_crossing_is_the_first_length_at_which_attention_costs_more() -> None:
    for sizes in ((256, 256, 1024), (512, 512, 2048), (16, 20, 24)):
        n = crossing(*sizes)
        before, after = layer_cost(n - 1, *sizes), layer_cost(n, *sizes)
        assert before.attention <= before.projections + before.feed_forward
        assert after.attention > after.projections + after.feed_forward


def test_the_table_of_the_paper() -> None:
    attention, recurrent, convolution, near = table_1(81, 10)
    assert attention[2:] == (81 * 81 * 10, 1, 1) and recurrent[2:] == (8_100, 81, 81)
    assert convolution[2:] == (24_300, 1, math.log(81, 3)) and near[2:] == (16 * 81 * 10, 1, 6)
    assert table_1(1, 10)[2].path == 1

"""Value-weighted attention against its definition and the output, and the spread of scaled scores."""

import numpy as np
import pytest
import torch

from headlight.analysis import all_heads, attention_at, kind_of, value_weighted, value_weighted_patterns
from headlight.analysis.anatomy import WIDTHS, against_width, score_spread
from transformer.model import Transformer
from transformer.taps import Ablate, InputRecorder, Recorder, Site, chain
from transformer.trace import Trace


def recorded(model: Transformer, trace: Trace) -> tuple[Recorder, InputRecorder]:
    patterns, inputs = Recorder(), InputRecorder()
    with torch.no_grad():
        model(torch.tensor([trace.source.ids]), torch.tensor([trace.reads.ids]), chain(patterns, inputs))
    return patterns, inputs


def test_every_cell_is_the_norm_of_its_vector(model: Transformer, trace: Trace) -> None:
    """‖α v W_O‖ with a loop over heads, queries and keys, the head's slice of W_O cut by hand."""
    patterns, inputs = recorded(model, trace)
    for site in model.sites():
        attention, pattern = attention_at(model, site), patterns[site][0][0]
        norms = value_weighted(pattern.numpy(), inputs[site], attention)
        n_heads, queries, keys = pattern.shape
        d_head = attention.output.in_features // n_heads
        assert norms.shape == pattern.shape
        for h in range(n_heads):
            projection = attention.output.weight[:, h * d_head : (h + 1) * d_head]
            for i in range(queries):
                for j in range(keys):
                    vector = projection @ (pattern[h, i, j] * inputs[site].v[0, h, j])
                    assert norms[h, i, j] == pytest.approx(vector.norm().item(), abs=1e-5)


def test_every_kind_in_one_pass(model: Transformer, trace: Trace) -> None:
    norms = value_weighted_patterns(model, trace.source.ids, trace.target.ids)
    patterns, inputs = recorded(model, trace)
    assert set(norms) == {"encoder", "decoder", "cross"}
    for site in model.sites():
        kind = kind_of(site)
        assert norms[kind].shape == trace.pattern(kind).shape
        one = value_weighted(patterns[site][0][0].numpy(), inputs[site], attention_at(model, site))
        np.testing.assert_allclose(norms[kind][site.layer], one, atol=1e-6)
    assert (norms["decoder"][..., trace.masked("decoder")] == 0).all()


def test_interventions_reach_the_values(model: Transformer, trace: Trace) -> None:
    site = Site("decoder", 1, "cross")
    ids = trace.source.ids, trace.target.ids
    before = value_weighted_patterns(model, *ids)
    after = value_weighted_patterns(model, *ids, Ablate(site, 2))
    assert (after["cross"][1, 2] == 0).all()
    np.testing.assert_array_equal(after["cross"][1, :2], before["cross"][1, :2])
    assert not np.allclose(after["cross"][2], before["cross"][2], atol=1e-4)


def test_the_model_is_found_at_its_sites(model: Transformer) -> None:
    for site in model.sites():
        assert attention_at(model, site).site == site
    with pytest.raises(ValueError, match="no attention at .*'decoder', 3, 'cross'"):
        attention_at(model, Site("decoder", 3, "cross"))


def test_every_head_once(model: Transformer) -> None:
    heads = all_heads(model)
    assert len(heads) == len(set(heads)) == 2 * 4 + 2 * 3 * 3
    for site, head in heads:
        assert head < attention_at(model, site).n_heads


def test_the_variance_is_the_width_and_divided_1() -> None:
    """q · k is a sum of d products of mean 0 and variance 1 (Vaswani et al. 2017, footnote 4)."""
    spreads = against_width(keys=12)
    for width, (plain, divided) in zip(WIDTHS, spreads, strict=True):
        assert plain.variance == pytest.approx(width, rel=0.25)
        assert divided.variance == pytest.approx(plain.variance / width)
    largest = [plain.largest for plain, _ in spreads]
    assert largest == sorted(largest) and largest[-1] > 0.9
    assert all(divided.largest < 0.45 and divided.entropy > 0.75 for _, divided in spreads)
    assert spreads[-1][0].entropy < 0.1


def test_the_ends_of_the_softmax() -> None:
    even, one = score_spread(np.zeros((3, 8))), score_spread(np.eye(8) * 1e4)
    assert (even.variance, even.largest, even.entropy) == pytest.approx((0, 1 / 8, 1))
    assert (one.largest, one.entropy) == pytest.approx((1, 0))
    assert score_spread(np.zeros((2, 1))).entropy == 0  # one key leaves no choice

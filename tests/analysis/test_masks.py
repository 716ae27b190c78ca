"""A whole head as matrices, against the trace's own weights and against numpy."""

import math

import numpy as np
import pytest
import torch

from headlight.analysis.masks import (
    FINITE_MASK_VALUE,
    MASKS,
    added_and_filled,
    masks_at,
    own_mask,
    tutorial,
    whole_head,
)
from tests.small import small_checkpoint
from transformer.model import Transformer
from transformer.taps import InputRecorder, Site
from transformer.trace import Trace

SITES = [Site("encoder", 1, "self"), Site("decoder", 2, "self"), Site("decoder", 0, "cross")]
SHORT, SHORT_READS = [6, 9, 3], [2, 14]


def softmax(scores: np.ndarray, visible: np.ndarray) -> np.ndarray:
    powers = np.where(visible, np.exp(scores), 0)
    shares: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return shares


@pytest.mark.parametrize("site", SITES)
def test_as_the_model_does_are_the_weights_of_the_trace(model: Transformer, trace: Trace, site: Site) -> None:
    """A second computation from the queries and keys of the pass finds the same weights."""
    inputs = InputRecorder()
    with torch.no_grad():
        model(torch.tensor([trace.source.ids]), torch.tensor([trace.reads.ids]), inputs)
    q, k, _, mask = (x[0].numpy() for x in inputs[site][:4])
    for head in range(3):
        (own,) = whole_head(model, [trace.source.ids], [trace.reads.ids], site, head)
        kind = "cross" if site.kind == "cross" else "encoder" if site.stack == "encoder" else "decoder"
        assert own.weights == pytest.approx(trace.pattern(kind)[site.layer, head], abs=1e-6)
        scores = q[head].astype(float) @ k[head].T.astype(float) / np.sqrt(q.shape[-1])
        assert own.scores == pytest.approx(scores, abs=1e-9)
        assert own.weights == pytest.approx(softmax(scores, np.broadcast_to(mask[0], scores.shape)), abs=1e-6)
        (named,) = whole_head(model, [trace.source.ids], [trace.reads.ids], site, head, own_mask(site, model.config))
        assert (named.visible == own.visible).all() and (named.weights == own.weights).all()


@pytest.mark.parametrize("site", SITES)
def test_padding_is_hidden_and_changes_nothing(model: Transformer, trace: Trace, site: Site) -> None:
    """The shorter sentence of a batch has the weights that it has alone, and none on padding."""
    sources, reads = [trace.source.ids, SHORT], [trace.reads.ids, SHORT_READS]
    (alone,) = whole_head(model, [SHORT], [SHORT_READS], site, 0)
    long, short = whole_head(model, sources, reads, site, 0)
    queries, keys = alone.scores.shape
    assert long.weights.shape == short.weights.shape
    assert not short.visible[:, keys:].any() and not short.weights[:, keys:].any()
    assert short.weights[:queries, :keys] == pytest.approx(alone.weights, abs=1e-6)
    _, seen = whole_head(model, sources, reads, site, 0, "none")
    assert seen.visible.all() and seen.weights[:, keys:].sum() > 0.01
    assert seen.scores == pytest.approx(short.scores)


@pytest.mark.parametrize("site", SITES)
def test_the_two_masks_apart_make_both(model: Transformer, trace: Trace, site: Site) -> None:
    seen = {
        mask: whole_head(model, [trace.source.ids, SHORT], [trace.reads.ids, SHORT_READS], site, 0, mask)[1]
        for mask in masks_at(site)
    }
    for one in seen.values():
        assert one.weights == pytest.approx(softmax(one.scores, one.visible), abs=1e-6)
        assert one.visible.any(-1).all()
    if site.kind == "self":
        assert (seen["both"].visible == (seen["padding"].visible & seen["look-ahead"].visible)).all()
        assert (seen["look-ahead"].visible == np.tri(len(seen["both"].visible), dtype=bool)).all()
        assert (seen["padding"].visible != seen["both"].visible).any()


def test_what_has_no_meaning_is_refused(model: Transformer, trace: Trace) -> None:
    with pytest.raises(ValueError, match="look-ahead mask has no meaning in cross attention; choose none or padding"):
        whole_head(model, [trace.source.ids], [trace.reads.ids], SITES[2], 0, "look-ahead")


def test_the_tutorials_numbers() -> None:
    """The tutorial prints these scores and rows for these queries and keys."""
    plain = tutorial("none")
    scores = [[0.3832, 0.5249, 0.4889], [0.4567, 0.5937, 0.7139], [0.7994, 0.9297, 1.0792]]
    weights = [[0.3064, 0.3530, 0.3406], [0.2907, 0.3334, 0.3759], [0.2889, 0.3290, 0.3821]]
    assert plain.scores == pytest.approx(np.array(scores), abs=1.1e-4)  # it prints q and k with four digits
    assert plain.weights == pytest.approx(np.array(weights), abs=6e-5)
    assert [f"{weight:.4f}" for weight in plain.weights[0]] == ["0.3064", "0.3530", "0.3406"]
    masked = tutorial("look-ahead")
    assert masked.weights[0].tolist() == [1, 0, 0]
    assert masked.weights[1, 2] == 0 and masked.weights[1].sum() == pytest.approx(1)
    assert masked.weights[2] == pytest.approx(plain.weights[2])
    assert {mask: int((~tutorial(mask).visible).sum()) for mask in MASKS} == dict(zip(MASKS, (0, 0, 3, 3), strict=True))


@pytest.mark.parametrize(
    ("padding", "later", "named"),
    [("applied", "never", "padding"), ("never", "applied", "look-ahead"), ("never", "never", "none")],
)
def test_a_mask_that_a_model_never_applies_is_not_its_own(padding: str, later: str, named: str) -> None:
    model = small_checkpoint(padding_mask=padding, look_ahead_mask=later).model
    site = Site("decoder", 1, "self")
    assert own_mask(site, model.config) == named
    sources, reads = [[7, 11, 5, 9, 3], SHORT], [[2, 8, 6, 10, 12], SHORT_READS]
    for own, same in zip(
        whole_head(model, sources, reads, site, 0), whole_head(model, sources, reads, site, 0, named), strict=True
    ):
        assert (own.visible == same.visible).all() and own.weights == pytest.approx(same.weights)


def test_a_mask_that_is_added_and_one_that_is_filled_in_are_the_same() -> None:
    scores = np.random.default_rng(0).normal(0, 3, (5, 5))
    visible = np.tril(np.ones((5, 5), bool))
    masked = added_and_filled(scores, visible)
    by_hand = np.exp(scores) * visible
    by_hand /= by_hand.sum(-1, keepdims=True)
    assert np.array_equal(masked.added, masked.filled) and masked.apart == 0 and masked.finite_apart < 1e-7
    with np.errstate(over="ignore"):
        powers = np.exp(masked.filled.astype(np.float64))
    np.testing.assert_allclose(powers / powers.sum(-1, keepdims=True), by_hand, atol=1e-6)
    assert np.array_equal(np.isneginf(masked.mask), ~visible) and (masked.mask[visible] == 0).all()
    assert math.isnan(masked.nowhere[0]) and masked.nowhere[1] == pytest.approx(1 / 5)
    assert torch.tensor(FINITE_MASK_VALUE).half() == -math.inf

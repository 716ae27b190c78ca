"""Words in a plane against the eigenvectors of the covariance, and against the queries and keys of the model's pass."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from headlight.analysis import attention_at
from headlight.analysis.plane import plane, word_vectors
from tests.analysis.test_anatomy import SHAPES, T5S, build
from tests.small import small_checkpoint
from transformer.taps import InputRecorder, Site

WORDS = [[7], [11, 5], [9, 6, 8]]


def by_covariance(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first two axes up to their sign, and their shares, from the eigenvectors of the covariance."""
    values, columns = np.linalg.eigh(np.cov(vectors.T))
    order = np.argsort(-values)[:2]
    return columns[:, order].T, values[order] / np.trace(np.cov(vectors.T))


@pytest.mark.parametrize(("points", "width"), [(3, 8), (8, 4), (16, 64), (2, 5)])
def test_the_plane_is_that_of_the_covariances_eigenvectors(points: int, width: int) -> None:
    vectors = np.random.default_rng(points).normal(size=(points, width)) + 3
    drawn, (axes, shares) = plane(vectors), by_covariance(vectors)
    np.testing.assert_allclose(drawn.shares, shares, atol=1e-12)
    for i, axis in enumerate(axes[: points - 1]):
        axis = axis if max(axis, key=abs) > 0 else -axis
        np.testing.assert_allclose(drawn.points[:, i], [axis @ (v - vectors.mean(0)) for v in vectors], atol=1e-9)
        assert drawn.origin[i] == pytest.approx(-axis @ vectors.mean(0))
    if points == 2:
        assert drawn.shares.tolist() == [pytest.approx(1), 0] and not drawn.points[:, 1].any()


def test_the_axes_keep_their_direction() -> None:
    """The picture does not flip with the order of the points or the signs of the eigenvectors."""
    vectors = np.random.default_rng(1).normal(size=(6, 5))
    drawn = plane(vectors)
    for order in itertools.islice(itertools.permutations(range(6)), 0, 720, 37):
        np.testing.assert_allclose(plane(vectors[list(order)]).points, drawn.points[list(order)], atol=1e-9)
    np.testing.assert_allclose(plane(-vectors).points, -drawn.points, atol=1e-9)


@pytest.mark.parametrize("count", [1, 4])
def test_points_that_are_the_same_do_not_spread(count: int) -> None:
    vectors = np.tile(np.random.default_rng(2).normal(size=(1, 33)) * 1e3 / 3, (count, 1))
    drawn = plane(vectors)
    assert not drawn.points.any() and not drawn.shares.any()
    assert not plane(np.zeros((count, 4))).points.any()


@pytest.mark.parametrize("name", [*SHAPES, *T5S])
def test_queries_and_keys_are_those_of_a_pass_without_positions(name: str) -> None:
    """The model's own modules compute q and k of each token alone, with its positions taken away."""
    model = build(name)
    ids = [id for word in WORDS for id in word]
    for site in model.sites():
        if site.kind == "cross":
            continue
        stack = model.encoder if site.stack == "encoder" else model.decoder
        attention, path = attention_at(model, site), stack.layers[site.layer].residuals[0]
        with torch.no_grad():
            x = stack.embedding.norm(stack.embedding.tokens(torch.tensor([ids])) * stack.embedding.scale)
            x = path.norm(x) if path.norm_first else x
            recorder, everything = InputRecorder(), torch.ones(1, 1, 1, len(ids), dtype=torch.bool)
            attention(x, attention.keys_values(x), everything, recorder)
        q, k = recorder[site].q[0].double().numpy(), recorder[site].k[0].double().numpy()
        for head in range(attention.n_heads):
            made = word_vectors(model, site, head, WORDS)
            splits = np.cumsum([len(word) for word in WORDS])[:-1]
            for own, ours in ((q[head], made.queries), (k[head], made.keys), (x[0].double().numpy(), made.embeddings)):
                means = [part.mean(0) for part in np.split(own, splits)]
                np.testing.assert_allclose(ours, means, atol=2e-5)
            divisor = 1.0 if name in T5S else math.sqrt(attention.d_head)
            for i, j in itertools.product(range(len(WORDS)), repeat=2):
                pairs = [q[head, a] @ k[head, b] for a in _at(i) for b in _at(j)]
                assert made.scores[i, j] == pytest.approx(np.mean(pairs) / divisor, abs=1e-4)


def _at(word: int) -> range:
    start = sum(map(len, WORDS[:word]))
    return range(start, start + len(WORDS[word]))


def test_what_has_no_plane_is_refused() -> None:
    model = small_checkpoint().model
    with pytest.raises(ValueError, match="choose a self-attention"):
        word_vectors(model, Site("decoder", 0, "cross"), 0, WORDS)
    with pytest.raises(ValueError, match="no head 9"):
        word_vectors(model, Site("encoder", 0, "self"), 9, WORDS)
    for words in ([], [[5], []]):
        with pytest.raises(ValueError, match="without tokens"):
            word_vectors(model, Site("encoder", 0, "self"), 0, words)

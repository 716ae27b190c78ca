"""Heads combined and tokens merged, on patterns whose answer is known by hand.

Shapes: L layers, H heads, S source tokens, T target tokens.
"""

import numpy as np
import pytest

from headlight.analysis import (
    hide_columns,
    max_heads,
    mean_heads,
    merge,
    merge_labels,
    merge_masked,
    normalise,
    rollout,
    rollout_source,
)

L, H, S, T = 3, 4, 5, 6


def patterns(layers: int, heads: int, queries: int, keys: int, causal: bool = False) -> np.ndarray:
    weights = np.random.default_rng(queries * keys).gamma(0.5, size=(layers, heads, queries, keys))
    return normalise(np.tril(weights) if causal else weights).astype(np.float32)


def assert_sums_to_one(pattern: np.ndarray) -> None:
    np.testing.assert_allclose(pattern.sum(-1), 1, atol=1e-5)


ENCODER, DECODER, CROSS = patterns(2, H, S, S), patterns(L, 3, T, T, causal=True), patterns(L, 3, T, S)


def test_normalised_rows() -> None:
    rows = np.array([[1.0, 3.0], [0.0, 0.0], [-1.0, -1.0]])
    assert normalise(rows).tolist() == [[0.25, 0.75], [0, 0], [0.5, 0.5]]
    assert rows.tolist() == [[1, 3], [0, 0], [-1, -1]]


def test_mean_and_max_over_heads() -> None:
    one, other = np.eye(2), np.array([[0.0, 1.0], [0.25, 0.75]])
    both = np.stack([one, other])[None]
    assert mean_heads(both).tolist() == [[[0.5, 0.5], [0.125, 0.875]]]
    assert max_heads(both).tolist() == [[[1, 1], [0.25, 1]]]
    assert_sums_to_one(mean_heads(ENCODER))


def test_rollout_of_uniform_layers() -> None:
    """½ U + ½ I twice: U U = U, so three quarters spread and one quarter stayed."""
    uniform = np.full((2, 1, S, S), 1 / S)
    first, second = rollout(uniform)
    np.testing.assert_allclose(first, 0.5 / S + 0.5 * np.eye(S))
    np.testing.assert_allclose(second, 0.75 / S + 0.25 * np.eye(S))


def test_rollout_against_its_definition() -> None:
    """Two layers, by the sum over the token between: from i by way of j to k."""
    first, second = (layer.mean(0) / 2 + np.eye(S) / 2 for layer in ENCODER.astype(float))
    expected = [[sum(second[i, j] * first[j, k] for j in range(S)) for k in range(S)] for i in range(S)]
    np.testing.assert_allclose(rollout(ENCODER)[1], expected, atol=1e-6)
    assert not np.allclose(first @ second, expected, atol=1e-3)  # the order matters


def test_rollout_sums_to_one_and_stays_causal() -> None:
    for given in (ENCODER, DECODER):
        followed = rollout(given)
        assert followed.shape == given.shape[:1] + given.shape[2:]
        assert_sums_to_one(followed)
    assert (rollout(DECODER)[:, *np.triu_indices(T, 1)] == 0).all()


def test_rollout_passes_by_a_layer_that_is_off() -> None:
    off = ENCODER.copy()
    off[1] = 0
    first, second = rollout(off)
    np.testing.assert_allclose(second, first, atol=1e-6)
    some = ENCODER.copy()
    some[1, 0] = 0
    assert_sums_to_one(rollout(some))


def test_rollout_to_both_sentences_loses_nothing() -> None:
    source, target = rollout_source(ENCODER, DECODER, CROSS)
    assert source.shape == (L, T, S)
    assert target.shape == (L, T, T)
    np.testing.assert_allclose(source.sum(-1) + target.sum(-1), 1, atol=1e-5)
    assert (target[:, *np.triu_indices(T, 1)] == 0).all()
    assert (source >= 0).all()
    assert (np.diff(source.sum(-1), axis=0) > 0).all()  # each layer adds of the source


def test_rollout_to_the_source_by_hand() -> None:
    """Self-attentions that stay in place leave half of the first cross-attention, through the encoder."""
    still = np.broadcast_to(np.eye(T), (1, 2, T, T))
    source, target = rollout_source(ENCODER, still, CROSS[:1])
    np.testing.assert_allclose(source[0], 0.5 * mean_heads(CROSS)[0] @ rollout(ENCODER)[-1], atol=1e-6)
    np.testing.assert_allclose(target[0], 0.5 * np.eye(T), atol=1e-6)


def test_rollout_takes_the_layers_in_their_order() -> None:
    """What the first layer brought in is mixed by the second's self-attention, and halved once more."""
    source, _ = rollout_source(ENCODER, DECODER[:2], CROSS[:2])
    memory = rollout(ENCODER)[-1]
    itself = DECODER[1].mean(0) / 2 + np.eye(T) / 2
    expected = itself @ source[0] / 2 + mean_heads(CROSS)[1] @ memory / 2
    np.testing.assert_allclose(source[1], expected, atol=1e-6)


def test_rollout_without_cross_attention_is_the_decoder_alone() -> None:
    source, target = rollout_source(ENCODER, DECODER, np.zeros_like(CROSS))
    assert (source == 0).all()
    np.testing.assert_allclose(target, rollout(DECODER), atol=1e-6)


PATTERN = np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0], [0.0, 0.5, 0.5]])


def test_hiding_columns_says_what_it_hides() -> None:
    left, of_row, overall = hide_columns(PATTERN, np.array([False, False, True]))
    assert left.tolist() == [[0.5, 0.25], [0, 0], [0, 0.5]]
    assert of_row.tolist() == [0.25, 1, 0.5]
    assert overall == pytest.approx(1.75 / 3)


def test_hiding_renormalises_only_when_asked() -> None:
    left, of_row, _ = hide_columns(PATTERN, np.array([False, False, True]), renormalise=True)
    np.testing.assert_allclose(left, np.array([[2 / 3, 1 / 3], [0, 0], [0, 1]]))
    assert of_row.tolist() == [0.25, 1, 0.5]


def test_hiding_nothing_or_everything() -> None:
    nothing = hide_columns(PATTERN, np.zeros(3, dtype=bool))
    np.testing.assert_array_equal(nothing.pattern, PATTERN)
    assert (nothing.of_row == 0).all()
    assert nothing.overall == 0
    everything = hide_columns(PATTERN, np.ones(3, dtype=bool), renormalise=True)
    assert everything.pattern.shape == (3, 0)
    assert everything.overall == 1
    assert hide_columns(np.zeros((2, 3)), np.ones(3, dtype=bool)).overall == 0


def test_hiding_in_every_head_at_once() -> None:
    hidden = np.arange(S) == 0
    left, of_row, overall = hide_columns(CROSS, hidden)
    np.testing.assert_allclose(left.sum(-1) + of_row, 1, atol=1e-5)
    assert overall == pytest.approx(float(CROSS[..., 0].mean()), abs=1e-6)


def test_the_hidden_share_of_a_scaled_head_is_that_of_the_head() -> None:
    hidden = np.array([True, False, False])
    one, halved = hide_columns(PATTERN, hidden), hide_columns(PATTERN / 2, hidden)
    np.testing.assert_allclose(halved.of_row, one.of_row)
    assert halved.overall == pytest.approx(one.overall)


def test_merging_sums_columns_and_averages_rows() -> None:
    pattern = np.array([[0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0]])
    merged = merge(pattern, [[0, 1], [2]], [[0], [1, 2], [3]])
    np.testing.assert_allclose(merged, np.array([[0.05, 0.5, 0.45], [1, 0, 0]]))


def test_merged_rows_still_sum_to_one() -> None:
    merged = merge(CROSS, [[0], [1, 2, 3], [4, 5]], [[0, 1], [2, 3, 4]])
    assert merged.shape == (L, 3, 3, 2)
    assert merged.dtype == np.float32
    assert_sums_to_one(merged)


@pytest.mark.parametrize("groups", [[[0, 1]], [[0, 1], [1, 2]], [[0, 1, 2, 3]], [[0, 1, 2], []], []])
def test_groups_that_lose_or_repeat_a_token_are_refused(groups: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="each of 3 tokens once"):
        merge(PATTERN, groups, [[0], [1], [2]])
    with pytest.raises(ValueError, match="each of 3 tokens once"):
        merge(PATTERN, [[0], [1], [2]], groups)


def test_a_merged_cell_is_masked_where_all_of_it_is() -> None:
    masked = np.triu(np.ones((4, 4), dtype=bool), 1)
    words = [[0], [1, 2], [3]]
    whole, partly = merge_masked(masked, words, words)
    assert whole.tolist() == [[False, True, True], [False, False, True], [False, False, False]]
    assert partly.tolist() == [[False, False, False], [False, True, False], [False, False, False]]
    causal = normalise(np.tril(np.ones((4, 4))))
    assert (merge(causal, words, words)[whole] == 0).all()


def test_rows_and_columns_of_the_decoder_group_differently() -> None:
    """A decoder's rows are grouped by what they write, its columns by what was read, one token earlier."""
    masked = np.triu(np.ones((3, 3), dtype=bool), 1)
    whole, partly = merge_masked(masked, [[0, 1], [2]], [[0], [1, 2]])
    assert whole.tolist() == [[False, False], [False, False]]
    assert partly.tolist() == [[False, True], [False, False]]


def test_labels_are_joined() -> None:
    assert merge_labels(["ro", "·se", "s"], [[0, 1], [2]]) == ["ro·se", "s"]
    assert merge_labels(["a", "b", "c"], [[0], [1, 2]], " ") == ["a", "b c"]

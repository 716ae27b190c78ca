"""Payloads for the browser: their byte layout, pooling, and refusals with a reason."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headlight.viewer.packing import (
    EveryHead,
    Profile,
    head_payload,
    lines_payload,
    pack,
    pack_kinds,
    pooled_mask,
    thumbnails,
)
from tests.unpacked import unpacked


def rows_of(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    weights = np.random.default_rng(seed).random(shape) ** 4
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


@given(
    text=st.text(),
    small=arrays(np.uint8, st.tuples(st.integers(1, 3), st.integers(1, 5))),
    large=arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 3)), elements=st.floats(0, 9, width=16)),
)
def test_a_header_and_arrays_survive_the_journey(text: str, small: np.ndarray, large: np.ndarray) -> None:
    data = pack({"label": text}, {"small": small, "large": large, "half": large.astype(np.float16)})
    header, arrays = unpacked(data)
    assert len(data) % 4 == 0 and int.from_bytes(data[:4], "little") % 4 == 0
    assert header["label"] == text
    for name, array in {"small": small, "large": large, "half": large.astype(np.float16)}.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].shape == array.shape


def test_a_transposed_array_travels_in_its_own_order() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    np.testing.assert_array_equal(unpacked(pack({}, {"a": array}))[1]["a"], array)


def test_short_patterns_are_not_pooled() -> None:
    weights = rows_of((2, 3, 5, 7))
    shades = thumbnails(weights)
    assert shades.shape == weights.shape
    np.testing.assert_allclose(shades / 255, weights, atol=0.5 / 255 + 1e-6)


@pytest.mark.parametrize(("queries", "keys", "limit"), [(300, 300, 64), (10, 300, 64), (65, 64, 64), (7, 5, 3)])
def test_pooling_keeps_the_largest_of_each_bin(queries: int, keys: int, limit: int) -> None:
    weights = rows_of((1, 1, queries, keys))[0, 0]
    shades = thumbnails(weights[None, None], limit)[0, 0]
    q, k = min(queries, limit), min(keys, limit)
    assert shades.shape == (q, k)
    for a in range(q):
        for b in range(k):
            block = weights[a * queries // q : (a + 1) * queries // q, b * keys // k : (b + 1) * keys // k]
            assert shades[a, b] == np.rint(255 * block.max())


def test_one_bright_cell_survives_pooling_wherever_it_is() -> None:
    for at in range(0, 512, 37):
        weights = np.zeros((1, 1, 512, 512), np.float32)
        weights[0, 0, at, 511 - at] = 1
        assert (thumbnails(weights) == 255).sum() == 1


def test_the_square_root_scale_lifts_small_weights_and_keeps_the_ends() -> None:
    weights = np.array([[[[0, 0.04, 0.25, 1]]]], np.float32)
    assert thumbnails(weights, scale="sqrt").ravel().tolist() == [0, 51, 128, 255]


def test_the_row_scale_gives_every_row_its_full_shade() -> None:
    weights = np.array([[[[0.1, 0.2], [0, 0], [1, 0.5]]]], np.float32)
    assert thumbnails(weights, scale="row")[0, 0].tolist() == [[128, 255], [0, 0], [255, 128]]


def test_weights_above_one_need_a_peak() -> None:
    norms = np.array([[[[1.0, 4.0]]]], np.float32)
    with pytest.raises(ValueError, match="reach 4, the scale ends at 1"):
        thumbnails(norms)
    assert thumbnails(norms, peak=4).ravel().tolist() == [64, 255]


def test_a_pooled_cell_is_masked_only_where_all_of_it_is() -> None:
    masked = np.triu(np.ones((8, 8), bool), 1)
    pooled = pooled_mask(masked, 4)
    assert pooled.tolist() == np.triu(np.ones((4, 4), int), 1).tolist()  # the diagonal bins hold open cells
    assert pooled_mask(masked).tolist() == masked.astype(int).tolist()


def test_the_overview_tells_its_true_and_its_pooled_size() -> None:
    weights = rows_of((2, 3, 100, 20))
    names = [f"k{j}" for j in range(20)]
    values = np.array([[[0.5, np.nan, 1], [2, 3, 4]]])
    profile = Profile(["entropy"], ["bits"], ["spread"], values, [4])
    one = EveryHead(weights, [[["looks at ", "k0"]] * 3] * 2, profile=profile)
    other = EveryHead(rows_of((1, 2, 3, 3)), [[["looks at ", "a"]] * 2])
    kinds = pack_kinds({"encoder": one, "cross": other})
    header, arrays = unpacked(kinds.payload)
    assert list(header["kinds"]) == ["encoder", "cross"] and header["id"] == kinds.id
    assert kinds.shapes == {"encoder": (2, 3), "cross": (1, 2)}
    assert arrays["cross thumbs"].shape == (1, 2, 3, 3)
    first = header["kinds"]["encoder"]
    assert (first["layers"], first["heads"], first["queries"], first["keys"]) == (2, 3, 100, 20)
    assert first["thumb"] == [64, 20] and arrays["encoder thumbs"].shape == (2, 3, 64, 20)
    assert not arrays["encoder thumbs_masked"].any()
    assert first["profile"]["values"] == [[0.5, None, 1, 2, 3, 4]]
    assert first["captions"][0][0][1] in names and first["off"] == [[""] * 3] * 2


def test_patterns_have_an_id_of_what_they_hold() -> None:
    weights = rows_of((1, 2, 3, 3))
    captions = [[["looks at ", "a"]] * 2]
    ids = {pack_kinds({"cross": EveryHead(w, captions)}).id for w in (weights, weights.copy(), weights[:, ::-1])}
    assert len(ids) == 2


def test_lines_and_the_large_head_carry_the_exact_weights() -> None:
    weights = rows_of((4, 6, 5))
    rows, columns = list("abcdef"), list("vwxyz")
    header, arrays = unpacked(lines_payload(weights, rows, columns, (1,), 0.8, rows_read=rows))
    np.testing.assert_array_equal(arrays["weights"], weights)
    assert header["shown"] == {"heads": [1], "mass": 0.8} and header["rows_read"] == rows
    masked = np.triu(np.ones((6, 5), bool), 1)
    header, arrays = unpacked(head_payload(weights[0], rows, columns, masked=masked, rows_read=None))
    np.testing.assert_array_equal(arrays["weights"], weights[0])
    np.testing.assert_array_equal(arrays["masked"], masked)
    assert header["rows_read"] is None and header["columns"] == columns


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.1])
def test_weights_that_cannot_be_drawn_are_refused(wrong: float) -> None:
    weights = rows_of((1, 2, 3, 3))
    weights[0, 1, 2, 0] = wrong
    with pytest.raises(ValueError, match="negative or non-finite"):
        thumbnails(weights)


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="columns has 2 labels and the pattern 3"):
        head_payload(rows_of((3, 3)), list("abc"), list("ab"), masked=None, rows_read=None)
    with pytest.raises(ValueError, match="must have 4 axes"):
        thumbnails(rows_of((3, 3)))
    with pytest.raises(ValueError, match="choose one of fixed, row, sqrt"):
        thumbnails(rows_of((1, 1, 3, 3)), scale="log")  # type: ignore[arg-type]

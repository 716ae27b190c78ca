"""The numbers of a weights file, measured in pieces, are those of the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.torch import save_file

from headlight.analysis import weights
from headlight.analysis.weights import Numbers, histogram, measure, measure_file, pieces, shapes, together

floats = hnp.arrays(np.float32, st.integers(1, 50), elements=st.floats(-100, 100, width=32))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    tensors = {
        "matrix": torch.randn(40, 7),
        "half": torch.randn(33).half(),
        "brain": torch.randn(5, 3, 2).bfloat16(),
        "one": torch.tensor(3.0),
        "none": torch.zeros(0, 4),
    }
    tensors["matrix"][3] = 0
    path = tmp_path / "model.safetensors"
    save_file(tensors, path)
    return path


def test_shapes_come_from_the_header(file: Path) -> None:
    assert shapes(file) == {"matrix": (40, 7), "half": (33,), "brain": (5, 3, 2), "one": (), "none": (0, 4)}


@pytest.mark.parametrize("size", [1, 10, 2**21])
def test_pieces_are_the_tensor(file: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "CHUNK_NUMBERS", size)
    torch.manual_seed(0)
    matrix = torch.randn(40, 7)
    matrix[3] = 0
    chunks = list(pieces(file, ["matrix"]))
    assert len(chunks) == {1: 40, 10: 40, 2**21: 1}[size]
    np.testing.assert_array_equal(np.concatenate(chunks), matrix.numpy().ravel())
    assert [part.tolist() for part in pieces(file, ["one", "none"])] == [[3.0]]


def test_measures_are_those_of_numpy(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "CHUNK_NUMBERS", 16)
    measured = measure_file(file)
    both = np.concatenate([*pieces(file, ["matrix", "half"])]).astype(np.float64)
    statistics = together(measured, ["matrix", "half"])
    assert (statistics.count, statistics.zeros, statistics.broken) == (313, 7, 0)
    assert statistics.mean == pytest.approx(both.mean())
    assert statistics.deviation == pytest.approx(both.std(), rel=1e-5)
    assert statistics.norm == pytest.approx(np.linalg.norm(both), rel=1e-5)
    assert (statistics.smallest, statistics.largest) == (both.min(), both.max())
    assert measured["none"] == Numbers()


def test_broken_numbers_are_counted_and_left_out() -> None:
    statistics = measure([np.array([1, np.nan, 3, np.inf, -np.inf], np.float32), np.array([np.nan], np.float32)])
    assert (statistics.count, statistics.broken, statistics.mean, statistics.largest) == (2, 4, 2.0, 3.0)
    assert measure([np.array([1e30, -1e30], np.float32)]).norm == pytest.approx(2**0.5 * 1e30)


@given(floats, floats)
def test_a_histogram_loses_no_number(first: np.ndarray, second: np.ndarray) -> None:
    statistics = measure([first, second])
    bars = histogram([first, second], statistics)
    assert bars.counts.sum() == first.size + second.size
    assert (np.diff(bars.edges) > 0).all()
    both = np.concatenate([first, second])
    assert (bars.below, bars.above) == ((both < bars.edges[0]).sum(), (both > bars.edges[-1]).sum())
    if statistics.smallest < 0 < statistics.largest:
        assert bars.edges[0] == pytest.approx(-bars.edges[-1])


def test_one_number_far_out_does_not_hide_the_others() -> None:
    numbers = np.append(np.linspace(-1, 1, 10_001, dtype=np.float32), np.float32(1000))
    bars = histogram([numbers], measure([numbers]))
    assert bars.above == 1 and bars.edges[-1] < 100
    assert histogram([np.zeros(4, np.float32)], measure([np.zeros(4, np.float32)])).counts.max() == 4


def test_what_is_no_weights_file_is_refused(tmp_path: Path, file: Path) -> None:
    (tmp_path / "empty.safetensors").touch()
    (tmp_path / "cut.safetensors").write_bytes(file.read_bytes()[:-10])
    for name in ("empty", "cut"):
        with pytest.raises(ValueError, match=f"{name}.safetensors is not a complete safetensors file"):
            measure_file(tmp_path / f"{name}.safetensors")
    with pytest.raises(ValueError, match=r"away.safetensors is missing"):
        shapes(tmp_path / "away.safetensors")
    with pytest.raises(ValueError, match="no finite number"):
        histogram([], Numbers())

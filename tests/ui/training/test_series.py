"""Metrics as columns that follow their file, thinned to few points that keep the extremes."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.training.series import MAX_CURVE_POINTS, Series, scores, smoothed, speeds, thinned


def line(step: int, **more: object) -> str:
    values = {"loss": 5 / step, "learning_rate": 0.1, "gradient_norm": 1.0, "tokens": 10 * step, "seconds": 0.5}
    return json.dumps({"step": step, **values, **more}) + "\n"


def test_columns_grow_with_the_file(tmp_path: Path) -> None:
    path, read = tmp_path / "metrics.jsonl", Series(str(tmp_path)).read
    assert not len(read()) and read().recent_speed is None
    path.write_text("".join(line(step) for step in range(1, 6)))
    assert read().step.tolist() == [1, 2, 3, 4, 5]
    with open(path, "a") as file:
        file.write(line(6, evaluation={"loss": 0.5, "bleu": 3.0, "watched": []}) + '{"step": 7, "lo')
    columns = read()
    assert columns.loss.tolist() == [5 / step for step in range(1, 7)]
    assert [score.tolist() for score in scores(columns.evaluations, "bleu")] == [[6.0], [3.0]]
    assert columns.recent_speed == sum(10 * step for step in range(1, 7)) / 3.0


def test_a_run_that_takes_lines_back_is_read_again(tmp_path: Path) -> None:
    path, series = tmp_path / "metrics.jsonl", Series(str(tmp_path))
    path.write_text("".join(line(step) for step in range(1, 9)))
    assert len(series.read()) == 8
    part = tmp_path / "part"
    part.write_text("".join(line(step) for step in range(1, 4)) + line(4, gradient_norm=None))
    part.replace(path)
    columns = series.read()
    assert columns.step.tolist() == [1, 2, 3, 4]
    assert math.isnan(columns.gradient_norm[3])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3000))
def test_thinning_keeps_the_extremes_and_the_order(values: list[float]) -> None:
    y = np.array(values)
    x, kept = thinned(np.arange(len(y), dtype=float), y)
    assert len(x) == len(kept) <= MAX_CURVE_POINTS
    assert (np.diff(x) > 0).all()
    assert (y[x.astype(int)] == kept).all()
    assert (kept.min(), kept.max()) == (y.min(), y.max())


def test_ten_thousand_points_with_one_spike_and_holes() -> None:
    y = np.sin(np.arange(10_000) / 500)
    y[7_777], y[100:200] = 9.0, np.nan
    x, kept = thinned(np.arange(10_000, dtype=float), y)
    assert len(x) <= MAX_CURVE_POINTS
    assert kept[x == 7_777] == 9.0
    assert np.isfinite(kept).all()


def test_a_smoothed_curve_is_the_mean_of_what_was_before() -> None:
    values = np.array([3.0, np.nan, 5.0, 1.0])
    assert np.array_equal(smoothed(values, 0.0), values, equal_nan=True)
    weights = [0.5**2, 0.5, 1.0]  # of 3, 5 and 1 in the last mean
    expected = [3, np.nan, (0.5 * 3 + 5) / 1.5, np.dot(weights, [3, 5, 1]) / sum(weights)]
    assert smoothed(values, 0.5) == pytest.approx(expected, nan_ok=True)
    assert smoothed(np.full(50, 7.0), 0.99) == pytest.approx(np.full(50, 7.0))  # from the first value on


@pytest.mark.parametrize("count", [1, 9, 100, 5_000])
def test_speeds_are_means_that_lose_no_token(tmp_path: Path, count: int) -> None:
    (tmp_path / "metrics.jsonl").write_text("".join(line(step) for step in range(1, count + 1)))
    columns = Series(str(tmp_path)).read()
    x, y = speeds(columns)
    assert x[-1] == count
    spent = 0.5 * np.diff(x, prepend=0)  # each update took half a second
    assert math.isclose(float((y * spent).sum()), float(columns.tokens.sum()))

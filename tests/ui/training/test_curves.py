"""The curves that travel: thinned, in the right place, and with the rest of the schedule."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight.formatting import on_sentences
from headlight.runs import MIN_SENTENCES, RunFolder, Status, status
from tests.small_run import TRAINING
from tests.unpacked import unpacked
from transformer import TrainConfig
from transformer.training import learning_rate
from transformer.training.schedule import teacher_forcing
from ui.training.curves import Watched, cautions, charts, facts, limit, parts, payload
from ui.training.series import MAX_CURVE_POINTS, Columns, Series


def watched(run: RunFolder) -> Watched:
    return Watched(status(run.path), run.recipe().training, Series(str(run.path)).read())


def invented(steps: int, config: TrainConfig, evaluations: list[dict[str, Any]] | None = None) -> Watched:
    """A run of `steps` updates whose loss falls steeply first."""
    step = np.arange(1, steps + 1, dtype=float)
    rate = np.array([learning_rate(int(s), config) for s in step])
    ones, tokens = np.ones(steps), np.full(steps, 100.0)
    forcing = np.array([teacher_forcing(int(s) // 10, config) for s in step])  # ten steps an epoch
    columns = Columns(step, 1 + 9 / step, rate, ones, tokens, ones, forcing, evaluations or [])
    return Watched(Status("run", Path("run"), "running", steps, config.steps, "training"), config, columns)


def test_the_curves_are_the_metrics(finished: RunFolder) -> None:
    run = watched(finished)
    loss, perplexity, *_ = charts([run])
    training, validation = loss.lines
    assert np.array_equal(training.y, run.columns.loss)
    assert validation.y.tolist() == [line["loss"] for line in run.columns.evaluations]
    assert perplexity.lines[1].y.tolist() == pytest.approx([line["perplexity"] for line in run.columns.evaluations])


def test_ten_thousand_updates_travel_as_few_points() -> None:
    data = payload([invented(10_000, TrainConfig(steps=10_000))], None)
    _, arrays = unpacked(data)
    assert all(len(values) <= MAX_CURVE_POINTS and np.isfinite(values).all() for values in arrays.values())
    assert len(data) < 40_000


def test_what_is_still_to_come_is_the_schedule() -> None:
    config = TrainConfig(steps=1_000, warmup=300)
    rate = charts([invented(100, config)])[3]
    now, ahead = rate.lines
    assert (ahead.x[0], ahead.x[-1]) == (now.x[-1], 1_000) and 300 in ahead.x
    assert ahead.y.tolist() == [learning_rate(int(step), config) for step in ahead.x]
    assert not len(charts([invented(1_000, config)])[3].lines[1].x)


def test_the_share_of_teacher_forcing_has_a_curve_where_it_falls() -> None:
    assert len(charts([invented(100, TrainConfig(steps=500))])) == 6
    run = invented(300, TrainConfig(steps=500, scheduled_sampling="parallel"))
    forcing = charts([run])[6]
    (line,) = forcing.lines
    assert forcing.title == "Teacher forcing" and line.x.tolist() == run.columns.step.tolist()
    assert line.y[0] == 1 and line.y[15] == pytest.approx(0.95) and line.y[-1] == 0.3


def test_a_steep_start_is_cut_off_with_a_note() -> None:
    run = invented(1_000, TrainConfig(steps=1_000))
    loss = charts([run])[0]
    assert limit(loss, 1_000) < 2 < loss.lines[0].y.max()
    header, _ = unpacked(payload([run], None))
    assert header["charts"][0]["cut"] == "10.0"
    assert header["charts"][4]["cut"] is None


def test_letters_have_no_bleu_to_show() -> None:
    scores = [{"step": 5, "bleu": 0.0, "chrf": 80.0, "exact": 0.5, "loss": 1.0}]
    letters = charts([invented(5, TRAINING, scores)])[2]
    assert [line.name for line in letters.lines] == ["exactly right, %", "chrF"]
    assert letters.lines[0].y.tolist() == [50.0]
    words = charts([invented(5, TRAINING, [scores[0] | {"bleu": 12.0}])])[2]
    assert [line.name for line in words.lines] == ["BLEU", "chrF", "exact, %"]


def test_several_runs_share_the_axis(finished: RunFolder) -> None:
    one, other = watched(finished), invented(500, TrainConfig(steps=2_000))
    header, _ = unpacked(payload([one, other], 30))
    assert (header["runs"], header["steps"], header["step"]) == (["first", "run"], 2_000, 30)
    assert {line["run"] for chart in header["charts"] for line in chart["lines"]} == {0, 1}


def test_a_run_that_has_not_begun_has_no_numbers_yet() -> None:
    empty = invented(0, TRAINING)
    shown = {fact["label"]: fact["value"] for fact in facts(empty)}
    assert shown["Step"] == "0" and shown["Validation loss"] == "–"
    header, _ = unpacked(payload([empty], None))
    assert all(math.isfinite(chart["top"]) and chart["top"] > 0 for chart in header["charts"])


def test_a_score_stands_with_its_count_and_a_caution_where_that_is_small(finished: RunFolder) -> None:
    columns = Series(str(finished.path)).read()
    count = columns.evaluations[-1]["sentences"]
    assert 0 < count < MIN_SENTENCES
    assert facts(watched(finished))[-1]["small"] == on_sentences(count)
    assert [on_sentences(count) in caution for caution in cautions(columns, 0)] == [True]
    many = replace(columns, evaluations=[{**columns.evaluations[-1], "sentences": MIN_SENTENCES}])
    assert cautions(many, 0) == [] and "2 validation pairs are also in" in cautions(many, 2)[0]


def test_smoothing_says_so_and_leaves_the_scores(finished: RunFolder) -> None:
    plain, calm = charts([watched(finished)]), charts([watched(finished)], smooth=90)
    for before, after in zip(plain, calm, strict=True):
        for one, other in zip(before.lines, after.lines, strict=True):
            changed = not np.array_equal(one.y, other.y)
            assert changed == other.name.endswith(", mean") == (one.name in ("training", "before clipping"))


def test_the_time_is_what_is_left_or_what_it_took() -> None:
    run = invented(100, TRAINING)
    running = replace(run, status=replace(run.status, seconds_left=125.0))
    assert facts(running)[1] == {"label": "Time left", "value": "2 min 05 s", "small": ""}
    done = replace(run, status=replace(run.status, state="finished"))
    assert facts(done)[1] == {"label": "Trained for", "value": "1 min 40 s", "small": ""}


NONE = np.array([])


def columns(*evaluations: dict) -> Columns:
    return Columns(NONE, NONE, NONE, NONE, NONE, NONE, NONE, [*evaluations])


def test_each_part_of_the_last_evaluation_has_its_most_telling_score() -> None:
    old = {"step": 1, "parts": {"captions": {"bleu": 1.0, "exact": 0.0}}}
    captions, grammar = {"bleu": 35.38, "exact": 0.05}, {"bleu": 99.0, "exact": 0.981}
    new = {"step": 2, "parts": {"captions": captions, "a grammar": grammar}}
    assert parts(columns(old, new)) == ["captions BLEU 35.4", "a grammar 98.1\u00a0% exactly right"]


def test_one_corpus_has_no_parts_and_odd_ones_are_left_out() -> None:
    assert parts(columns()) == parts(columns({"step": 1, "bleu": 3.0})) == []
    assert parts(columns({"step": 1, "parts": {"odd": {"bleu": "many"}}})) == []

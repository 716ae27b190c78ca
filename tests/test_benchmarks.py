"""The calculations and reports of the benchmarks, without measuring anything."""

import json
import subprocess
import sys
from argparse import ArgumentParser
from contextlib import suppress
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import decoding, learning, quality, showing, start, training, why
from benchmarks.__main__ import BENCHMARKS
from benchmarks.learning import MARIAN, OURS_NAME, Learner, until_end
from benchmarks.measure import LONGER, peak_megabytes, ratios, spread
from tests.small import small_checkpoint, small_translator
from transformer.training.schedule import learning_rate


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_runs_with_its_options(name: str) -> None:
    benchmark, parser = import_module(f"benchmarks.{name}"), ArgumentParser()
    benchmark.add_arguments(parser)
    assert vars(parser.parse_args([])).keys() == signature(benchmark.run).parameters.keys()


@pytest.mark.parametrize("budget, slice", [(600.0, 60.0), (30.0, 60.0), (100.0, 7.0)])
def test_turns_use_up_the_budget_and_stop_at_its_quarters(budget: float, slice: float) -> None:
    turns = quality.turns(budget, slice)
    ends = [end for end, _ in turns]
    assert max(b - a for a, b in zip([0.0, *ends], ends, strict=False)) <= slice + 1e-9
    assert [end for end, scored in turns if scored] == pytest.approx([budget * n / 4 for n in (1, 2, 3, 4)])
    assert turns[-1][1] and ends == sorted(ends)


def test_a_bleu_is_reached_between_two_points() -> None:
    points = [{"seconds": 60.0, "BLEU": 10.0}, {"seconds": 120.0, "BLEU": 30.0}]
    assert quality.minutes_to(points, 20.0) == pytest.approx(1.5)
    assert quality.minutes_to(points, 5.0) == pytest.approx(0.5)
    assert quality.minutes_to(points, 30.1) is None


def test_what_stands_behind_the_end_is_not_written() -> None:
    assert until_end([7, 8, 3, 9, 1], pad=1) == [7, 8, 3]
    assert until_end([7, 8, 1, 1], pad=1) == until_end([7, 8], pad=1) == [7, 8]


def test_the_learning_rate_ends_at_nothing_however_the_speed_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    now, rates = [0.0], []
    monkeypatch.setattr(learning.time, "perf_counter", lambda: now[0])

    def update(batch: Any, plan: Any) -> None:
        now[0] += 0.1 if now[0] < 30 else 0.2  # half as fast after a third of the time
        rates.append(learning_rate(len(rates) + 1, plan))

    learner = Learner.__new__(Learner)
    learner.name, learner.rate, learner.warmup = OURS_NAME, 10.0, None
    learner.step, learner.tokens, learner.seconds = 0, 0, 0.0
    learner.network = SimpleNamespace(update=update)  # type: ignore[assignment]
    learner.batches = iter(lambda: SimpleNamespace(n_tokens=100), None)  # type: ignore[assignment,arg-type]
    for until in (25.0, 50.0, 75.0, 90.0):
        progress = learner.train(until, 90.0)
    assert progress["updates"] == len(rates) == pytest.approx(600, abs=5)
    assert max(rates) == pytest.approx(learning.PEAK_LEARNING_RATES[OURS_NAME], rel=0.02)
    assert rates[-1] < 0.05 * max(rates)  # a plan made once for 900 updates would end at a third


def test_the_better_translations_are_reported_as_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "RESAMPLES", 100)
    references = [f"a man number {n} sits on a bench near the water" for n in range(30)]
    worse = [text.replace("bench near", "chair by") for text in references]
    differences = quality.differences({OURS_NAME: references, MARIAN: worse}, references)
    assert differences["BLEU"][OURS_NAME]["mean"] > differences["BLEU"][MARIAN]["mean"] + 5
    assert differences["BLEU"][MARIAN]["p"] < 0.05
    json.dumps(differences)  # as it is kept


def learned(*bleu: float) -> dict[str, Any]:
    score = {"chrF": 50.0, "loss": 2.0, "agreement": 1.0, "seconds_to_write": 3.0, "BLEU signature": "13a"}
    score |= {"chrF signature": "c6"}
    points = [
        {"seconds": 150.0 * n, "updates": 100 * n, "tokens": 1000 * n, "BLEU": b, **score}
        for n, b in enumerate(bleu, 1)
    ]
    return {"points": points, "beam": {**score, "BLEU": bleu[-1] + 1}}


def test_quality_is_reported_for_all_who_took_part() -> None:
    contestants = {OURS_NAME: learned(10.0, 20.0, 28.0, 30.0), MARIAN: learned(5.0, 12.0, 18.0, 20.0)}
    sure = {"mean": 30.0, "half": 1.2}
    differences = {"BLEU": {OURS_NAME: {**sure, "p": None}, MARIAN: {**sure, "p": 0.001}}}
    report = quality.report({"contestants": contestants, "pair": "de-en", "minutes": 10, "differences": differences})
    assert "+10.0" in report and "5.0 min" in report


def test_what_is_slow_is_not_repeated() -> None:
    quick, slow = iter(range(100)), iter([-1.0])
    assert showing.repeated(3, {"a": lambda: next(quick)}, {"a": 5.0}) == {"a": [1, 2, 3]}
    assert showing.repeated(9, {"a": lambda: next(slow)}, {"a": 40.0}) == {"a": [40.0]}
    assert showing.repeated(9, {"a": lambda: next(slow)}, {"a": 40_000.0}, unit=1e-3) == {"a": [40_000.0]}


@pytest.mark.slow
def test_a_page_of_a_long_text_is_made_by_another_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its patterns are computed when they are read, by a function that cannot be sent to the process."""
    monkeypatch.setattr("transformer.translator.MAX_STORED_WEIGHTS", 0)
    trace = small_translator().trace("a b c")
    assert showing.make_apart("headlight_file", trace, tmp_path / "page.html") > 0
    assert (tmp_path / "page.html").stat().st_size > 100_000


def test_a_page_that_is_not_painted_is_reported() -> None:
    one, longer = spread([1.0]), ratios([1.0], [1.0], LONGER)
    sizes = {
        "bytes": {
            **{"headlight": 100, "app": 200, "headlight_file": 300, "cell": 150, "cell_saved": 100},
            "model_view": 3000,
        },
        "failed": {"head_view": "not made in 300 s"},
        "seconds": {"headlight": one, "headlight_file": one, "model_view": one},
        "times_longer": {"model_view": longer},
    }
    opened = {
        "app": one,
        "headlight_file": one,
        "failed": {"model_view": "not painted in 90 s"},
        "times_longer_than_app": {},
        "times_longer_than_headlight_file": {},
    }
    app = dict.fromkeys(showing.TARGETS, one)
    assert "not made in 300 s" in showing.sizes_report({512: sizes})
    report = showing.times_report({512: opened}, app)
    assert "not painted in 90 s" in report and "not made" in report


def test_the_copy_that_is_started_has_the_files_that_the_app_reads(tmp_path: Path) -> None:
    copy = start.OurApp(tmp_path).copy_folder
    files = "folders.GLOSSARY, folders.CONCEPTS, folders.EXERCISES, folders.lessons()"
    code = f"from headlight import folders; print(*({files}), sep=chr(10))"
    printed = subprocess.run([sys.executable, "-c", code], cwd=copy, capture_output=True, text=True, check=True).stdout
    paths = [Path(line) for line in printed.splitlines()]
    assert len(paths) == 4 and all(path.exists() and path.is_relative_to(copy) for path in paths)


def test_starts_are_compared_cold_with_cold() -> None:
    def started(milliseconds: float) -> start.Started:
        return start.Started({"overview": milliseconds}, 1.0, {"RSS": 500.0})

    cold = {start.OURS_NAME: [started(4000.0), started(5000.0)], start.PEER: [started(8000.0), started(15_000.0)]}
    warm = {start.OURS_NAME: [started(2000.0)], start.PEER: [started(3000.0)]}
    result = {"cold": start.summary(cold), "warm": start.summary(warm), "emptied": "all files"}
    assert result["cold"]["times_longer"]["median"] == pytest.approx(2.5)
    assert result["warm"]["times_longer"]["median"] == pytest.approx(1.5)
    assert "| cold | 2.50 (2.00 to 3.00); too few rounds |" in start.report(result)
    assert "| warm | 1.50 (1.50 to 1.50); too few rounds |" in start.report(result)


def test_training_tells_of_those_who_took_part_alone() -> None:
    names = [training.OURS_BF16, training.OURS_F32, training.TORCH_F32]
    speeds = {name: spread([100.0, 200.0]) for name in names}
    times = {f"{training.OURS_BF16} / {training.TORCH_F32}": ratios([1.9, 2.1], [1.0, 1.0])}
    report = training.report({"tokens_per_second": speeds, "times": times})
    assert "2: reached" in report and "JoeyNMT" not in report and "Marian" not in report


@pytest.mark.slow
def test_the_peak_memory_of_a_child_is_its_own() -> None:
    """The parent holds more memory before the fork than the imports of the child need."""
    held = bytearray(b"x") * 400_000_000
    code = "from benchmarks.measure import peak_megabytes; print(peak_megabytes())"
    child = float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    del held
    assert 5 < child < 400 < peak_megabytes()


# ---- why -----------------------------------------------------------------------------------------------------------


def test_what_the_page_why_takes_is_told_beside_its_aims_and_inseq() -> None:
    names = [why.CONTRIBUTIONS, why.INSEQ_LEFT_OUT]
    times = {str(n): {name: spread([0.04 * n, 0.02 * n, 0.03 * n]) for name in names} for n in why.LENGTHS}
    longer = {str(n): {why.INSEQ_LEFT_OUT: ratios([0.9] * 6, [0.1] * 6, LONGER)} for n in why.LENGTHS}
    result = {"seconds": times, "clock": times, "times_longer": longer}
    methods, peers = why.report(result).split("\n\n")
    contributions, inseq = methods.splitlines()[2:]
    beside = "Inseq, occlusion | leaving one token out | 9.00 (9.00 to 9.00); longer, 9.00 to 9.00"
    assert peers.splitlines()[2:] == [f"| {n} + {n} | {beside} |" for n in why.LENGTHS]
    assert contributions == "| contributions | 360 (240 to 480) | 360 | 900 (600 to 1,200) | 900 | 0.5 s |"
    assert inseq.endswith("|  |")


def test_every_method_of_why_runs_on_as_many_tokens_as_it_says() -> None:
    model = small_checkpoint(max_length=64).model
    for name, work in why.headlight_methods(model, 12).items():
        seconds, clock = why.timed(work)()
        assert seconds > 0 and clock > 0, name
    assert {*why.AIMS} < {*why.headlight_methods(model, 12)}


@pytest.mark.slow
def test_the_network_of_the_decoding_benchmark_can_be_written_for_its_peers(tmp_path: Path) -> None:
    with suppress(ValueError):  # which is raised afterwards where CTranslate2 is missing
        decoding.export("small", tmp_path / "network")
    assert (tmp_path / "network" / "marian" / "model.safetensors").is_file()

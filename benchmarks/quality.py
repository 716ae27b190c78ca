"""Translation quality after a time of training: ours, Marian of `transformers` and JoeyNMT, from scratch.

Every contestant has the network, the tokenizer and the batches of the training benchmark, and the same budget: seconds
of training on this machine with two threads. They train in turns, a slice of time each, so that other load on the
machine affects all equally. Translating the test set is not counted.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.contest import THREADS, Contestant, contest, joeynmt
from benchmarks.learning import BATCH_TOKENS, DROPOUT, JOEYNMT, MARIAN, OURS_NAME, PEAK_LEARNING_RATES, WARMUP_SHARE
from benchmarks.measure import table
from headlight.formatting import percent

TEST_POINTS = 4  # of the budget, at which the test set is translated
BEAM_SIZE = 5
RESAMPLES = 1000  # of the sentences, for how sure a difference is


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=10.0, help="of training, for each")
    parser.add_argument("--slice", type=float, default=60.0, help="seconds that a turn lasts, at most")
    parser.add_argument("--pair", choices=("de-en", "en-fr"), default="de-en")
    parser.add_argument("--multi30k", type=Path, help="the folder of the corpus; downloaded without it")
    parser.add_argument("--joeynmt", type=Path, metavar="PYTHON", help="an interpreter that has JoeyNMT")


def run(minutes: float, slice: float, pair: str, multi30k: Path | None, joeynmt: Path | None) -> dict[str, Any]:
    """Train and return the measurements. Raises ValueError where a peer or the corpus is missing."""
    settings = {"threads": THREADS, "batch_tokens": BATCH_TOKENS, "dropout": DROPOUT, "warmup": WARMUP_SHARE}
    with contest() as contestants:
        for name, python in interpreters(joeynmt).items():
            options = name, pair, multi30k or ""
            contestants[name] = Contestant("benchmarks.learning", *options, trains=True, python=python)
        learners = compete(contestants, 60 * minutes, slice)
        references = contestants[OURS_NAME].facts["references"]
    final = {name: learner["beam"].pop("translations") for name, learner in learners.items()}
    result = {"pair": pair, "minutes": minutes, **settings, "contestants": learners}
    return {**result, "differences": differences(final, references)}


def interpreters(joey: Path | None) -> dict[str, Path | str]:
    """Return the contestants, and the Python that each runs in."""
    python = joeynmt(joey)
    return {OURS_NAME: sys.executable, MARIAN: sys.executable, **({} if python is None else {JOEYNMT: python})}


def turns(budget: float, slice: float) -> list[tuple[float, bool]]:
    """Return when each turn ends, in seconds of training; and whether the test set is translated then."""
    each = math.ceil(budget / (TEST_POINTS * slice) - 1e-9)  # turns to a point
    count = TEST_POINTS * each
    return [(budget * n / count, n % each == 0) for n in range(1, count + 1)]


def compete(contestants: dict[str, Contestant], budget: float, slice: float) -> dict[str, dict[str, Any]]:
    """Return every contestant's points and last translations; every other turn they train in the opposite order."""
    learners: dict[str, dict[str, Any]] = {
        name: {"parameters": contestant.facts["parameters"], "peak": PEAK_LEARNING_RATES[name], "points": []}
        for name, contestant in contestants.items()
    }
    for contestant in contestants.values():
        contestant.ask("speed", min(20.0, budget / 6))
    for number, (until, scored) in enumerate(turns(budget, slice)):
        for name in list(contestants)[:: -1 if number % 2 else 1]:
            progress = contestants[name].ask("train", until, budget)
            if scored:
                point = {**progress, **contestants[name].ask("score", 1)}
                del point["translations"]
                learners[name]["points"].append(point)
                print(f"{name}: {point_text(point)}", flush=True)
    for name, contestant in contestants.items():
        learners[name]["beam"] = contestant.ask("score", BEAM_SIZE)
    return learners


def differences(translations: dict[str, list[str]], references: list[str]) -> dict[str, Any]:
    """Return BLEU and chrF over resampled sentences: mean, half of the 95 % interval, p of equalling the first."""
    from sacrebleu.metrics import BLEU, CHRF
    from sacrebleu.significance import PairedTest

    metrics = {"BLEU": BLEU(references=[references]), "chrF": CHRF(references=[references])}
    test = PairedTest(list(translations.items()), metrics, None, test_type="bs", n_samples=RESAMPLES)
    scores: dict[str, Any] = dict(test()[1])
    names = scores.pop("System")
    return {
        str(metric): {
            name: {
                "mean": float(score.mean),
                "half": float(score.ci),
                "p": None if score.p_value is None else float(score.p_value),
            }
            for name, score in zip(names, results, strict=True)
        }
        for metric, results in scores.items()
    }


def minutes_to(points: Sequence[dict[str, Any]], bleu: float) -> float | None:
    """Return when the straight lines between the points first reach this BLEU; None where they do not."""
    start = {"seconds": 0.0, "BLEU": 0.0}
    for before, after in pairwise([start, *points]):
        if after["BLEU"] >= bleu:
            share = (bleu - before["BLEU"]) / max(after["BLEU"] - before["BLEU"], 1e-9)
            return float((before["seconds"] + max(share, 0.0) * (after["seconds"] - before["seconds"])) / 60)
    return None


# ---- the report ---------------------------------------------------------------------------------


def point_text(point: dict[str, Any]) -> str:
    return (
        f"{point['seconds'] / 60:.1f} min, {point['updates']:,} updates, BLEU {point['BLEU']:.1f}, "
        f"chrF {point['chrF']:.1f}, loss {point['loss']:.3f}"
    )


def report(result: dict[str, Any]) -> str:
    learners, curve, last = result["contestants"], [], []
    for points in zip(*(learner["points"] for learner in learners.values()), strict=True):
        cells = [f"{point['BLEU']:.1f} / {point['chrF']:.1f}" for point in points]
        ahead = [f"{points[0]['BLEU'] - point['BLEU']:+.1f}" for point in points[1:]]
        curve.append([f"{points[0]['seconds'] / 60:.1f}", *cells, *ahead])
    headlight_points = learners[OURS_NAME]["points"]
    for name, learner in learners.items():
        end, beam = learner["points"][-1], learner["beam"]
        minutes = minutes_to(headlight_points, end["BLEU"])
        bleu_difference = result["differences"]["BLEU"][name]
        last.append(
            [
                name,
                f"{end['updates']:,}",
                f"{end['tokens'] / end['seconds']:,.0f}",
                f"{end['loss']:.3f}",
                f"{end['BLEU']:.1f}",
                f"{beam['BLEU']:.1f} (±{bleu_difference['half']:.1f})",
                f"{beam['chrF']:.1f}",
                "" if bleu_difference["p"] is None else f"{bleu_difference['p']:.3f}",
                "" if name == OURS_NAME else ("not reached" if minutes is None else f"{minutes:.1f} min"),
                percent(end['agreement'], 1),
                f"{end['seconds_to_write']:.0f} / {beam['seconds_to_write']:.0f}",
            ]
        )
    differences = [f"Headlight − {name}" for name in list(learners)[1:]]
    head = ["", "updates", "tokens/s", "test loss", "BLEU, greedy", f"BLEU, beam {BEAM_SIZE}", "chrF, beam", "p"]
    head += ["ours reached its BLEU after", "greedy tokens that a plain pass agrees with", "seconds to translate"]
    beam = learners[OURS_NAME]["beam"]
    return "\n\n".join(
        [
            f"\nMulti30k {result['pair']}, test_2016_flickr, greedy: BLEU / chrF",
            table(["minutes", *learners, *differences], curve),
            f"After {result['minutes']:g} minutes of training each",
            table(head, last),
            f"BLEU {beam['BLEU signature']}\nchrF {beam['chrF signature']}",
        ]
    )

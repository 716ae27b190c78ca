"""Processor time of the Why page's measurements, of one sentence and its translation, on en-fr.

Beside it Inseq's attention and occlusion (leaving one word out) on a Marian of the same sizes with weights drawn at
random, of as many tokens: it has no decomposition, and nothing for encoder-decoders that exchanges heads. Each runs on
one thread, so that its processor time is what it computes, however busy the machine is; the aims are for the clock.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.contest import Contestant, compete, contest, interpreter
from benchmarks.measure import (
    LONGER,
    RATIO_HEADING,
    ROOT,
    alternate,
    range_text,
    ratio_text,
    ratios,
    short,
    spread,
    table,
)
from benchmarks.peers import END, write_marian
from headlight.checkpoints import load
from transformer.model import Transformer

MODEL = ROOT / "checkpoints" / "en-fr"
INSEQ_AT = ROOT / ".venv-inseq" / "bin" / "python"  # where `make bench` installs it
NO_INSEQ = "Inseq does not take part: install requirements/inseq.txt into an environment of its own, named by --inseq."
LENGTHS = (12, 30)  # tokens of each side
CONTRIBUTIONS, CONTRAST, PATCHING, LENS = "contributions", "contrast", "patching all heads", "DecoderLens"
ATTENTION, LEFT_OUT = "attention, recorded", "leaving one token out"
INSEQ_ATTENTION, INSEQ_LEFT_OUT = "Inseq, attention", "Inseq, occlusion"
# Theirs, and what of ours answers the same question.
COUNTERPARTS = [(INSEQ_ATTENTION, ATTENTION), (INSEQ_LEFT_OUT, LEFT_OUT)]
AIMS = {CONTRIBUTIONS: 0.5, CONTRAST: 0.2, PATCHING: 2.0, LENS: 1.0}  # seconds, of the shorter length


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--inseq", type=Path, metavar="PYTHON", help="the interpreter that has Inseq")


def run(rounds: int, inseq: Path | None) -> dict[str, Any]:
    """Return the measurements. Raises ValueError for an interpreter that there is not."""
    python = interpreter(inseq, INSEQ_AT, NO_INSEQ)
    torch.set_num_threads(1)
    model = load(MODEL).model
    result: dict[str, Any] = {"model": MODEL.name, "rounds": rounds, "threads": 1}
    result |= {"seconds": {}, "clock": {}, "times_longer": {}}
    with tempfile.TemporaryDirectory() as folder:
        write_marian(random_marian(model), Path(folder) / "marian")
        for length in LENGTHS:
            works = {name: timed(work) for name, work in headlight_methods(model, length).items()}
            with contest() as contestants:
                if python is not None:
                    peer = Contestant(__name__, Path(folder) / "marian", length, trains=False, python=python)
                    contestants["Inseq"] = peer
                    result["peers"] = peer.facts
                    works |= {name: partial(peer.ask, name) for name in (INSEQ_ATTENTION, INSEQ_LEFT_OUT)}
                times = alternate(rounds, works)
            processor = {name: [seconds for seconds, _ in pairs] for name, pairs in times.items()}
            result["seconds"][str(length)] = {name: spread(values) for name, values in processor.items()}
            result["clock"][str(length)] = {name: spread(seconds for _, seconds in times[name]) for name in works}
            result["times_longer"][str(length)] = {
                inseq_name: ratios(processor[inseq_name], processor[headlight_name], LONGER)
                for inseq_name, headlight_name in COUNTERPARTS
                if inseq_name in times
            }
    return result


def timed(work: Callable[[], object]) -> Callable[[], tuple[float, float]]:
    """Return the seconds of processor time and of the clock that a call takes."""

    def time_both() -> tuple[float, float]:
        clock, start = time.perf_counter(), time.process_time()
        work()
        return time.process_time() - start, time.perf_counter() - clock

    return time_both


def headlight_methods(model: Transformer, length: int) -> dict[str, Callable[[], object]]:
    """Return Headlight's attribution methods, ready to run on a random pair of `length` tokens a side."""
    # Not above: Inseq's process reads this file, and needs none of it.
    from headlight.analysis.why import Corruption, contrast, contributions, decoder_lens, leave_one_out, patching
    from transformer.taps import Recorder

    draw, config = random.Random(length), model.config
    last = config.source_vocab_size - 1
    source = [*(draw.randint(10, last) for _ in range(length - 1)), config.eos_id]
    target = [config.sos_id, *(draw.randint(10, last) for _ in range(length - 1)), config.eos_id]
    corrupted = [*source[:3], source[3] - 1, *source[4:]]
    step, instead = length // 2, target[length // 2 + 1] - 1
    src, tgt = torch.tensor([source]), torch.tensor([target[:-1]])

    def recorded() -> None:
        with torch.no_grad():
            model(src, tgt, Recorder())

    return {
        CONTRIBUTIONS: lambda: contributions(model, source, target),
        CONTRAST: lambda: contrast(model, source, target, step, instead),
        PATCHING: lambda: patching(model, Corruption(source, corrupted, target, step, instead)),
        LENS: lambda: decoder_lens(model, source, target, longest=length),
        ATTENTION: recorded,
        LEFT_OUT: lambda: leave_one_out(model, source, target),
    }


def random_marian(model: Transformer) -> Transformer:
    """Return a network of the model's sizes that Marian has too, with random weights."""
    start = model.config.source_vocab_size - 1  # Marian pads and starts with its last token
    special = {"pad_id": start, "sos_id": start, "eos_id": END}
    torch.manual_seed(0)
    return Transformer(replace(model.config, norm="post", final_norm=False, tied="none", **special)).eval()


def report(result: dict[str, Any]) -> str:
    """Format the results as Markdown: a method per row, and Inseq's times over ours.

    Times are medians in milliseconds with the minimum and the maximum.
    """
    rows = []
    for name in result["seconds"][str(LENGTHS[0])]:
        cells = []
        for length in LENGTHS:
            took, clock = result["seconds"][str(length)][name], result["clock"][str(length)][name]
            milliseconds = {statistic: 1000 * took[statistic] for statistic in ("median", "least", "most")}
            cells += [range_text(milliseconds), short(1000 * clock["median"])]
        rows.append([name, *cells, f"{AIMS[name]:g} s" if name in AIMS else ""])
    head = [f"{n} + {n} tokens: {clock}" for n in LENGTHS for clock in ("processor, ms", "clock, ms")]
    longer = [
        [f"{n} + {n}", inseq_name, headlight_name, ratio_text(result["times_longer"][str(n)][inseq_name])]
        for n in LENGTHS
        for inseq_name, headlight_name in COUNTERPARTS
        if inseq_name in result["times_longer"][str(n)]
    ]
    times = table(["tokens", "Inseq", "ours", f"processor, times as long, {RATIO_HEADING}"], longer)
    return "\n\n".join([table(["", *head, f"aim, {LENGTHS[0]} + {LENGTHS[0]}"], rows), *([times] if longer else [])])


# ---- in Inseq's process ---------------------------------------------------------------------------


def contestant(folder: str, length: int) -> tuple[dict[str, str], dict[str, Callable[[], tuple[float, float]]]]:
    from importlib.metadata import version

    import inseq  # type: ignore[import-not-found]

    torch.set_num_threads(1)
    draw = random.Random(length)
    source, target = (" ".join(f"w{draw.randint(10, 5000)}" for _ in range(length - 1)) for _ in range(2))

    def attribute(method: str) -> Callable[[], tuple[float, float]]:
        model = inseq.load_model(folder, method, device="cpu")
        return timed(lambda: model.attribute(source, target, attribute_target=False, show_progress=False))

    facts = {package: version(package) for package in ("inseq", "torch", "transformers")}
    return facts, {INSEQ_ATTENTION: attribute("attention"), INSEQ_LEFT_OUT: attribute("occlusion")}


if __name__ == "__main__":
    compete("Inseq", lambda: contestant(sys.argv[1], int(sys.argv[2])))

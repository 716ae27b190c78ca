"""Cost of recording every pattern: a pass through both stacks with all of them recorded, against one without.

The network is that of the decoding benchmark (6 + 6 layers, d_model 256, 8 heads, d_ff 2048); a source of so many
tokens is read and a target of as many is read along, on one thread. Times are the process's own, which other programs
disturb less; memory is the most that torch's allocator holds at once during the pass, above what it held before.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.contest import Contestant, compete, contest
from benchmarks.decoding import SHAPES, export, network
from benchmarks.measure import (
    LONGER,
    RATIO_HEADING,
    aim_text,
    alternate,
    ratio_text,
    ratios,
    reached_text,
    spread,
    table,
)
from headlight.machine import retain_freed_memory
from transformer.inference.prepared import Prepared
from transformer.taps import Recorder

LENGTHS = [32, 128, 512, 1024]
MAX_TIME_RATIOS = {32: 1.05, 128: 1.05, 512: 1.25}  # times as long, at most
MAX_MEMORY_RATIO = 1.1  # times the patterns, at most
PLAIN, RECORDED = "Headlight", "Headlight, every pattern kept"
SDPA, ATTENTIONS = "Marian in transformers, sdpa", "Marian in transformers, output_attentions=True"
HEADS, LAYERS = 8, 18  # attentions: 6 of the encoder, 6 and 6 of the decoder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="tokens on each side")
    parser.add_argument("--rounds", type=int, default=9)


def run(lengths: list[int], rounds: int) -> dict[str, Any]:
    """Return the measurements. Raises ValueError where a peer is missing."""
    with tempfile.TemporaryDirectory() as folder:
        export("small", Path(folder) / "small")
        return {"rounds": rounds, "tokens": {length: measured(folder, length, rounds) for length in lengths}}


def measured(folder: str, length: int, rounds: int) -> dict[str, Any]:
    names = [PLAIN, RECORDED, SDPA, ATTENTIONS]
    with contest() as contestants:
        for name in names:
            contestants[name] = Contestant(__name__, name, Path(folder) / "small", length, trains=False)
        peaks = {name: contestant.ask("peak") for name, contestant in contestants.items()}
        seconds = alternate(rounds, {name: contestant.round() for name, contestant in contestants.items()})
    patterns = LAYERS * HEADS * length**2 * 4
    return {
        "patterns_bytes": patterns,
        "milliseconds": {name: spread(1000 * s for s in values) for name, values in seconds.items()},
        "times": {
            RECORDED: ratios(seconds[RECORDED], seconds[PLAIN], LONGER),
            ATTENTIONS: ratios(seconds[ATTENTIONS], seconds[SDPA], LONGER),
        },
        "above_the_pass_bytes": {RECORDED: peaks[RECORDED] - peaks[PLAIN], ATTENTIONS: peaks[ATTENTIONS] - peaks[SDPA]},
    }


# ---- in a contestant's process --------------------------------------------------------------------


def contestant(name: str, folder: Path, length: int) -> tuple[None, dict[str, Callable]]:
    torch.set_num_threads(1)
    retain_freed_memory()  # as the command line does; for every contestant, so that the networks alone are compared
    ids = torch.randint(2, SHAPES["small"][1] - 1, (2, 1, length), generator=torch.Generator().manual_seed(0))
    one_pass = passes(name, folder, ids[0], ids[1], length)

    def round() -> float:
        """Return the seconds of processor time of a pass."""
        for _ in range(max(1, 256 // length)):  # so that a round is longer than the clock is coarse
            start = time.process_time()
            one_pass()
            elapsed = time.process_time() - start
        return elapsed

    def peak() -> int:
        """Return the peak of allocated bytes, from all allocations and releases of a pass in their order."""
        one_pass()  # what the first pass alone allocates does not count
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
            result = one_pass()
        moves = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
        moves.sort(key=lambda event: event.start_ns())
        del result
        return max(accumulate(event.nbytes() for event in moves))

    return None, {"round": round, "peak": peak}


def passes(name: str, folder: Path, src: torch.Tensor, tgt: torch.Tensor, length: int) -> Callable[[], object]:
    if name in (PLAIN, RECORDED):
        model = Prepared(network(max_length=length))

        def headlight_pass() -> object:
            recorder = Recorder() if name == RECORDED else None
            return model(src, tgt, recorder), recorder

        return headlight_pass
    from transformers import MarianConfig, MarianMTModel  # type: ignore[import-not-found]

    config = MarianConfig.from_pretrained(folder / "marian", max_position_embeddings=max(512, length))
    config._attn_implementation = "eager" if name == ATTENTIONS else "sdpa"
    marian = MarianMTModel(config).eval()

    @torch.inference_mode()
    def one_pass() -> object:
        return marian(input_ids=src, decoder_input_ids=tgt, output_attentions=name == ATTENTIONS, use_cache=False)

    return one_pass


# ---- the report ---------------------------------------------------------------------------------


def report(result: dict[str, Any]) -> str:
    rows = []
    for length, numbers in result["tokens"].items():
        for name in (RECORDED, ATTENTIONS):
            ratio, above = numbers["times"][name], numbers["above_the_pass_bytes"][name]
            share = above / numbers["patterns_bytes"]
            aims = ["", ""]
            if name == RECORDED:
                aims = [aim_text(ratio, MAX_TIME_RATIOS.get(length), True), reached_text(share, MAX_MEMORY_RATIO)]
            memory = f"{above / 2**20:.1f} MiB, {share:.2f} of the patterns"
            rows.append([length, name, ratio_text(ratio), aims[0], memory, aims[1]])
    return table(["tokens", "", f"times as long as without, {RATIO_HEADING}", "aim", "memory above", "aim"], rows)


if __name__ == "__main__":
    contestant_name, at, tokens = sys.argv[1:]
    compete(contestant_name, lambda: contestant(contestant_name, Path(at), int(tokens)))

"""Time and memory of measuring every head over a corpus, compared with plain batched scoring of the same sentences.

Both get the pairs as a list, cut them into tokens and score the same batches; the atlas also makes every pattern,
measures it, compares it with the gold alignment, and switches every head off and leaves every word out in its sample.
The memory is of a process that reads its pairs from the corpus.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from itertools import islice
from typing import Any

import torch

from benchmarks.busy import Busy
from benchmarks.measure import (
    MIN_ROUNDS,
    RATIO_HEADING,
    ROOT,
    aim_text,
    alternate,
    keep,
    machine,
    peak_megabytes,
    ratio_text,
    ratios,
    seconds,
    short,
    spread,
    stat_dot,
    table,
)
from headlight.analysis.atlas import atlas
from headlight.analysis.atlas.over_corpus import BATCH_TOKENS
from headlight.analysis.atlas.reading import Reader, SkippedPairs, batches
from headlight.analysis.atlas.scoring import losses
from headlight.checkpoints import load_translator
from headlight.corpora.corpora import open_split
from headlight.corpora.truth import KnownPair, known_pairs
from transformer.batches import collate
from transformer.checkpoint import Checkpoint

CORPORA = {"reverse": "reverse", "english-french": "english-french"}  # a shipped model, and a corpus with gold for it
SIZES = (1_000, 10_000, 100_000)  # pairs, for the memory
MIN_SPEED_RATIO = 0.5  # of the speed of plain scoring


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, default=10_000, help="sentence pairs that are measured")
    parser.add_argument("--sample", type=int, default=100, help="of them, for importance and agreement")
    parser.add_argument("--rounds", type=int, default=MIN_ROUNDS, help="times that each takes its turn")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="pairs for the memory")
    parser.set_defaults(run=run)


def run(pairs: int, sample: int, rounds: int, sizes: list[int]) -> None:
    busy = Busy()
    torch.set_num_threads(1)
    result: dict[str, Any] = {"machine": machine("torch", "tokenizers"), "pairs": pairs, "sample": sample}
    rows, dots = [], []
    for name, spec in CORPORA.items():
        checkpoint = _checkpoint(name)
        known = list(islice(known_pairs(open_split(spec, "train")), pairs))
        took = alternate(
            rounds,
            {
                "plain": seconds(lambda arguments=(checkpoint, known): _plain(*arguments)),  # type: ignore[misc]
                "atlas": seconds(lambda arguments=(checkpoint, known): _atlas(*arguments, sample)),  # type: ignore[misc]
            },
        )
        speeds = {name: spread(pairs / seconds_each for seconds_each in times) for name, times in took.items()}
        share = ratios(took["plain"], took["atlas"])
        result[name] = {"corpus": spec, "sentences_per_second": speeds, "share": share}
        rows.append(
            [
                name,
                *(short(speeds[method]["median"]) for method in speeds),
                ratio_text(share),
                aim_text(share, MIN_SPEED_RATIO),
            ]
        )
        dots += [
            stat_dot(f"{name}, {method}", stats, "/s", ours=method == "atlas") for method, stats in speeds.items()
        ]
    print(table(["", "plain, sentences/s", "atlas, sentences/s", f"share, {RATIO_HEADING}", "target"], rows))
    result["peak_megabytes"] = {name: {count: _peak(name, count) for count in sizes} for name in CORPORA}
    peaks = [[name, f"{n:,}", short(peak)] for name, of in result["peak_megabytes"].items() for n, peak in of.items()]
    print(table(["", "pairs", "peak, MB"], peaks))
    result["busy"] = busy.shares_since_begin()
    keep("atlas", result, "Every head over a corpus", {"Sentences a second": dots})


def _checkpoint(name: str) -> Checkpoint:
    return load_translator(ROOT / "checkpoints" / name).checkpoint


def _plain(checkpoint: Checkpoint, known: list[KnownPair]) -> None:
    model = checkpoint.model
    reader = Reader(model.config, checkpoint.source_tokenizer, checkpoint.target_tokenizer)
    with torch.inference_mode():
        for chunk in reader.chunks((pair._replace(truth=None) for pair in known), SkippedPairs()):
            for readings in batches(chunk, BATCH_TOKENS):
                batch = collate([(reading.source, reading.target) for reading in readings], model.config.pad_id)
                losses(model, batch.src, batch.tgt)


def _atlas(checkpoint: Checkpoint, known: list[KnownPair], sample: int) -> None:
    atlas(checkpoint, lambda: known, sample=sample)


def _peak(name: str, pairs: int) -> float:
    """Return the peak memory, in MB, of a process that measures this many pairs."""
    command = [sys.executable, "-m", "benchmarks.atlas", name, str(pairs)]
    return float(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def _measure(name: str, pairs: int) -> None:
    checkpoint, corpus = _checkpoint(name), open_split(CORPORA[name], "train")
    atlas(checkpoint, lambda: known_pairs(corpus), pairs, 10)


if __name__ == "__main__":
    torch.set_num_threads(1)
    _measure(sys.argv[1], int(sys.argv[2]))
    print(peak_megabytes())

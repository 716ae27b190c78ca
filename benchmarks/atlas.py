"""Time and memory of measuring every head over a corpus, compared with plain batched scoring of the same sentences.

Both get the pairs as a list, cut them into tokens and score the same batches; the atlas also makes every pattern,
measures it, compares it with the gold alignment, and switches every head off and leaves every word out in its sample.
The memory is of a process that reads its pairs from the corpus.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from itertools import islice
from typing import Any

import torch

from benchmarks.measure import (
    MIN_ROUNDS,
    RATIO_HEADING,
    ROOT,
    aim_text,
    alternate,
    peak_megabytes,
    ratio_text,
    ratios,
    seconds,
    short,
    spread,
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

CORPORA = ("reverse", "english-french")  # corpora with gold alignments, each with a shipped model of the same name
SIZES = (1_000, 10_000, 100_000)  # pairs, for the memory
MIN_SPEED_RATIO = 0.5  # of the speed of plain scoring


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, default=10_000, help="sentence pairs that are measured")
    parser.add_argument("--sample", type=int, default=100, help="of them, for importance and agreement")
    parser.add_argument("--rounds", type=int, default=MIN_ROUNDS, help="times that each takes its turn")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="pairs for the memory")


def run(pairs: int, sample: int, rounds: int, sizes: list[int]) -> dict[str, Any]:
    torch.set_num_threads(1)
    models = {name: measured(name, pairs, sample, rounds) for name in CORPORA}
    for name, numbers in models.items():
        numbers["peak_megabytes"] = {count: _peak(name, count) for count in sizes}
    return {"pairs": pairs, "sample": sample, "models": models}


def measured(name: str, pairs: int, sample: int, rounds: int) -> dict[str, Any]:
    """Return sentences per second of plain scoring and of the atlas, and the ratio, round by round."""
    checkpoint = _checkpoint(name)
    known = list(islice(known_pairs(open_split(name, "train")), pairs))
    tasks = {
        "plain": seconds(lambda: _plain(checkpoint, known)),
        "atlas": seconds(lambda: atlas(checkpoint, lambda: known, sample=sample)),
    }
    times = alternate(rounds, tasks)
    speeds = {method: spread(pairs / took for took in times[method]) for method in tasks}
    return {"sentences_per_second": speeds, "share": ratios(times["plain"], times["atlas"])}


def report(result: dict[str, Any]) -> str:
    rows, peaks = [], []
    for name, numbers in result["models"].items():
        speeds, share = numbers["sentences_per_second"], numbers["share"]
        medians = [short(speeds[method]["median"]) for method in ("plain", "atlas")]
        rows.append([name, *medians, ratio_text(share), aim_text(share, MIN_SPEED_RATIO)])
        peaks += [[name, f"{count:,}", short(peak)] for count, peak in numbers["peak_megabytes"].items()]
    head = ["", "plain, sentences/s", "atlas, sentences/s", f"share, {RATIO_HEADING}", "target"]
    return f"{table(head, rows)}\n\n{table(['', 'pairs', 'peak, MB'], peaks)}"


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


def _peak(name: str, pairs: int) -> float:
    """Return the peak memory, in MB, of a process that measures this many pairs."""
    command = [sys.executable, "-m", "benchmarks.atlas", name, str(pairs)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    torch.set_num_threads(1)
    model_name, pair_count = sys.argv[1:]
    corpus = open_split(model_name, "train")
    atlas(_checkpoint(model_name), lambda: known_pairs(corpus), int(pair_count), 10)
    print(peak_megabytes())

"""Memory that a corpus takes, from its file to the last batch of an epoch, at several sizes.

For each size a corpus is written, of sentences of 5 to 25 words out of 30,000, and a process of its own learns a
vocabulary from it, cuts it into tokens on disk, and goes through a pass of batches, as a worker does. Its peak memory
is the operating system's; the network, whose memory does not depend on the corpus, is left out.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.measure import peak_megabytes, short, table

SIZES = (10_000, 100_000, 1_000_000)
WORDS, VOCABULARY, BATCH = 30_000, 8_000, 4_096
STAGES = ("imports", "vocabulary", "tokens", "a pass")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, nargs="+", default=SIZES, help="how many pairs the corpora have")


def run(pairs: list[int]) -> dict[str, Any]:
    return {"batch_tokens": BATCH, "pairs": {count: _measure(count) for count in pairs}}


def report(result: dict[str, Any]) -> str:
    rows = [
        (f"{count:,}", short(stats["megabytes"]), *(f"{stats['peak'][stage]:,.0f}" for stage in STAGES))
        for count, stats in result["pairs"].items()
    ]
    return table(("pairs", "file, MB", *(f"peak after {stage}, MB" for stage in STAGES)), rows)


def _measure(count: int) -> dict[str, Any]:
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(WORDS)]
    often = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))  # a few of them often, most of them rarely
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.tsv"
        with open(path, "w", encoding="utf-8") as file:
            for _ in range(count):
                sides = (" ".join(rng.choices(words, cum_weights=often, k=rng.randint(5, 25))) for _ in range(2))
                file.write("\t".join(sides) + "\n")
        command = [sys.executable, "-m", "benchmarks.memory", str(path), f"{folder}/data"]
        completed = subprocess.run(command, capture_output=True, text=True, check=True)
        return {"megabytes": path.stat().st_size / 1e6, **json.loads(completed.stdout)}


def _go_through(path: str, folder: str) -> dict[str, Any]:
    """Process a corpus as a worker does; return the peak memory (MB) and the seconds after each stage."""
    from headlight.corpora.corpora import open_corpus
    from headlight.corpora.encoded import Encoded, learn_tokenizers
    from headlight.corpora.packed import pack_examples
    from transformer.batches import BatchStream

    begun, peak, seconds = time.perf_counter(), {}, {}

    def note(stage: str) -> None:
        peak[stage] = peak_megabytes()
        seconds[stage] = time.perf_counter() - begun

    note("imports")
    corpus = open_corpus(path).train
    source, target = learn_tokenizers(corpus, "bpe", VOCABULARY)
    note("vocabulary")
    packed = pack_examples(Encoded(corpus, source, target, 512), folder, VOCABULARY)
    note("tokens")
    batches = sum(1 for _ in BatchStream(packed, BATCH).epoch())
    note("a pass")
    return {"peak": peak, "seconds": seconds, "batches": batches}


if __name__ == "__main__":
    print(json.dumps(_go_through(*sys.argv[1:])))

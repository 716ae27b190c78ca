"""Memory of a corpus that becomes a table: `headlight trace` and `why` with --out, and their generators in Python.

The model has one layer and one head of random weights, and the corpus pairs of words of 1 to 3 letters, so the memory
is that of the tables, not of a network. A process of its own does each part of each size. Its peak memory is the
operating system's, and includes joining the parts of a table at the end.
"""

from __future__ import annotations

import argparse
import json
import random
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.busy import Busy
from benchmarks.measure import keep, machine, megabytes_dot, peak_megabytes, short, table
from headlight.folders import ROOT

SIZES = (1_000, 10_000, 100_000)
COMMANDS = {
    "trace": ("trace",),
    "trace --rows weights": ("trace", "--rows", "weights"),
    "why --no-left-out": ("why", "--no-left-out"),
}
PARTS = (*COMMANDS, "trace_over", "why_over")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run)
    parser.add_argument("--sentences", type=int, nargs="+", default=SIZES, help="how many sentences the corpora have")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what is measured")


def run(sentences: list[int], parts: list[str]) -> None:
    busy = Busy()
    measured = {part: {count: _measure(part, count) for count in sentences} for part in parts}
    rows = [
        (part, *(f"{of[count]['peak']:,.0f}" for count in sentences), short(of[max(sentences)]["seconds"]))
        for part, of in measured.items()
    ]
    print(table(("", *(f"{count:,} sentences, MB" for count in sentences), "seconds of the most"), rows))
    result = {
        "machine": machine("torch", "numpy", "pyarrow"),
        "parts": measured,
        "busy": busy.shares_since_begin(),
    }
    dots = [
        megabytes_dot(f"{part}, {count:,}", stats["peak"])
        for part, of in measured.items()
        for count, stats in of.items()
    ]
    keep("tables", result, "Memory of a table", {"Peak of the process, MB": dots})


def _measure(part: str, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        with open(Path(folder, "words.tsv"), "w", encoding="utf-8") as file:
            file.writelines("\t".join(pair) + "\n" for pair in _words(count))
        _save_model(folder)
        command = [sys.executable, "-m", "benchmarks.tables", part, folder, str(count)]
        completed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(completed.stdout)


def _words(count: int) -> Iterator[tuple[str, str]]:
    draw = random.Random(0)
    for _ in range(count):
        word = "".join(draw.choices(string.ascii_lowercase, k=draw.randint(1, 3)))
        yield word, word[::-1]


def _save_model(folder: str) -> None:
    from transformer import ModelConfig, StackConfig, Transformer, load
    from transformer.checkpoint import Checkpoint, native

    tokenizer = load(ROOT / "checkpoints" / "reverse").checkpoint.source_tokenizer
    size = tokenizer.vocab_size
    stack = StackConfig(n_layers=1, n_heads=1, d_ff=8)
    config = ModelConfig(size, size, d_model=8, encoder=stack, decoder=stack, max_length=16)
    native.save(Checkpoint(Transformer(config).eval(), tokenizer, tokenizer, {}), Path(folder, "model"))


def _go_through(part: str, folder: str, count: str) -> dict[str, Any]:
    """Make the table, or go through the generator; return the peak memory (MB) and the seconds."""
    begun, model = time.perf_counter(), str(Path(folder, "model"))
    if part in COMMANDS:
        from headlight.cli.verbs import main

        verb, *options = COMMANDS[part]
        main([verb, model, f"{folder}/words.tsv", "--out", f"{folder}/table.parquet", *options])
    else:
        import headlight

        pairs, translator = _words(int(count)), headlight.load(model)
        results: Iterator[Any] = (
            headlight.trace_over(translator, pairs)
            if part == "trace_over"
            else headlight.why_over(translator, pairs, left_out=False)
        )
        assert sum(1 for _ in results) == int(count)
    return {"peak": peak_megabytes(), "seconds": time.perf_counter() - begun}


if __name__ == "__main__":
    print(json.dumps(_go_through(*sys.argv[1:])))

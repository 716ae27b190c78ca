"""An imported model in the app: time to open, time to answer, and memory. By default one of an opus-mt model's size.

That model is the shipped translator, enlarged without a change of its function: every component of its state is
duplicated, each linear layer averages both copies, the additional layers add nothing, and the additional words are
never written. So it writes sentences as long as a trained model's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks import browser, shapes
from benchmarks.measure import ROOT, short, spread, table
from benchmarks.pupils import server_of
from headlight import checkpoints
from headlight.checkpoints import load_tokenizer, load_translator
from transformer import Transformer
from transformer.checkpoint import Checkpoint
from transformer.config import StackConfig
from transformer.positions import sinusoidal
from transformer.tokenizers import Tokenizer
from ui.state.process import SWEEP_SECONDS

SWEEP_WAIT_SECONDS = SWEEP_SECONDS + 5  # seconds after which the server has returned what it freed
WORDS, LAYERS = 58_101, 6
TOKENS = 20
# Milliseconds at the 95th percentile, times the weights in float32, and seconds, at most.
MAX_TYPING_MILLISECONDS, MAX_CHOOSING_MILLISECONDS, MAX_MEMORY_RATIO, MAX_OPENING_SECONDS = 1500, 200, 1.6, 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sentences", type=int, default=30, help="typed, and heads that are chosen")
    parser.add_argument("--size", choices=shapes.SIZES, help="random weights in this shape, imported from its format")


def run(sentences: int, size: str | None) -> dict[str, Any]:
    if size is not None:
        return shapes.run(size, sentences)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        weights = make(folder / "checkpoints" / "large")
        opened = spread(opening(folder / "checkpoints" / "large") for _ in range(5))
        measured = in_the_browser(folder, sentences)
    return {
        "sentences": sentences,
        "weights": weights,
        "opened": opened,
        **measured,
        "times_the_weights": measured["megabytes"] / (weights / 1e6),
    }


# ---- the model ------------------------------------------------------------------------------------


def make(folder: Path) -> int:
    """Write the model; return how many bytes its weights are in float32."""
    small = checkpoints.load(ROOT / "checkpoints" / "en-fr")
    model, tokenizer = widened(small.model), with_more_words(small.source_tokenizer)
    checkpoints.save(Checkpoint(model, tokenizer, tokenizer, {**small.card, "title": "Large"}), folder)
    return sum(p.nbytes for p in model.parameters())


@torch.no_grad()
def widened(small: Transformer) -> Transformer:
    """Return the same function as a network that is twice as wide and deep, with more words."""
    old = small.config
    stack = StackConfig(LAYERS, 2 * old.encoder.n_heads, 2 * old.encoder.d_ff)
    shape: dict[str, Any] = {"d_model": 2 * old.d_model, "encoder": stack, "decoder": stack, "positions": "stored"}
    words = {"source_vocab_size": WORDS, "target_vocab_size": WORDS}
    large = Transformer(replace(old, **shape, **words)).eval()
    before = dict(small.named_parameters())
    for name, parameter in large.named_parameters():
        if name.endswith("embedding.tokens.weight"):
            parameter.zero_()
            parameter[: old.source_vocab_size] = twice(before[name], 1) / 2**0.5  # it is scaled by √d_model
        elif name == "output.bias":
            parameter.fill_(-1e4)
            parameter[: old.target_vocab_size] = before[name]
        elif name.endswith("positions.table"):
            parameter.copy_(twice(sinusoidal(old.max_length, old.d_model), 1))
        elif name in before:
            own = before[name]
            parameter.copy_(twice(twice(own, 0), 1) / 2 if own.ndim == 2 else twice(own, 0))
        elif not name.endswith("norm.weight"):
            parameter.zero_()  # a layer that adds nothing
    norm = large.decoder.norm
    assert isinstance(norm, nn.LayerNorm)
    for parameter in (norm.weight, norm.bias):  # the logits are sums over twice as many products, each half as large
        parameter.mul_(2**-0.5)
    return large


def twice(x: Tensor, axis: int) -> Tensor:
    return torch.cat([x, x], axis)


def with_more_words(small: Tokenizer) -> Tokenizer:
    """Return the tokenizer with additional words that no text contains."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        small.save(path)
        facts = json.loads(path.read_text())
        vocabulary = facts["model"]["vocab"]
        vocabulary |= {f"<unused {id}>": id for id in range(len(vocabulary), WORDS)}
        path.write_text(json.dumps(facts))
        return load_tokenizer(path)


# ---- what it takes --------------------------------------------------------------------------------

OPENING = """
import sys, time, torch
from headlight.checkpoints import load_translator
torch.set_num_threads(1)
start = time.perf_counter()
load_translator(sys.argv[1]).prepared
print(time.perf_counter() - start)
"""


def opening(folder: Path) -> float:
    """Return the seconds until the model is ready to decode, in a process that has opened nothing before."""
    completed = subprocess.run([sys.executable, "-c", OPENING, str(folder)], capture_output=True, text=True, cwd=ROOT)
    return float(completed.stdout)


def in_the_browser(folder: Path, sentences: int) -> dict[str, Any]:
    """Return the milliseconds to answer, and the megabytes that the server holds beyond those with the small model."""
    models, shipped = folder / "checkpoints", ROOT / "checkpoints" / "en-fr"
    (models / shipped.name).symlink_to(shipped, target_is_directory=True)
    large = load_translator(models / "large")
    trace = large.trace(next(browser.sentences(large, TOKENS)))
    with browser.app(folder / "log.txt", models) as (chromium, url):
        browser.typing(chromium, url, load_translator(shipped), 2)
        server = server_of(url)
        time.sleep(SWEEP_WAIT_SECONDS)
        before = server.memory_info().rss
        typed = browser.typing(chromium, f"{url}/?model=large", large, sentences)
        chosen = browser.choosing(chromium, url, trace, sentences, "head")
        right_after = (server.memory_info().rss - before) / 1e6
        time.sleep(SWEEP_WAIT_SECONDS)
        megabytes = (server.memory_info().rss - before) / 1e6
    return {"typed": spread(typed), "chosen": spread(chosen), "megabytes": megabytes, "right_after": right_after}


def report(result: dict[str, Any]) -> str:
    if "size" in result:
        return shapes.report(result)

    def row(what: str, times: dict[str, float], unit: str, most: float) -> list[str]:
        return [what, f"{short(times['median'])} {unit}", f"{short(times['p95'])} {unit}", f"{most:g} {unit}"]

    times = result["times_the_weights"]
    rows = [
        row("open the model", result["opened"], "s", MAX_OPENING_SECONDS),
        row(f"type a new sentence of {TOKENS}", result["typed"], "ms", MAX_TYPING_MILLISECONDS),
        row("choose a head", result["chosen"], "ms", MAX_CHOOSING_MILLISECONDS),
        ["memory", f"{result['megabytes']:,.0f} MB", f"{times:.2f} times the weights", f"{MAX_MEMORY_RATIO} times"],
        ["memory right after a sentence", f"{result['right_after']:,.0f} MB", "", ""],
    ]
    return table(["", "median", "p95", "aim"], rows)

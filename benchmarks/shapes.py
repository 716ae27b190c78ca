"""Models in the shapes of published ones, with random weights, as Hugging Face saves them: import, description, app.

The weights of the end token are 0, so that it is never the likeliest, and the tables hold TOKENS positions: so every
sentence has as many tokens as that. There is no tokenizer; texts are ids.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import browser
from benchmarks.measure import ROOT, short, spread, table
from benchmarks.pupils import server_of
from headlight.checkpoints import load_translator

TOKENS = 20  # that are read, and that are written
MAX_DESCRIBE_SECONDS, MAX_IMPORT_SECONDS = 1, 12
MAX_FIRST_ANSWER_SECONDS, MAX_TYPING_SECONDS, MAX_CHOOSING_SECONDS = 8, 6, 0.25
MAX_PEAK_RATIO, MAX_MEMORY_RATIO = 1.3, 1.3  # times the file, and the weights
T5 = {"model_type": "t5", "decoder_start_token_id": 0, "n_positions": TOKENS}
SIZES: dict[str, tuple[str, dict[str, Any]]] = {
    "t5-base": ("float32", {**T5, "d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12}),
    "nllb-600m": (
        "bfloat16",
        {
            "model_type": "m2m_100",
            "vocab_size": 256_206,
            "encoder_layers": 12,
            "decoder_layers": 12,
            "encoder_ffn_dim": 4096,
            "decoder_ffn_dim": 4096,
            "max_position_embeddings": TOKENS,
        },
    ),
    "t5-large": ("float32", {**T5, "d_model": 1024, "d_ff": 4096, "num_layers": 24, "num_heads": 16}),
}

MAKE = """
import json, sys, torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM
torch.manual_seed(0)
facts, kind, folder = sys.argv[1:]
config = AutoConfig.for_model(**json.loads(facts))
model = AutoModelForSeq2SeqLM.from_config(config, dtype=getattr(torch, kind))
with torch.no_grad():
    model.get_output_embeddings().weight[config.eos_token_id] = 0
model.save_pretrained(folder)
"""
IMPORT = """
import resource, sys, time, torch
from pathlib import Path
from headlight.importers.importing import import_model
torch.set_num_threads(2)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before, start = peak(), time.perf_counter()
import_model(Path(sys.argv[1]), Path(sys.argv[2]))
print(time.perf_counter() - start, time.process_time(), peak() - before)
"""
DESCRIBE = """
import sys, time
from headlight.checkpoints import describe
start = time.perf_counter()
describe(sys.argv[1])
print(time.perf_counter() - start)
"""


def run(size: str, sentences: int) -> dict[str, Any]:
    kind, config = SIZES[size]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = folder / "checkpoints"
        _numbers_printed_by(MAKE, json.dumps(config), kind, folder / "original")
        imported = _numbers_printed_by(IMPORT, folder / "original", models / "large")
        return {
            "size": size,
            "bytes": (folder / "original" / "model.safetensors").stat().st_size,
            "imported": dict(zip(("seconds", "processor", "peak"), imported, strict=True)),
            "described": spread(_numbers_printed_by(DESCRIBE, models / "large")[0] for _ in range(3)),
            **_in_the_browser(folder, models, sentences),
        }


def _numbers_printed_by(program: str, *arguments: object) -> list[float]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    completed = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True)
    return [float(number) for number in completed.stdout.split()]


def texts() -> Iterator[str]:
    """Return distinct texts of TOKENS tokens, the end token included."""
    for first in range(1_000, 10_000, 25):
        yield " ".join(str(first + 3 * number) for number in range(TOKENS - 1))


def _in_the_browser(folder: Path, models: Path, sentences: int) -> dict[str, Any]:
    shipped = ROOT / "checkpoints" / "en-fr"
    (models / shipped.name).symlink_to(shipped, target_is_directory=True)
    large, text = load_translator(models / "large"), next(texts())
    written = large.trace(text, max_length=TOKENS - 2).translation
    trace = large.trace(text, target=written)  # with [SOS] and [EOS], as the page reads it
    with browser.app(folder / "log.txt", models) as (chromium, url):
        browser.open_app(chromium, f"{url}/?model=en-fr").close()
        server = server_of(url)
        before = server.memory_info().rss
        start = time.perf_counter()
        page = chromium.new_page()
        page.goto(f"{url}/?model=large&text={trace.text.replace(' ', '+')}")
        page.locator(".thumb").first.wait_for(timeout=120_000)
        first = time.perf_counter() - start
        page.close()
        typed = browser.typing(chromium, f"{url}/?model=large", large, sentences, texts())
        chosen = browser.choosing(chromium, url, trace, sentences, "head")
        bytes_held = server.memory_info().rss - before
    return {"first": first, "typed": spread(typed), "chosen": spread(chosen), "held": bytes_held}


def report(result: dict[str, Any]) -> str:
    imported, file, typed = result["imported"], result["bytes"], result["typed"]
    times = f"{short(imported['seconds'])} s, {short(imported['processor'])} s of a core"
    typed_text = f"{short(typed['median'] / 1000)}, {short(typed['p95'] / 1000)} s"
    rows = [
        ["describe", f"{short(result['described']['median'])} s", f"{MAX_DESCRIBE_SECONDS} s"],
        ["import", times, f"{MAX_IMPORT_SECONDS} s"],
        ["peak of the import", f"{imported['peak'] / file:.2f} times the file", f"{MAX_PEAK_RATIO} times"],
        ["first picture", f"{short(result['first'])} s", f"{MAX_FIRST_ANSWER_SECONDS} s"],
        [f"a new sentence of {TOKENS} tokens, median and p95", typed_text, f"{MAX_TYPING_SECONDS} s"],
        ["choose a head, p95", f"{short(result['chosen']['p95'])} ms", f"{MAX_CHOOSING_SECONDS * 1000:g} ms"],
        ["memory of the server", f"{result['held'] / file:.2f} times the weights", f"{MAX_MEMORY_RATIO} times"],
    ]
    return f"{result['size']}, {file / 1e6:,.0f} MB\n\n{table(['', 'measured', 'aim'], rows)}"

"""Memory that each computation behind a page takes besides the model, at 512 source and 512 target tokens.

Measured as the system sees it, in one process with the server's settings. Passes over such a sentence are many and
alike, so a function ends after some of them; what it keeps of them is small.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from headlight.analysis.passes import REQUEST_BYTES
from headlight.folders import checkpoints

MEASURED = {  # calls, and how many times they yield before they are ended
    "trace_ids": ("translator.trace_ids(source, target)", 1000),
    "check": ("check(translator.trace_ids(source, target), model)", 1000),
    "leave_one_out": ("why.leave_one_out(model, source, target)", 10),
    "value_zeroing": ("why.value_zeroing(model, source, target)", 20),
    "contributions": ("why.contributions(model, source, target)", 40),
    "head_contributions": ("why.head_contributions(model, source, target)", 100),
    "layer_contributions": ("why.layer_contributions(model, source, target, model.sites()[0])", 40),
    "gradient_times_input": ("why.gradient_times_input(model, source, target, 511)", 1000),
    "integrated_gradients": ("why.integrated_gradients(model, source, target, 511)", 8),
    "head_ablation": ("why.head_ablation(model, source, target, [(source, target)])", 10),
    "measured": ("why.measured(model, source, target)", 120),
    "contrast": ("why.contrast(model, source, target, 511, 20)", 1000),
    "score_parts": ("why.score_parts_of(stream(model, source, target), model.sites()[-1], 0, 511, 3)", 1000),
    "first_difference": ("why.first_difference(model, other, target)", 1000),
    "patching": ("why.patching(model, why.Corruption(source, other, target, 511, 20))", 16),
    "patching of patterns": ("why.patching(model, why.Corruption(source, other, target, 511, 20), ['patterns'])", 16),
    "decoder_lens": ("why.decoder_lens(model, source, target)", 30),
    "head_importance": ("head_importance(model, source, target)", 20),
    "several_heads": ("several_heads(model, source, target, model.sites()[0])", 1000),
    "faithfulness": ("faithfulness(model, source, target, [[place] for place in range(511)])", 20),
    "value_weighted_patterns": ("value_weighted_patterns(model, source, target)", 1000),
    "lens": ("lens(stream(model, source, target))", 1000),
    "whole_head": ("whole_head(model, [source, other], [target[:-1]] * 2, model.sites()[0], 0)", 1000),
    "encoder_states": ("encoder_states(model, source)", 1000),
    "read_reference": ("read_reference(translator.prepared, source, target[1:])", 1000),
    "neighbours": ("neighbours(model.output.weight.detach().numpy(), 20)", 1000),
    "beam of 10": ("decoded(Decoding.of('beam', size=10))", 10_000),
    "diverse beam of 10": ("decoded(Decoding.of('diverse', size=10, groups=10))", 10_000),
    "translate": ("list(beam(translator.prepared, translator.source_batch([source]), 5))", 1000),
    "picture of every head": ("png(patterns_svg(blocks(), title='', facts={}))", 1000),
}
PROGRAM = """
import random, sys
import numpy as np
import torch
from headlight.checkpoints import load_translator
from headlight.analysis import check, head_importance, value_weighted_patterns, why
from headlight.analysis.atlas import faithfulness
from headlight.analysis.stream import lens
from headlight.analysis.masks import whole_head
from headlight.analysis.neighbours import neighbours
from headlight.analysis.order import encoder_states
from headlight.analysis.reference import read_reference
from headlight.analysis.several_heads import several_heads
from headlight.analysis.stream import stream
from headlight.charts.svg import HeadBlock, patterns_svg
from headlight.charts.typeset import png
from transformer.decoding import beam
from headlight.machine import limit_onednn_cache, release_freed_memory, return_large_blocks
from transformer.yielding import on_yield
from ui.decoding.search import searched
from transformer.decoding import Decoding

class Enough(Exception):
    pass

def field(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024

def enough():
    global left
    left -= 1
    if left < 0:
        raise Enough

def decoded(decoding):
    steps = decoding.steps(translator.prepared, translator.source_batch([source]), record=True)
    return searched(translator, source, decoding, steps)

def blocks():
    labels, none = [str(n) for n in range(512)], np.zeros((512, 512), bool)
    weights = np.random.default_rng(0).dirichlet(np.full(512, 0.02), (3, 4, 512))
    return [HeadBlock(name, weights.astype(np.float32), labels, labels, none, None) for name in "abc"]

limit_onednn_cache()
return_large_blocks()
torch.set_num_threads(1)
translator = load_translator({model!r})
model, draw = translator.model, random.Random(0)
def run(call, length, yields):
    global source, other, target, left
    source = [draw.randrange(10, 7000) for _ in range(length - 1)] + [3]
    other = [11 if source[0] != 11 else 12, *source[1:]]
    target = [2, *(draw.randrange(10, 7000) for _ in range(length - 1)), 3]
    left = yields
    try:
        with on_yield(enough):
            return eval(call)
    except Enough:
        return None

for name, (call, yields) in {calls!r}.items():
    run(call.replace("511", "8"), 9, 1000)  # imports, and what is kept for all sentences
    release_freed_memory()
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    before = field("VmRSS")
    run(call, 512, yields)
    print(f"{{name}}: {{field('VmHWM') - before}}", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a process between two moments")
def test_nothing_behind_a_page_takes_more_than_its_bound() -> None:
    program = PROGRAM.format(model=str(checkpoints() / "en-fr"), calls=MEASURED)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    peaks = {name: int(size) for name, size in (line.rsplit(": ", 1) for line in ran.stdout.splitlines())}
    assert peaks.keys() == MEASURED.keys()
    print("\n".join(f"{name:24} {size / 1e6:4.0f} MB" for name, size in peaks.items()))
    assert {name: size for name, size in peaks.items() if size > REQUEST_BYTES} == {}

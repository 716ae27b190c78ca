"""A pass stays on the model's device: every computation runs on a simulated GPU, which refuses tensors of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight.analysis import why
from headlight.checkpoints import load_translator
from headlight.corpora.pairs import Pair
from headlight.evaluation import Evaluator
from headlight.tables import trace_over, why_over
from tests.simulated_gpu import GPU, Notes, simulated_gpu
from tests.small import TEXTS, small_checkpoint, small_t5_checkpoint
from tests.ui.state.test_yielding import CASES, CORRUPTION, SOURCE, TARGET
from transformer import Transformer, Translator, masks
from transformer.checkpoint import Checkpoint, save
from transformer.inference.linear import PackedLinear
from transformer.taps import Ablate, Replace, Scale, Site, Uniform

SELF, CROSS = Site("encoder", 1, "self"), Site("decoder", 0, "cross")
TAPS = (Ablate(SELF, 2), Scale(CROSS, 1, 0.5), Uniform(Site("decoder", 2, "self"), 0))


def _evaluate(t: Translator) -> object:
    pairs = [Pair(number, text, text) for number, text in enumerate(TEXTS)]
    return Evaluator.of(t.checkpoint, "texts", pairs)(t.checkpoint, 2)


ROW = (1.0,) + (0.0,) * (len(SOURCE) - 1)

OTHERWISE = "study", "sample", "greedy", "beam", "integrated_steps"  # which are below, but for the first
PASSES: dict[str, Callable[[Translator], Any]] = {
    **{name: case for name, case in CASES.items() if not name.endswith(OTHERWISE)},
    "integrated gradients": lambda t: why.integrated_gradients(t.model, SOURCE, TARGET, 2, points=3),
    "greedy": lambda t: t.translate(TEXTS[0], 1).ids,
    "a sample": lambda t: t.sample(TEXTS[0], seed=3).ids,
    "trace under interventions": lambda t: t.trace(TEXTS[0], interventions=TAPS, beam_size=2).cross,
    "a replaced row": lambda t: t.trace_ids(SOURCE, TARGET, [Replace(CROSS, 1, (ROW,))]).cross,
    "contributions under interventions": lambda t: why.contributions(t.model, SOURCE, TARGET, TAPS[1]).source,
    "ablation": lambda t: why.head_ablation(t.model, SOURCE[-3:], TARGET[:4], [(SOURCE[-3:], TARGET[:4])], "mean"),
    "leave one out": lambda t: why.leave_one_out(t.model, SOURCE, TARGET),
    "all parts": lambda t: why.patching(t.model, CORRUPTION, ("heads", "patterns"), "noise").restored[SELF],
    "evaluate": _evaluate,
    "a corpus": lambda t: [list(trace_over(t, TEXTS, beam_size=1)), list(why_over(t, TEXTS[:1], beam_size=1))],
    "ids on the device": lambda t: t.log_probs(t.source_batch([SOURCE]), t.source_batch([TARGET])).cpu().numpy(),
}
# What is not the network's: shares that are multiplied from layer to layer, and numbers for each row or token.
PRODUCTS_OF_SHARES = {name for name in PASSES if name.endswith(("contributions", "measured", "a corpus"))} | {
    "contributions under interventions"
}
COMPARED = {"greedy", "trace under interventions", "contributions under interventions", "ids on the device"}
SENT_UP = {
    "a replaced row",
    "headlight.analysis.resampling.Resampler", "a sample",  # random numbers
    "integrated gradients",  # the points on the path
    "headlight.analysis.atlas.atlas",  # marks of the tokens
}  # fmt: skip


def run(name: str, model: Transformer, tokenizer: Any) -> tuple[Any, Notes]:
    """Return what a pass gives on the simulated GPU, and what it did elsewhere."""
    with simulated_gpu() as notes:
        model.to(GPU)
        notes.sent_up.clear()
        return PASSES[name](Translator(Checkpoint(model, tokenizer, tokenizer, {}))), notes


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES)
def test_a_pass_stays_on_the_device_of_the_model(name: str) -> None:
    checkpoint = small_checkpoint(seed=7)
    expected = PASSES[name](Translator(checkpoint)) if name in COMPARED else None
    result, notes = run(name, checkpoint.model, checkpoint.source_tokenizer)
    assert notes.on_cpu == [] or name in PRODUCTS_OF_SHARES, "a network computes on its device"
    assert notes.sent_up == [] or name in SENT_UP, "what a network computes stays on its device"
    if expected is not None:
        np.testing.assert_allclose(result, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["translate", "trace_ids", "headlight.analysis.why.contrast"])
def test_a_pass_of_a_t5_stays_on_its_device(name: str) -> None:
    checkpoint = small_t5_checkpoint(seed=7)
    notes = run(name, checkpoint.model, checkpoint.source_tokenizer)[1]
    assert notes == Notes()


def _mask_on_the_cpu(queries: int, keys: int, device: torch.device) -> torch.Tensor:
    return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)


def test_tensors_of_two_devices_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = small_checkpoint(seed=7)
    monkeypatch.setattr(masks, "look_ahead_mask", _mask_on_the_cpu)
    with pytest.raises(RuntimeError, match="all tensors must be on one device"):
        run("trace_ids", checkpoint.model, checkpoint.source_tokenizer)


def test_a_layer_that_computes_on_the_cpu_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    def product(self: PackedLinear, x: torch.Tensor) -> torch.Tensor:
        bias = None if self.bias is None else self.bias.cpu()
        return torch.nn.functional.linear(x.cpu(), self.weight.cpu(), bias).to(x.device)

    checkpoint = small_checkpoint(seed=7)
    monkeypatch.setattr(PackedLinear, "__call__", product)
    notes = run("trace_ids", checkpoint.model, checkpoint.source_tokenizer)[1]
    assert notes.on_cpu and notes.sent_up


def test_a_checkpoint_is_loaded_onto_a_device(tmp_path: Path) -> None:
    save(small_checkpoint(seed=7), tmp_path / "small")
    with simulated_gpu():
        translator = load_translator(tmp_path / "small", GPU)
        assert {str(parameter.device) for parameter in translator.model.parameters()} == {GPU}
        assert translator.translate(TEXTS[0], 1).ids == Translator(small_checkpoint(seed=7)).translate(TEXTS[0], 1).ids

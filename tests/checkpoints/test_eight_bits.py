"""Weights in 8 bits: how near they are, what a file of them must have, and that they show the same patterns."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from headlight import checkpoints
from headlight.importers.examples import examples
from tests.small import small_checkpoint
from transformer.checkpoint.native import load_weights, save_weights
from transformer.checkpoint.weights import quantize
from transformer.translator import Translator

ROOT = Path(__file__).resolve().parents[2]


def test_each_number_is_off_by_at_most_half_a_step_of_its_row() -> None:
    weights = torch.randn(20, 30) * torch.logspace(-6, 3, 20)[:, None]
    weights[3] = 0
    parts = quantize("w", weights)
    assert parts["w"].dtype == torch.int8 and parts["w"].shape == weights.shape
    off = (parts["w"] * parts["w.step"] - weights).abs()
    assert (off <= weights.abs().amax(1, keepdim=True) / 254 * 1.001).all()
    assert off.max() > 0 and not off[3].any()


def test_saved_and_loaded(tmp_path: Path) -> None:
    model = small_checkpoint().model
    save_weights(model, tmp_path / "whole")
    save_weights(model, tmp_path / "eighth", bits=8)
    read = dict(load_weights(model.config, tmp_path / "eighth").named_parameters())
    for name, parameter in model.named_parameters():
        largest = parameter.abs().amax(-1, keepdim=True) if parameter.dim() == 2 else parameter.abs()
        assert (read[name] - parameter).abs().le(largest / 250 + 1e-9).all(), name
    stored = load_file(tmp_path / "eighth")
    assert {stored[name].dtype for name, p in model.named_parameters() if p.dim() == 2} == {torch.int8}


@pytest.mark.parametrize("damage", ["no step", "a step for another row", "a step that is no number"])
def test_what_does_not_fit_is_refused(tmp_path: Path, damage: str) -> None:
    model = small_checkpoint().model
    save_weights(model, tmp_path / "w", bits=8)
    tensors = load_file(tmp_path / "w")
    name = next(name for name in tensors if name.endswith(".step"))
    step = tensors.pop(name)
    if damage == "a step for another row":
        tensors[name] = torch.cat([step, step])
    if damage == "a step that is no number":
        tensors[name] = torch.ones_like(step, dtype=torch.int32)
    save_file(tensors, tmp_path / "w")
    with pytest.raises(ValueError, match="in 8 bits without a step for each of its rows"):
        load_weights(model.config, tmp_path / "w")


@pytest.mark.slow
def test_they_show_the_same_patterns(tmp_path: Path) -> None:
    """A trained model's heads in 8 bits: nearly all rows look at the same token, and weights move by little."""
    whole = checkpoints.load(ROOT / "checkpoints" / "english-french")
    save_weights(whole.model, tmp_path / "w", bits=8)
    eighth = replace(whole, model=load_weights(whole.model.config, tmp_path / "w"))
    same, off = [], []
    for text in [example.text for example in examples(whole.card)]:
        ids = Translator(whole).translate(text, beam_size=1).ids
        sides = [Translator(one) for one in (whole, eighth)]
        first, second = (side.trace_ids(side.encode(text), (side.model.config.sos_id, *ids)) for side in sides)
        for kind in ("encoder", "decoder", "cross"):
            a, b = first.pattern(kind), second.pattern(kind)
            same.append((a.argmax(-1) == b.argmax(-1)).ravel())
            off.append(np.abs(a - b).ravel())
    assert np.concatenate(same).mean() > 0.98
    assert np.concatenate(off).mean() < 0.005

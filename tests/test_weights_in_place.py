"""The weights of a large model stay in their file and in its number type, and results are as in float32."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from headlight import checkpoints
from headlight.checkpoints import load_translator
from headlight.importers.importing import import_model
from tests.small import TEXTS, small_checkpoint, small_t5_checkpoint
from tests.ui.state.test_yielding import CASES
from transformer import Translator
from transformer.checkpoint import Checkpoint, native, weights
from transformer.inference import prepared
from transformer.inference.linear import WeightSharingLinear
from transformer.model import count_parameters

HALVES = [torch.bfloat16, torch.float16]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every model as a large one."""
    for module in (native, prepared):
        monkeypatch.setattr(module, "LARGE_PARAMETERS", 1)


def saved(checkpoint: Checkpoint, folder: Path, dtype: torch.dtype = torch.bfloat16) -> Path:
    """Write a checkpoint whose matrices are of that type."""
    checkpoints.save(checkpoint, folder)
    tensors = load_file(folder / native.WEIGHTS)
    save_file({n: t.to(dtype) if t.dim() > 1 else t for n, t in tensors.items()}, folder / native.WEIGHTS)
    return folder


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("dtype", [*HALVES, torch.float32])
@pytest.mark.parametrize("make", [small_checkpoint, small_t5_checkpoint])
def test_matrices_lie_in_the_mapped_file_in_their_type(make: Any, dtype: torch.dtype, tmp_path: Path) -> None:
    folder = saved(make(), tmp_path, dtype)
    model = checkpoints.load(folder).model
    mapped = {p.untyped_storage().data_ptr() for p in model.parameters() if p.dim() > 1}
    assert len(mapped) == 1, "views of one map of the file"
    assert {p.dtype for p in model.parameters() if p.dim() > 1} == {dtype}
    assert {p.dtype for p in model.parameters() if p.dim() == 1} == {torch.float32}
    stored = load_file(folder / native.WEIGHTS)
    assert all(torch.equal(p.data, stored[name]) for name, p in model.named_parameters())
    shared = Translator(checkpoints.load(folder)).prepared.output
    assert isinstance(shared, WeightSharingLinear)
    assert shared.parts[0][0].dtype == dtype


@pytest.mark.usefixtures("large")
def test_a_file_that_is_replaced_changes_nothing_and_nothing_is_written_to_it(tmp_path: Path) -> None:
    folder = saved(small_checkpoint(), tmp_path / "model")
    before = (folder / native.WEIGHTS).read_bytes()
    translator = load_translator(folder)
    due = translator.log_probs([[5, 3]], [[2, 6]])
    with torch.no_grad():
        translator.model.decoder.layers[0].feed_forward.inner.weight.add_(1)
    assert (folder / native.WEIGHTS).read_bytes() == before
    again = load_translator(folder)
    other = saved(small_checkpoint(seed=9), tmp_path / "other")
    os.replace(other / native.WEIGHTS, folder / native.WEIGHTS)
    assert torch.equal(again.log_probs([[5, 3]], [[2, 6]]), due)


def test_a_tensor_at_an_odd_byte_is_copied(tmp_path: Path) -> None:
    path = tmp_path / "w"
    path.write_bytes(b"\1" + torch.arange(6.0).numpy().tobytes())
    stored = weights.Stored(path, 1, (2, 3), "F32")
    mapped = weights.map_file(path)
    assert torch.equal(weights.read_dequantized(stored, None, mapped), torch.arange(6.0).view(2, 3))


def test_a_network_that_is_loaded_draws_no_random_number(tmp_path: Path) -> None:
    """Drawing takes longer than reading, and touches memory for a second copy of all weights."""
    folder = saved(small_checkpoint(), tmp_path)
    torch.manual_seed(5)
    due = torch.rand(1)
    torch.manual_seed(5)
    checkpoints.load(folder)
    assert torch.equal(torch.rand(1), due)


def test_a_small_model_is_float32_and_a_type_may_be_asked_for(tmp_path: Path) -> None:
    folder = saved(small_checkpoint(), tmp_path)
    for dtype, due in ((None, torch.float32), ("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        model = checkpoints.load(folder, dtype=dtype).model
        assert {p.dtype for p in model.parameters() if p.dim() > 1} == {due}
        assert {p.dtype for p in model.parameters() if p.dim() == 1} == {torch.float32}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_analysis_runs_on_weights_in_half_precision(name: str) -> None:
    checkpoint = small_checkpoint(seed=7)
    for parameter in checkpoint.model.parameters():
        if parameter.dim() > 1:
            parameter.data = parameter.data.bfloat16()
    CASES[name](Translator(checkpoint))


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("dtype", HALVES)
def test_a_trace_is_that_of_the_rounded_weights_in_float32(dtype: torch.dtype, tmp_path: Path) -> None:
    folder = saved(small_checkpoint(positions="learned"), tmp_path, dtype)
    half, single = load_translator(folder), load_translator(folder, dtype="float32")
    first, second = half.trace(TEXTS[0]), single.trace(TEXTS[0])
    assert first.translation == second.translation
    exact = isinstance(half.prepared.output, WeightSharingLinear) and half.prepared.output.converts
    near = 1e-5 if exact else 0.05
    for kind in first.kinds:
        torch.testing.assert_close(
            torch.from_numpy(first.pattern(kind)), torch.from_numpy(second.pattern(kind)), atol=near, rtol=near
        )


@pytest.mark.parametrize("dtype", HALVES)
def test_an_import_writes_the_types_that_it_read(dtype: torch.dtype, tmp_path: Path) -> None:
    """Matrices as they are; vectors, which are next to nothing, in float32; 64 bits become 32."""
    folder = saved(small_checkpoint(), tmp_path / "theirs", dtype)
    tensors = load_file(folder / native.WEIGHTS)
    wide = "decoder.layers.0.feed_forward.inner.weight"
    tensors[wide] = tensors[wide].double()
    save_file(tensors, folder / native.WEIGHTS)
    import_model(folder, tmp_path / "ours")
    written = load_file(tmp_path / "ours" / native.WEIGHTS)
    assert written.keys() == tensors.keys()
    for name, numbers in written.items():
        assert torch.equal(numbers.double(), tensors[name].double())
        assert numbers.dtype == (dtype if numbers.dim() > 1 and name != wide else torch.float32)


VARIANTS: list[tuple[Any, dict[str, Any]]] = [
    (small_checkpoint, {"tied": "none", "positions": "stored"}),
    (small_checkpoint, {"tied": "all", "positions": "learned"}),
    (small_checkpoint, {"tied": "output"}),
    (small_t5_checkpoint, {"tied": "none"}),
    (small_t5_checkpoint, {}),
]


@pytest.mark.parametrize(("make", "changes"), VARIANTS)
def test_a_description_counts_what_the_network_has_and_reads_no_weight(
    make: Any, changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = make(**changes)
    folder, model = saved(checkpoint, tmp_path), checkpoint.model
    monkeypatch.setattr(weights.Stored, "read", lambda stored: pytest.fail("a weight was read"))
    monkeypatch.setattr(native, "map_file", lambda path: pytest.fail("the weights were mapped"))
    described = checkpoints.describe(folder)
    parts = {part: count_parameters(getattr(model, part)) for part in ("encoder", "decoder", "output")}
    assert described.parameters == {"all": count_parameters(model), **parts}
    assert described.config == model.config and described.card == checkpoint.card
    matrices = sum(p.dim() > 1 for p in model.parameters())
    assert described.dtypes["BF16"] == matrices

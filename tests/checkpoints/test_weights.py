"""A safetensors header is believed as far as the file bears it out."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from headlight.importers.source import open_source
from tests.checkpoints.opening import flat_refusal, opened, refusal, same, tensors
from transformer.checkpoint.weights import DTYPES, MAX_HEADER_BYTES, MAX_NAME_CHARACTERS, MAX_WEIGHTS_BYTES


def raw(path: Path, header: Any, numbers: int = 16, length: int | None = None) -> Path:
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(content) if length is None else length
    path.write_bytes(size.to_bytes(8, "little") + content + bytes(numbers))
    return path


def entry(dtype: Any = "F32", shape: Any = (4,), offsets: Any = (0, 16)) -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize("name", list(DTYPES))
def test_each_type_of_number_is_read_as_safetensors_writes_it(tmp_path: Path, name: str) -> None:
    due = {"a": torch.tensor([0.0, 1.0, 3.0]).to(DTYPES[name]), "b": torch.ones(2, 0).to(DTYPES[name])}
    save_file(due, tmp_path / "a.safetensors")
    weights = opened(tmp_path / "a.safetensors")
    assert weights["a"].dtype == due["a"].dtype and weights["b"].shape == (2, 0)
    assert torch.equal(weights["a"].float(), due["a"].float())


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ({"a": entry("F33")}, "the number type is 'F33', not one of"),
        ({"a": entry(["F32"])}, "cannot be read"),
        ({"a": entry(shape=(5,))}, "does not take 16 bytes"),
        ({"a": entry(shape=(-4,))}, "not a whole number"),
        ({"a": entry(shape=(4.0,))}, "not a whole number"),
        ({"a": entry(shape=(10**18, 10**18))}, "not a whole number"),
        ({"a": entry(shape=[1] * 1000)}, "dimensions"),
        ({"a": entry(shape="4")}, "not a whole number"),
        ({"a": entry(offsets=(0,))}, "cannot be read"),
        ({"a": entry(offsets=(4, 20))}, "leave a gap"),
        ({"a": entry(offsets=(-16, 0))}, "not a whole number"),
        ({"a": entry(offsets=(16, 0))}, "does not take -16 bytes"),
        ({"a": entry(), "b": entry()}, "overlap"),
        ({"a": entry(shape=(8,), offsets=(0, 32))}, "should have"),
        ({"a": entry(shape=(2,), offsets=(0, 8))}, "should have"),
        ({"a": {"dtype": "F32"}}, "cannot be read"),
        ({"a": 7}, "cannot be read"),
        ([1, 2], "cannot be read"),
        ({}, "should have"),
        ({"__metadata__": {"a": 1}, "a": entry()}, "not text"),
        ({"__metadata__": [], "a": entry()}, "not text"),
        (b'{"a": {"dtype": "F32"', "cannot be read"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a":' * 9_000, "cannot be read"),
        (b'{"\xff": 1}', "cannot be read"),
        (b'{"__metadata__": {"a": "' + b"[" * 2**20 + b'"}}', "not that of a safetensors file"),
        (b'{"a": [' + b"[]," * 2**20 + b"1]}", "not that of a safetensors file"),
        (b'{"a": [' + b"1," * 2**20 + b"1]}", "not that of a safetensors file"),
        ({"x" * (MAX_NAME_CHARACTERS + 1): entry()}, "characters"),
    ],
)
def test_a_header_that_lies(tmp_path: Path, header: Any, what: str) -> None:
    assert what in str(flat_refusal(raw(tmp_path / "a.safetensors", header)))


@pytest.mark.parametrize("length", [0, 1, 2**20, 2**63, 2**64 - 1])
def test_a_header_that_lies_about_its_length(tmp_path: Path, length: int) -> None:
    refusal(raw(tmp_path / "a.safetensors", {"a": entry()}, length=length))


def test_a_header_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    with open(path, "wb") as file:  # a file of holes: it takes no room
        file.write((MAX_HEADER_BYTES + 1).to_bytes(8, "little") + b"{")
        file.truncate(MAX_HEADER_BYTES + 100)
    assert f"at most {MAX_HEADER_BYTES:,} are read" in str(refusal(path))


def test_more_weights_than_the_limit_are_refused_unread(tmp_path: Path) -> None:
    size = MAX_WEIGHTS_BYTES + 4
    path = raw(tmp_path / "a.safetensors", {"a": entry(shape=(size // 4,), offsets=(0, size))}, 0)
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size + size)  # holes again
    assert f"{size:,} bytes of weights" in str(refusal(path))


def test_a_hundred_thousand_tensors(tmp_path: Path) -> None:
    header = {f"layers.{n}.weight": entry(shape=(1,), offsets=(4 * n, 4 * n + 4)) for n in range(100_000)}
    assert "100,000 tensors" in str(flat_refusal(raw(tmp_path / "a.safetensors", header, 400_000)))
    torch.save({name: torch.ones(1) for name in list(header)[:10_100]}, tmp_path / "a.pt")
    assert "blocks of numbers" in str(refusal(tmp_path / "a.pt"))


@pytest.mark.parametrize("ending", ["safetensors", "pt"])
def test_a_file_that_is_cut_off_anywhere(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    (save_file if ending == "safetensors" else torch.save)(tensors(), path)
    content = path.read_bytes()
    for length in (*range(0, len(content), 97), len(content) - 1):
        path.write_bytes(content[:length])
        refusal(path)


def test_a_file_that_is_cut_off_after_it_was_opened(tmp_path: Path) -> None:
    save_file(tensors(), tmp_path / "a.safetensors")
    with open_source(tmp_path / "a.safetensors") as source:
        (tmp_path / "a.safetensors").write_bytes(b"")
        with pytest.raises(ValueError, match="ends in the middle"):
            source.weights.tensor("table")


def test_each_tensor_has_memory_of_its_own(tmp_path: Path) -> None:
    save_file(tensors(), tmp_path / "a.safetensors")
    with open_source(tmp_path / "a.safetensors") as source:
        source.weights.tensor("table").zero_()
        assert same({"table": source.weights.tensor("table")}, {"table": tensors()["table"]})

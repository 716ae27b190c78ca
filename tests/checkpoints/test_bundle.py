"""A native folder as a zip and as one file, and back."""

import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from headlight import checkpoints
from headlight.checkpoints import load_translator
from headlight.importers.bundle import METADATA_FILES, safetensors_bundle, zip_folder
from headlight.importers.source import open_source
from tests.checkpoints.opening import refusal
from tests.small import small_checkpoint
from transformer.checkpoint.safetensors_file import header_bytes, read_header
from transformer.tokenizers import Tokenizer

SRC, TGT = [[5, 6, 7, 3]], [[2, 8, 9]]


@pytest.fixture(params=[False, True], ids=["one tokenizer", "two tokenizers"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    checkpoint = small_checkpoint(tied="output")
    if request.param:
        checkpoint.target_tokenizer = Tokenizer(checkpoint.source_tokenizer.inner)
    checkpoints.save(checkpoint, tmp_path / "model")
    (tmp_path / "model" / "notes.txt").write_text("mine")
    return tmp_path / "model"


PACKERS = {"model.zip": zip_folder, "model.safetensors": safetensors_bundle}


@pytest.mark.parametrize("name", list(PACKERS))
def test_what_is_packed_is_opened_again(model: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out" / name
    out.parent.mkdir()
    PACKERS[name](model, out)
    assert [path.name for path in out.parent.iterdir()] == [name]
    due = load_translator(model).log_probs(SRC, TGT)
    with open_source(out) as source:
        assert source.name == name and source.folder
        packed = {path.name for path in source.folder.iterdir()}
        assert packed == {path.name for path in model.iterdir()} - {"notes.txt"}
        assert all(
            (source.folder / name).read_bytes() == (model / name).read_bytes() for name in packed & set(METADATA_FILES)
        )
        assert torch.equal(load_translator(source.folder).log_probs(SRC, TGT), due)


@pytest.mark.parametrize("name", list(PACKERS))
def test_the_same_folder_gives_the_same_bytes(model: Path, tmp_path: Path, name: str) -> None:
    for number in (1, 2):
        PACKERS[name](model, tmp_path / f"{number}")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_other_programs_read_them(model: Path, tmp_path: Path) -> None:
    safetensors_bundle(model, tmp_path / "one.safetensors")
    tensors, due = load_file(tmp_path / "one.safetensors"), load_file(model / "model.safetensors")
    assert tensors.keys() == due.keys() and all(torch.equal(tensors[name], due[name]) for name in due)
    zip_folder(model, tmp_path / "m.zip")
    with zipfile.ZipFile(tmp_path / "m.zip") as archive:
        assert archive.testzip() is None
        assert all(name.startswith("model/") for name in archive.namelist())


@pytest.mark.parametrize("name", list(PACKERS))
def test_what_is_no_model_is_not_packed(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is missing"):
        PACKERS[name](tmp_path, tmp_path / "out")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("note", ["not base64", "AAAA", "eJwLAQAAQgBC"])
def test_notes_that_are_none(model: Path, tmp_path: Path, note: str) -> None:
    header = read_header(model / "model.safetensors")
    numbers = (model / "model.safetensors").read_bytes()[header.start :]
    (tmp_path / "a.safetensors").write_bytes(header_bytes(header.tensors, {"config.json": note}) + numbers)
    refusal(tmp_path / "a.safetensors")

"""Thousands of damaged files: each is opened, or refused in one sentence; nothing else may come out."""

import json
import random
import re
import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest
import torch

from headlight import checkpoints
from headlight.importers.bundle import safetensors_bundle, zip_folder
from headlight.importers.importing import Examination, examine
from tests.checkpoints.ctranslate2_writer import draw_model, folder_of, of_model, quantized
from tests.checkpoints.opening import opened, tarred, tensors
from tests.faults import in_one_sentence
from tests.fuzzing import fuzz, fuzz_file
from tests.small import small_checkpoint

pytestmark = pytest.mark.fuzz
ATTEMPTS = 60  # per kind of file
FAIRSEQ = Path(__file__).parents[1] / "fixtures" / "fairseq" / "omegaconf-2.4.pt"
TUTORIAL = Path(__file__).parents[1] / "fixtures" / "tutorial-checkpoints" / "ground-up" / "transformer_weights.pth"


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A whole file of each kind."""
    folder = tmp_path_factory.mktemp("valid")
    model = folder / "model"
    checkpoints.save(small_checkpoint(), model)
    safetensors_bundle(model, folder / "one.safetensors")
    zip_folder(model, folder / "model.zip")
    tarred(folder / "model.tar", model)
    tarred(folder / "model.tar.gz", model, "w:gz")
    saved = {"epoch": 3, "model_state_dict": {f"module.{name}": tensor for name, tensor in tensors().items()}}
    torch.save(saved, folder / "training.pt")
    torch.save(saved, folder / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(saved, folder / "protocol4.pt", pickle_protocol=4)
    shutil.copyfile(TUTORIAL, folder / "tutorial.pth")
    shutil.copyfile(FAIRSEQ, folder / "omegaconf.pt")
    return {path.name: path for path in folder.iterdir() if path.is_file()} | {"folder": model}


@pytest.mark.parametrize(
    "name",
    [
        "one.safetensors", "model.zip", "model.tar", "model.tar.gz", "training.pt", "legacy.pt", "protocol4.pt",
        "tutorial.pth", "omegaconf.pt",
    ],
)
def test_damaged_files(valid: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    path = Path(shutil.copyfile(valid[name], tmp_path / name))
    assert in_one_sentence(partial(opened, path)) and in_one_sentence(partial(examine, path))
    read = (opened, examine)
    assert fuzz_file(name, ATTEMPTS, path, lambda chance: in_one_sentence(partial(chance.choice(read), path))) < 1
    assert {entry.name for entry in tmp_path.iterdir()} == {name, "temporary"}
    assert not list((tmp_path / "temporary").glob("headlight-*"))


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json", "card.json"])
def test_damaged_folders(valid: dict[str, Path], tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(valid["folder"], folder)
    assert in_one_sentence(partial(checkpoints.load, folder)) and in_one_sentence(partial(examine, folder))

    def succeeds(chance: random.Random) -> bool:
        return in_one_sentence(partial(chance.choice((checkpoints.load, examine)), folder))

    assert fuzz_file(f"folder {name}", ATTEMPTS // 2, folder / name, succeeds) < 1


TUTORIALS = sorted(TUTORIAL.parents[1].glob("*/*.pt*"))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.parent.name)
def test_state_dicts_with_faults(tmp_path: Path, path: Path) -> None:
    """Whole files whose tensors are not those of a form: missing, renamed, of another shape or type."""
    known = torch.load(path, weights_only=True)
    known = known.get("model_state_dict", known)

    def attempt(chance: random.Random) -> bool:
        faulty, examined = _faulty(known, chance), list[Examination]()
        torch.save(faulty, tmp_path / "a.pt")
        if not in_one_sentence(lambda: examined.append(examine(tmp_path / "a.pt"))):
            return False
        fits = examined[0].form == form
        assert fits or examined[0].diagnosis is not None
        assert fits or faulty.keys() != known.keys() or shapes(faulty) != shapes(known)
        return fits

    form = examine(path).form
    assert form is not None
    assert fuzz(f"tutorial {path.parent.name}", ATTEMPTS // 4, attempt) < 1


def shapes(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def _faulty(known: dict[str, torch.Tensor], chance: random.Random) -> dict[str, torch.Tensor]:
    tensors = dict(known)
    for _ in range(chance.choice((1, 1, 3, 30))):
        name = chance.choice(list(tensors))
        tensor = tensors.pop(name)
        fault = chance.choice(("missing", "renamed", "reshaped", "retyped", "nothing"))
        if fault == "renamed":
            name = re.sub(r"\d+", str(chance.choice((0, 7, 10**4, 10**30))), name) + chance.choice(("", "x"))
            tensors[name] = tensor
        elif fault == "reshaped":
            tensors[name] = chance.choice((tensor.reshape(-1), tensor[None], tensor.flatten()[:1], tensor.sum()))
        elif fault == "retyped":
            tensors[name] = tensor.long() if chance.random() < 0.5 else tensor.half()
        elif fault == "nothing":
            tensors[name] = tensor[:0] if tensor.dim() else tensor
    return tensors


@pytest.mark.parametrize("name", ["model.bin", "config.json", "shared_vocabulary.json"])
def test_damaged_folders_of_ctranslate2(tmp_path: Path, name: str) -> None:
    file = of_model(draw_model(random.Random(1), d_model=12))
    folder = folder_of(tmp_path / "model", quantized(file, "int8"))
    assert in_one_sentence(partial(examine, folder))
    examined = partial(examine, folder)
    assert fuzz_file(f"ctranslate2 {name}", ATTEMPTS // 2, folder / name, lambda _: in_one_sentence(examined)) < 1


HUGGING_FACE = ("config.json", "generation_config.json", "pytorch_model.bin", "vocab.json", "source.spm")


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as opus-mt has them."""
    pytest.importorskip("transformers")
    from tests.checkpoints import hugging_face

    folder = tmp_path_factory.mktemp("marian")
    pieces = hugging_face.piece_model(folder, "source")
    shutil.copyfile(pieces, folder / "source.spm")
    shutil.copyfile(pieces, folder / "target.spm")
    words = sorted(line.split("\t")[0] for line in (folder / "source.vocab").read_text("utf-8").splitlines())
    words = ["</s>", "<unk>", *(word for word in words if word not in ("<s>", "</s>", "<unk>")), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({word: id for id, word in enumerate(words)}), "utf-8")
    ids = {"vocab_size": len(words), "pad_token_id": len(words) - 1, "decoder_start_token_id": len(words) - 1}
    model = hugging_face.random_model("marian", **ids, eos_token_id=0)
    return hugging_face.save(model, folder, pickled=True)


@pytest.mark.parametrize("name", HUGGING_FACE)
def test_damaged_folders_of_hugging_face(marian: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "opus"
    shutil.copytree(marian, folder)
    assert examine(folder).form == "Hugging Face Marian"
    examined = partial(examine, folder)
    assert fuzz_file(f"marian {name}", ATTEMPTS // 4, folder / name, lambda _: in_one_sentence(examined)) < 1

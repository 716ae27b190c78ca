"""Whatever a person brings is opened to the same tensors, by `torch.load(weights_only=True)` and here."""

import json
import shutil
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from headlight.importers.source import open_source
from tests.checkpoints.opening import folder, opened, refusal, same, tarred, tensors, zipped

TUTORIALS = sorted((Path(__file__).parents[1] / "fixtures" / "tutorial-checkpoints").glob("*/*.pt*"))


@pytest.mark.parametrize(
    ("ending", "options"),
    [(".pt", {}), (".pth", {"_use_new_zipfile_serialization": False}), (".ckpt", {"pickle_protocol": 4}), (".bin", {})],
)
def test_a_file_of_torch_save(tmp_path: Path, options: dict, ending: str) -> None:
    path = tmp_path / f"model{ending}"
    torch.save(tensors(), path, **options)
    assert same(opened(path), tensors())


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}])
def test_every_kind_of_tensor_is_what_torch_says_it_is(tmp_path: Path, options: dict) -> None:
    whole = torch.randn(6, 4)
    layer = nn.Linear(3, 2)
    value = OrderedDict(
        transposed=whole.T,
        middle=whole[2:4],
        every_second=whole[::2, ::2],
        tied=whole,
        parameter=layer.weight,
        nothing=torch.empty(0, 3),
        repeated=torch.ones(1).expand(5, 1),
        mask=torch.tensor([True, False]),
        **{str(dtype): torch.ones(3).to(dtype) for dtype in (torch.float64, torch.bfloat16, torch.int8, torch.uint8)},
    )
    value._metadata = {"": {"version": 1}}  # type: ignore[attr-defined]  # as `Module.state_dict` has
    path = tmp_path / "model.pt"
    torch.save(value, path, **options)
    assert same(opened(path), torch.load(path, weights_only=True))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.parent.name)
def test_the_tutorials_files(path: Path) -> None:
    due = torch.load(path, weights_only=True)
    assert same(opened(path), due.get("model_state_dict", due))


def test_a_training_checkpoint_is_opened_to_its_model(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(3)).sum().backward()
    optimizer.step()
    saved = {"epoch": 4, "loss": torch.tensor(0.5), "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(saved, tmp_path / "last.pt")
    with open_source(tmp_path / "last.pt") as source:
        assert set(source.weights.infos) == {"weight", "bias"}
        assert source.origin == (("Weights found under", "model"),)
        assert source.facts == {"epoch": 4}


def test_encoder_and_decoder_saved_apart_are_put_together(tmp_path: Path) -> None:
    torch.save({"encoder": tensors(1), "decoder": tensors(2), "optimizer": tensors()}, tmp_path / "a.pt")
    joined = opened(tmp_path / "a.pt")
    assert same(
        joined, {f"{p}.{n}": t for p, part in (("encoder", 1), ("decoder", 2)) for n, t in tensors(part).items()}
    )


@pytest.mark.parametrize(
    ("prefix", "where", "origin"),
    [
        ("module.", None, "nn.DataParallel"),
        ("_orig_mod.", None, "torch.compile"),
        ("module._orig_mod.", "model_state_dict", "torch.compile"),
        ("_orig_mod.module.", None, "torch.compile"),
        ("model.", "state_dict", "Lightning"),
    ],
)
def test_what_wrappers_put_before_the_names_is_taken_off(
    tmp_path: Path, prefix: str, where: str | None, origin: str
) -> None:
    wrapped = {prefix + name: tensor for name, tensor in tensors().items()}
    value = {where: wrapped, "pytorch-lightning_version": "2.1"} if where else wrapped
    torch.save(value, tmp_path / "a.pt")
    assert same(opened(tmp_path / "a.pt"), tensors())
    with open_source(tmp_path / "a.pt") as source:
        assert origin in str(source.origin)


def test_names_that_begin_with_model_are_left_outside_lightning(tmp_path: Path) -> None:
    torch.save({f"model.{name}": tensor for name, tensor in tensors().items()}, tmp_path / "a.pt")
    assert all(name.startswith("model.") for name in opened(tmp_path / "a.pt"))


def test_a_folder_keeps_its_other_files(tmp_path: Path) -> None:
    with open_source(folder(tmp_path / "opus")) as source:
        assert source.name == "opus" and source.folder == tmp_path / "opus"
        config = source.file("config.json")
        assert config and config.read_text() == "{}"
        assert source.file("vocab.json") is None
        assert source.size == (tmp_path / "opus" / "model.safetensors").stat().st_size


def test_a_folder_with_a_bin_and_what_a_trainer_leaves(tmp_path: Path) -> None:
    torch.save(tensors(), tmp_path / "pytorch_model.bin")
    torch.save({"lr": 1.0}, tmp_path / "training_args.bin")
    assert same(opened(tmp_path), tensors())


@pytest.mark.parametrize("kind", ["model.safetensors", "pytorch_model.bin"])
def test_shards(tmp_path: Path, kind: str) -> None:
    due, (stem, ending) = tensors(4), kind.split(".")
    names = list(due)
    files = {f"{stem}-0000{n}-of-2.{ending}": names[n - 1 :: 2] for n in (1, 2)}
    for file, held in files.items():
        (save_file if ending == "safetensors" else torch.save)({name: due[name] for name in held}, tmp_path / file)
    index = {"weight_map": {name: file for file, held in files.items() for name in held}}
    (tmp_path / f"{kind}.index.json").write_text(json.dumps(index))
    assert same(opened(tmp_path), due)
    with open_source(tmp_path) as source:
        assert source.size == sum((tmp_path / file).stat().st_size for file in files)


@pytest.mark.parametrize("shard", ["../outside.safetensors", "/etc/passwd", "sub/a.safetensors", "none.safetensors", 7])
def test_a_shard_that_is_no_file_of_the_folder(tmp_path: Path, shard: str | int) -> None:
    save_file(tensors(), tmp_path / "outside.safetensors")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"scale": shard}}))
    assert "model.safetensors.index.json" in str(refusal(tmp_path / "in"))


def test_a_shard_that_lacks_what_the_index_says(tmp_path: Path) -> None:
    save_file(tensors(), tmp_path / "a.safetensors")
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"other": "a.safetensors"}}))
    assert "is missing the tensor 'other'" in str(refusal(tmp_path))


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "tar.bz2"])
def test_an_archive_is_unpacked_for_a_while(tmp_path: Path, ending: str) -> None:
    of = folder(tmp_path / "model")
    archive = tmp_path / f"a.{ending}"
    if ending == "zip":
        shutil.make_archive(str(tmp_path / "a"), "zip", tmp_path, "model")
    else:
        tarred(archive, of, f"w:{ending[4:]}")
    assert same(opened(archive), tensors())
    with open_source(archive) as source:
        unpacked = source.folder
        assert source.name == archive.name and unpacked and (unpacked / "config.json").is_file()
    assert not unpacked.exists()


def test_an_archive_of_one_file_of_weights(tmp_path: Path) -> None:
    torch.save(tensors(), tmp_path / "model.pt")
    zipped(tmp_path / "a.zip", {"deep/er/model.pt": (tmp_path / "model.pt").read_bytes(), "__MACOSX/._x": b"litter"})
    assert same(opened(tmp_path / "a.zip"), tensors())


def test_a_link_inside_the_folder_and_one_of_the_hub_cache(tmp_path: Path) -> None:
    real = folder(tmp_path / "real")
    (real / "model.safetensors").rename(real / "weights")
    (real / "model.safetensors").symlink_to("weights")
    assert same(opened(real), tensors())
    cached = tmp_path / "models--owner--tiny"
    snapshot = cached / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (cached / "blobs").mkdir()
    (real / "weights").rename(cached / "blobs" / "f00")
    (snapshot / "model.safetensors").symlink_to("../../blobs/f00")
    assert same(opened(snapshot), tensors())
    with open_source(snapshot) as source:
        assert source.name == "tiny"
    own = folder(tmp_path / "snapshots" / "epoch10")
    with open_source(own) as source:
        assert source.name == "epoch10"


def test_a_link_that_leads_out_of_the_folder(tmp_path: Path) -> None:
    save_file(tensors(), tmp_path / "secret")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "model.safetensors").symlink_to("../secret")
    assert "leads out of the folder" in str(refusal(tmp_path / "in"))
    assert "neither a file nor a folder" in str(refusal(Path("/dev/zero")))


@pytest.mark.parametrize(
    ("content", "name", "what"),
    [
        (b"", "a.pt", "empty"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "model.h5", "Keras"),
        (b"GGUF" + bytes(50), "a.gguf", "import the model that it was converted from"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "pytorch_model.bin", "git lfs pull"),
        (b"\xfd7zXZ\x00" + bytes(50), "a.tar.xz", "tar.gz"),
        (b"hello, I am a poem", "poem.txt", "not a weights file"),
        (b"hello, I am a poem", "poem.pt", "Choose one that torch.save wrote"),
        (b'{"a": 1}', "config.json", "not a weights file"),
    ],
)
def test_another_kind_of_file_is_named(tmp_path: Path, content: bytes, name: str, what: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert what in str(refusal(tmp_path / name))


def test_nothing_several_and_other_programs_weights(tmp_path: Path) -> None:
    assert "There is no file" in str(refusal(tmp_path / "none.pt"))
    (tmp_path / "tf_model.h5").touch()
    assert "only tf_model.h5" in str(refusal(tmp_path))
    for name in ("a.pt", "b.pt"):
        torch.save(tensors(), tmp_path / name)
    assert "Choose one: a.pt, b.pt" in str(refusal(tmp_path))


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (torch.ones(3), "single tensor"),
        ([torch.ones(3)], "list"),
        ({"epoch": 3}, "without tensors"),
        ({"a": torch.complex(torch.ones(2), torch.ones(2))}, "ComplexFloat"),
        ({"a": torch.eye(3).to_sparse()}, "_rebuild_sparse_tensor"),
    ],
)
def test_what_is_no_state_dict(tmp_path: Path, value: object, what: str) -> None:
    torch.save(value, tmp_path / "a.pt")
    refused = refusal(tmp_path / "a.pt")
    assert what in str(refused)


def test_a_program_of_torchscript(tmp_path: Path) -> None:
    torch.jit.script(nn.Linear(2, 2)).save(str(tmp_path / "a.pt"))
    assert "TorchScript" in str(refusal(tmp_path / "a.pt"))


def test_a_torch_file_packed_again(tmp_path: Path) -> None:
    torch.save(tensors(), tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as archive:
        zipped(tmp_path / "b.pt", {name: archive.read(name) for name in archive.namelist()})
    assert "another program" in str(refusal(tmp_path / "b.pt"))


def test_a_program_error_in_the_body_is_not_a_refusal(tmp_path: Path) -> None:
    torch.save(tensors(), tmp_path / "a.pt")
    with pytest.raises(KeyError), open_source(tmp_path / "a.pt") as source:
        source.weights.tensor("none")


def test_files_of_other_programs_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "model.npz", **{"special:model.yml": np.zeros(3, np.int8)})
    assert "model.npz holds NumPy arrays, as Marian's own models do" in str(refusal(tmp_path / "model.npz"))
    with zipfile.ZipFile(tmp_path / "mine.keras", "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", b"\x89HDF")
    assert str(refusal(tmp_path / "mine.keras")).startswith("mine.keras holds no PyTorch weights, only")

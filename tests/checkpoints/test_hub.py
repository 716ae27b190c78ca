"""Models by name from a hub on the loopback: what is fetched, and the message where that fails."""

import random
from pathlib import Path

import pytest

from headlight.checkpoints import load_translator
from headlight.importers import hub
from headlight.importers.importing import import_model
from tests.checkpoints.ctranslate2_writer import draw_model, folder_of, of_model
from tests.checkpoints.hugging_face import MARIAN_IDS, random_model, save
from tests.checkpoints.loopback_hub import Hub, endpoint, nobody_listens, own_cache
from transformer.checkpoint.weights import Refused

__all__ = ["endpoint"]  # a fixture


def model_files(tmp_path: Path) -> dict[str, bytes]:
    folder = save(random_model("marian", **MARIAN_IDS), tmp_path / "theirs")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_model_is_fetched_imported_and_kept(tmp_path: Path, endpoint: str) -> None:
    Hub.files["owner/tiny"] = {
        **model_files(tmp_path),
        "pytorch_model.bin": b"not wanted",
        "tf_model.h5": b"not wanted",
        "README.md": b"not wanted",
    }
    seen: list[float] = []
    folder = hub.fetch("owner/tiny", lambda share, what: seen.append(share), endpoint)
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json",
        "generation_config.json",
        "model.safetensors",
    ]
    assert seen == sorted(seen) and seen[-1] == 1.0
    import_model(folder, tmp_path / "ours")
    assert load_translator(tmp_path / "ours").card["title"] == "tiny"
    Hub.asked.clear()
    assert hub.fetch("owner/tiny", None, endpoint) == folder
    assert not any("resolve" in path for path in Hub.asked)  # nothing is fetched twice
    assert hub.fetch("owner/tiny", None, nobody_listens()) == folder  # nor is a network needed


def test_what_is_not_there_or_no_model_is_refused(tmp_path: Path, endpoint: str) -> None:
    Hub.files |= {
        "owner/empty": {"README.md": b""},
        "owner/keras": {"config.json": b"{}", "tf_model.h5": b"x"},
        "owner/huge": {"config.json": b"{}", "model.safetensors": b"x"},
    }
    Hub.sizes["model.safetensors"] = 10**12
    for name, message in (
        ("owner/none", "There is no model owner/none"),
        ("owner/empty", r"no config\.json"),
        ("owner/keras", "no weights that open here"),
        ("owner/huge", "1,000,000,000,002 bytes"),
    ):
        with pytest.raises(Refused, match=message):
            hub.fetch(name, None, endpoint)
    assert not any("resolve" in path for path in Hub.asked)


def test_sharded_and_pickled_weights_are_chosen_in_order(tmp_path: Path, endpoint: str) -> None:
    shards = {f"model-0000{n}-of-00002.safetensors": b"x" for n in (1, 2)}
    common = {"config.json": b"{}", "pytorch_model.bin": b"x", "vocab.json": b"{}", "flax_model.msgpack": b"x"}
    Hub.files["owner/sharded"] = {**common, **shards, "model.safetensors.index.json": b"{}"}
    Hub.files["owner/old"] = common
    names = {path.name for path in hub.fetch("owner/sharded", None, endpoint).iterdir()}
    assert names == {"config.json", "vocab.json", "model.safetensors.index.json", *shards}
    names = {path.name for path in hub.fetch("owner/old", None, endpoint).iterdir()}
    assert names == {"config.json", "vocab.json", "pytorch_model.bin"}


def test_a_model_of_ctranslate2_comes_with_its_vocabulary(tmp_path: Path, endpoint: str) -> None:
    theirs = folder_of(tmp_path / "theirs", of_model(draw_model(random.Random(2))))
    Hub.files["owner/fast"] = {path.name: path.read_bytes() for path in theirs.iterdir()} | {"vmap.txt": b"not wanted"}
    folder = hub.fetch("owner/fast", None, endpoint)
    assert {path.name for path in folder.iterdir()} == {"config.json", "model.bin", "shared_vocabulary.json"}
    import_model(folder, tmp_path / "ours")
    assert load_translator(tmp_path / "ours").card["title"] == "fast"
    assert hub.fetch("owner/fast", None, nobody_listens()) == folder


def test_without_a_network_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_cache(tmp_path, monkeypatch)
    with pytest.raises(Refused, match="The Hugging Face hub cannot be reached.*Check the network") as refused:
        hub.fetch("Helsinki-NLP/opus-mt-en-fr", None, nobody_listens())
    assert "\n" not in str(refused.value)


def test_a_download_can_be_stopped(tmp_path: Path, endpoint: str) -> None:
    class Stop(Exception):
        pass

    def stop(share: float, what: str) -> None:
        raise Stop

    Hub.files["owner/tiny"] = model_files(tmp_path)
    with pytest.raises(Stop):
        hub.fetch("owner/tiny", stop, endpoint)


@pytest.mark.parametrize(
    "name", ["", "a/b/c", "../x", "a/..", "/etc/passwd", "a b", "x" * 200, "a/b--c", "http://x/y", "a\n"]
)
def test_names_that_are_none_are_refused_at_once(name: str) -> None:
    assert not hub.is_name(name)
    with pytest.raises(Refused, match="nor a Hub model ID"):
        hub.fetch(name, None, "http://127.0.0.1:1")

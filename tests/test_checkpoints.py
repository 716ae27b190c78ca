"""The native checkpoint: what is saved comes back, and what is broken is named."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from headlight import checkpoints
from tests.small import small_checkpoint
from transformer import Translator
from transformer.tokenizers import Tokenizer

SRC, TGT = [[5, 6, 7, 3]], [[2, 8, 9]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    checkpoints.save(small_checkpoint(tied="all"), tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("changes", [{}, {"tied": "all"}, {"tied": "output", "norm": "post"}, {"positions": "learned"}])
def test_a_saved_and_loaded_model_gives_the_same_logits_bit_for_bit(tmp_path: Path, changes: dict) -> None:
    checkpoint = small_checkpoint(**changes)
    checkpoints.save(checkpoint, tmp_path / "model")
    loaded = checkpoints.load(tmp_path / "model")
    assert loaded.model.config == checkpoint.model.config
    assert torch.equal(Translator(checkpoint).log_probs(SRC, TGT), Translator(loaded).log_probs(SRC, TGT))
    assert loaded.card == checkpoint.card
    assert not loaded.model.training


def test_half_precision_is_stored_once_and_stays_what_it_is(tmp_path: Path) -> None:
    checkpoint = small_checkpoint()
    checkpoints.save(checkpoint, tmp_path / "half", bits=16)
    assert {t.dtype for t in load_file(tmp_path / "half" / "model.safetensors").values()} == {torch.float16}
    loaded = checkpoints.load(tmp_path / "half")
    checkpoints.save(loaded, tmp_path / "again", bits=16)
    for name in ("model.safetensors", "config.json", "card.json", "tokenizer.json"):
        assert (tmp_path / "half" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_tied_weights_are_one_tensor_after_loading(folder: Path) -> None:
    model = checkpoints.load(folder).model
    assert model.output.weight is model.encoder.embedding.tokens.weight


def test_two_tokenizers_are_two_files(tmp_path: Path) -> None:
    checkpoint = small_checkpoint()
    checkpoint.target_tokenizer = Tokenizer(checkpoint.source_tokenizer.inner)
    checkpoints.save(checkpoint, tmp_path)
    assert sorted(p.name for p in tmp_path.glob("*tokenizer*")) == ["source_tokenizer.json", "target_tokenizer.json"]
    loaded = checkpoints.load(tmp_path)
    assert loaded.source_tokenizer is not loaded.target_tokenizer


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "noise"])
def test_a_broken_file_is_named_in_one_sentence(folder: Path, name: str, damage: str) -> None:
    path = folder / name
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "noise": b"\x80\x04\x95" * 50}[damage])
    with pytest.raises(ValueError, match=name.replace(".", r"\.")) as caught:
        checkpoints.load(folder)
    assert "\n" not in str(caught.value)


def test_a_missing_folder_and_a_missing_card(folder: Path) -> None:
    with pytest.raises(ValueError, match="no checkpoint folder .*; the models that ship are de-en, en-fr, "):
        checkpoints.load(folder / "none")
    (folder / "card.json").unlink()
    assert checkpoints.load(folder).card == {}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"d_model": 32}, "shape"),
        ({"d_model": 10**9}, "d_model"),
        ({"encoder": {"n_layers": 10**9, "n_heads": 4, "d_ff": 32}}, "n_layers"),
        ({"encoder": {"n_layers": 3, "n_heads": 4, "d_ff": 32}}, "is missing the tensor"),
        ({"encoder": {"n_layers": 1, "n_heads": 4, "d_ff": 32}}, "belongs to another configuration"),
        ({"target_vocab_size": 300, "tied": "none"}, "is missing the tensor"),
        ({"surprise": 1}, "surprise"),
        ({"norm": ["pre"]}, "norm"),
        ({"model_type": "marian"}, r"Hugging Face model \(marian\); import it first: python -m headlight import "),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(folder: Path, change: dict, what: str) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match=what):
        checkpoints.load(folder)


def test_a_tokenizer_of_another_size_has_a_token_for_each_row_all_the_same(folder: Path) -> None:
    rows = checkpoints.load(folder).model.config.source_vocab_size
    Tokenizer.train(["abc"], "characters", 50).save(folder / "tokenizer.json")
    loaded = checkpoints.load(folder)
    assert loaded.source_tokenizer is loaded.target_tokenizer
    assert loaded.source_tokenizer.vocab_size == rows
    assert loaded.source_tokenizer.piece(rows - 1) == f"[{rows - 1}]"


def test_saving_over_a_checkpoint_never_leaves_half_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {p.name: p.read_bytes() for p in folder.iterdir()}

    def fail(*args: object, **options: object) -> None:
        Path(str(args[1])).write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("transformer.checkpoint.native.write_tensors", fail)
    with pytest.raises(OSError, match="disk full"):
        checkpoints.save(small_checkpoint(seed=1), folder)
    assert all((folder / name).read_bytes() == content for name, content in before.items())


def test_an_unexpected_tensor_is_named(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file({**tensors, "extra.weight": torch.ones(2)}, folder / "model.safetensors")
    with pytest.raises(ValueError, match=r"extra\.weight"):
        checkpoints.load(folder)

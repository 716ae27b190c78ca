"""JoeyNMT's checkpoints: the imported model computes what the original code did.

The two folders in `tests/fixtures` were made by JoeyNMT 2.3.0: checkpoints with random weights in float16 with their
config.yaml and vocabularies, and the logits that the code computed.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from headlight.checkpoints import load
from headlight.importers.forms.joeynmt import read_settings
from headlight.importers.importing import examine, import_model
from transformer.checkpoint.weights import Refused

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
RECORDED = ("joeynmt-pre", "joeynmt-post")


@pytest.mark.parametrize("name", RECORDED)
def test_the_original_codes_logits(tmp_path: Path, name: str) -> None:
    import_model(FIXTURES / name, tmp_path / "ours")
    ours = load(tmp_path / "ours")
    with np.load(FIXTURES / name / "expected.npz") as expected, torch.no_grad():
        logits = ours.model(torch.tensor(expected["src"]), torch.tensor(expected["tgt"]))
        np.testing.assert_allclose(logits, expected["logits"], atol=2e-5)
    config = ours.model.config
    shared = name == "joeynmt-post"
    assert (config.norm, config.final_norm, config.tied) == (
        ("post", False, "all") if shared else ("pre", True, "none")
    )
    assert (config.pad_id, config.sos_id, config.eos_id, config.norm_eps) == (1, 2, 3, 1e-6)
    assert ours.source_tokenizer.encode("Das HAUS </s> Baum") == [5, 6, 0, 0]  # lowercase, as its config says


def folder_with(tmp_path: Path, old: str = "", new: str = "") -> Path:
    """A recorded folder with another text in its config.yaml."""
    folder = Path(shutil.copytree(FIXTURES / RECORDED[0], tmp_path / "theirs"))
    config = folder / "config.yaml"
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new))
    return folder


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("type: transformer", "type: recurrent", "encoder of this JoeyNMT model is recurrent"),
        ("dropout: 0.1\n    layer_norm", "alpha: 1.5\n    layer_norm", "scales its residual connections"),
        ("layer_norm: pre", "layer_norm: post", "norms of this JoeyNMT model stand otherwise"),
        ("activation: swish", "activation: tanh", "activation of this JoeyNMT model is tanh"),
        ("num_heads: 2", "num_heads: two", "num_heads in config.yaml is 'two'"),
        ("name: toy", "name toy", "Line 1 of config.yaml is not a setting"),
    ],
)
def test_what_ours_lacks_is_refused_by_name(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        examine(folder_with(tmp_path, old, new))


def test_without_its_settings_it_is_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    (folder / "config.yaml").unlink()
    with pytest.raises(
        Refused, match=r"its config.yaml, which says how many heads it has, is not beside it.*Import the"
    ):
        examine(folder)


def test_settings_are_read_as_yaml_reads_them(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    text = """# a comment
name: "toy # 1"   # another
model:
    encoder:
        type: transformer

        embeddings:
            scale: True
            dropout: 0.1
        # between
        num_layers: 6
    tied_softmax: false
data: {}
training:
    learning_rate: 0.0002
"""
    (tmp_path / "config.yaml").write_text(text.replace("data: {}\n", "data:\n"))
    expected = yaml.safe_load(text)
    assert read_settings(tmp_path / "config.yaml") == expected

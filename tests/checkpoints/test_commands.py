"""`python -m headlight import` and `export --as`: what is printed, where, and the exit status."""

import pickle
from pathlib import Path

import pytest
import torch

from headlight import checkpoints
from headlight.checkpoints import load_translator
from headlight.cli.verbs import main
from headlight.importers.importing import import_model
from tests.checkpoints.tutorials import file
from tests.small import small_checkpoint

ANSWERS = ["--heads", "4", "--pad-id", "1", "--sos-id", "2", "--eos-id", "3"]


def test_import_says_what_it_read_folded_and_misses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "model"
    assert main(["import", str(file("ground-up")), "--out", str(out), *ANSWERS]) == 0
    output = capsys.readouterr().out
    for what in ("Building a transformer from the ground up", "2 and 2", "√(31/32)", "No vocabulary", str(out)):
        assert what in output
    assert "--source-vocab" not in output and "This model applies no mask" in output and "1.76 nats" in output
    assert load_translator(out).encode("17 4") == [2, 17, 4, 3]


def test_import_with_masks_says_nothing_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "model"
    assert main(["import", str(file("ground-up")), "--out", str(out), *ANSWERS, "--masks", "applied"]) == 0
    assert "applies no mask" not in capsys.readouterr().out
    assert load_translator(out).model.config.look_ahead_mask == "applied"


def test_import_asks_for_the_masks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(file("ground-up")), "--out", str(tmp_path / "model")]) == 1
    output = capsys.readouterr().out
    for what in ("Are its attention masks applied? (Optional.)", "--masks: one of never, applied; usually never"):
        assert what in output


def test_import_without_the_answers_asks_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(file("nlp7-en-hi")), "--out", str(tmp_path / "model"), "--heads", "4"]) == 1
    output = capsys.readouterr()
    for what in ("NLP 7", "--pad-id", "--sos-id", "--eos-id", "--source-vocab", "0 to 52", "usually 1"):
        assert what in output.out
    assert "--heads" not in output.out and "--pad-id" in output.err and output.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_import_with_a_vocabulary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["<unk>", "<pad>", "<s>", "</s>", *(f"word{n}" for n in range(49))]
    (tmp_path / "de.txt").write_text("\n".join(words) + "\n")
    given = ["--source-vocab", str(tmp_path / "de.txt"), "--source-language", "German", "--target-language", "English"]
    out = tmp_path / "model"
    assert main(["import", str(file("ground-up")), "--out", str(out), *ANSWERS, *given]) == 0
    assert "No target vocabulary" in capsys.readouterr().out
    assert load_translator(out).encode("word3 nothing") == [2, 7, 0, 3]
    assert load_translator(out).card["title"] == "German to English"


def test_import_describes_what_it_does_not_know(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensors = {f"blocks.{n}.weight": torch.zeros(4, 6) for n in range(3)}
    torch.save({**tensors, "\x1b[2Jbell\x07": torch.zeros(1)}, tmp_path / "x.pt")
    assert main(["import", str(tmp_path / "x.pt"), "--out", str(tmp_path / "model")]) == 1
    output = capsys.readouterr()
    assert "blocks.*.weight" in output.out and "(4, 6)" in output.out
    assert "bell" in output.out and "\x1b" not in output.out and "\x07" not in output.out  # nothing steers the terminal
    assert output.err.count("\n") == 1 and not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (pickle.dumps({f"word{n}": n for n in range(20)}), "vocabulary"),
        (b"PK\x03\x04 and so on", "x.pt"),
    ],
)
def test_import_refuses_in_a_sentence(
    tmp_path: Path, content: bytes, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.pt").write_bytes(content)
    assert main(["import", str(tmp_path / "x.pt"), "--out", str(tmp_path / "model")]) == 1
    error = capsys.readouterr().err
    assert what in error.splitlines()[0] and "Traceback" not in error
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("form", ["zip", "safetensors"])
def test_export_and_import_give_the_model_back(tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoints.save(small_checkpoint(), tmp_path / "model")
    out = tmp_path / f"packed.{form}"
    assert main(["export", str(tmp_path / "model"), "--as", form, "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    import_model(out, tmp_path / "again")
    first, again = load_translator(tmp_path / "model"), load_translator(tmp_path / "again")
    assert torch.equal(first.log_probs([[5, 6, 3]], [[2, 7]]), again.log_probs([[5, 6, 3]], [[2, 7]]))
    before = out.read_bytes()
    assert main(["export", str(tmp_path / "model"), "--as", form, "--out", str(out)]) == 1
    assert "exists already" in capsys.readouterr().err and out.read_bytes() == before


@pytest.mark.parametrize("form", ["zip", "safetensors", "marian"])
def test_export_of_nothing_is_refused_in_one_line(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path / "none"), "--as", form, "--out", str(tmp_path / "x")]) == 1
    error = capsys.readouterr().err
    assert "none" in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_export_as_marian(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoints.save(small_checkpoint(norm="post", final_norm=False), tmp_path / "post")
    checkpoints.save(small_checkpoint(), tmp_path / "pre")
    assert main(["export", str(tmp_path / "post"), "--as", "marian", "--out", str(tmp_path / "theirs")]) == 0
    assert (tmp_path / "theirs" / "config.json").is_file()
    capsys.readouterr()
    assert main(["export", str(tmp_path / "pre"), "--as", "marian", "--out", str(tmp_path / "other")]) == 1
    assert "norms" in capsys.readouterr().err and not (tmp_path / "other").exists()

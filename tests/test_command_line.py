"""`python -m headlight`: every verb, and one clear line where something is wrong."""

import io
import json
from pathlib import Path

import pytest

from headlight.cli.verbs import main
from tests.small_run import finished_run, launch_forked, small_recipe
from transformer import Trace


def test_translate_prints_a_line_a_sentence(small_folder: str, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    assert main(["translate", small_folder, "a", "little", "girl"]) == 0
    alone = capsys.readouterr().out
    assert main(["translate", small_folder, "--beam", "5", "a", "little", "girl"]) == 0  # options may come first
    assert capsys.readouterr().out == alone
    with pytest.raises(SystemExit):
        main(["translate", small_folder, "--beam", "5", "a girl", "--bean"])
    assert "unrecognized arguments: a girl --bean" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("a little girl\n\ntwo dogs\n"))
    assert main(["translate", small_folder]) == 0
    lines = capsys.readouterr().out.splitlines(keepends=True)
    assert len(lines) == 2 and lines[0] == alone


def test_translate_n_best_and_samples(small_folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", small_folder, "two dogs", "--beam", "3", "--n-best", "3"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [float(score) for score, _ in rows] == sorted((float(score) for score, _ in rows), reverse=True)
    drawn = []
    for seed in ("1", "1", "2"):
        assert main(["translate", small_folder, "two dogs", "--sample", "--seed", seed, "--temperature", "2"]) == 0
        drawn.append(capsys.readouterr().out)
    assert drawn[0] == drawn[1] != drawn[2]


def test_translate_takes_every_strategy_and_its_parameters(
    small_folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def written(*options: str) -> str:
        assert main(["translate", small_folder, "two dogs", *options]) == 0
        return capsys.readouterr().out

    assert written("--strategy", "greedy") == written("--beam", "1")
    assert written("--strategy", "sampling", "--seed", "4") == written("--sample", "--seed", "4")
    split = ["--strategy", "diverse", "--beam", "6", "--n-best", "2"]
    assert written(*split, "--groups", "3", "--diversity", "0") == written("--beam", "2", "--n-best", "2")
    assert written(*split, "--groups", "6", "--diversity", "2") != written("--beam", "6", "--n-best", "2")
    assert main(["translate", small_folder, "two dogs", "--strategy", "diverse", "--groups", "101"]) == 1
    assert "The number of groups is 101; it must be from 1 to 100." in capsys.readouterr().err
    assert main(["translate", small_folder, "two dogs", "--strategy", "greedy", "--temperature", "2"]) == 1
    assert "A temperature has no effect on greedy decoding" in capsys.readouterr().err


def test_trace_writes_what_can_be_loaded(small_folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "girl.npz"
    assert main(["trace", small_folder, "a little girl", "--target", "two dogs", "--out", str(out)]) == 0
    trace = Trace.load(out)
    assert trace.cross.shape == (3, 2, 3, 4) and trace.translation == "two dogs"
    assert str(out) in capsys.readouterr().out
    assert main(["trace", small_folder, "a girl", "--out", str(tmp_path / "none" / "girl.npz")]) == 1
    errors = capsys.readouterr().err
    assert "There is no folder" in errors and "make it, or choose another place for girl.npz" in errors


@pytest.mark.slow
def test_train_evaluate_export_and_describe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headlight.runs.steer.spawn", launch_forked)
    data, run, out = tmp_path / "pairs.tsv", tmp_path / "run", tmp_path / "shipped"
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    rows = [f"{words[i]} {words[j]}\t{words[j]} {words[i]}" for i in range(10) for j in range(10)]
    data.write_text("\n".join(rows) + "\n")
    held = tmp_path / "held.tsv"
    held.write_text("".join(f"{word} {word} one\tone {word} {word}\n" for word in words))
    network = ["--preset", "tiny", "--d-model", "32", "--n-heads", "2", "--d-ff", "32", "--tokenizer", "words"]
    steps = ["--steps", "6", "--warmup", "2", "--evaluate-every", "3", "--batch-tokens", "128", "--snapshots", "2"]
    assert main(["train", "--data", str(data), "--validation", str(held), "--out", str(run), *network, *steps]) == 0
    assert (run / "status.json").exists()
    assert main(["evaluate", str(run / "checkpoints" / "best"), "--data", str(data), "--split", "validation"]) == 0
    printed = capsys.readouterr().out
    assert "BLEU" in printed and "tok:13a" in printed
    assert main(["export", str(run), "--out", str(out)]) == 0
    assert (out / "model.safetensors").stat().st_size < (run / "checkpoints/best/model.safetensors").stat().st_size
    assert len(list((out / "history").glob("*.safetensors"))) == 3  # before the first update, and two after
    assert "train" in json.loads((out / "card.json").read_text())["command"]
    capsys.readouterr()
    assert main(["describe", str(out), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["config"]["d_model"] == 32
    assert facts["parameters"]["all"] > facts["parameters"]["encoder"]
    assert main(["describe", str(out)]) == 0
    assert f"{facts['parameters']['all']:,}" in capsys.readouterr().out
    assert main(["train", "--data", str(data), "--out", str(run)]) == 1  # the folder is taken
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["translate", "nowhere", "a"], "nowhere"),
        (["trace", "nowhere", "a", "--out", "x.npz"], "nowhere"),
        (["describe", "nowhere"], "nowhere"),
        (["evaluate", "nowhere", "--data", "reverse"], "nowhere"),
        (["train", "--data", "none.tsv", "--out", "run"], "none.tsv"),
        (["train", "--data", "reverse", "--out", "run", "--n-heads", "7"], "n_heads"),
        (["train", "--data", "reverse", "--out", "run", "--label-smoothing", "2"], "label_smoothing"),
        (["train", "--data", "reverse", "--out", "run", "--start", "nowhere"], "nowhere"),
        (["resume", "nowhere"], "nowhere"),
        (["pause", "nowhere"], "nowhere"),
        (["stop", "nowhere"], "nowhere"),
        (["work", "nowhere"], "nowhere"),
        (["export", "nowhere", "--out", "x"], "nowhere"),
        (["export", "nowhere", "--as", "zip", "--out", "x"], "nowhere"),
        (["import", "nowhere.pt", "--out", "run"], "nowhere"),
        (["check", "nowhere.py"], "nowhere"),
    ],
)
def test_an_error_is_one_line(
    arguments: list[str], what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert what in error and "Traceback" not in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "verb",
    [
        *("translate", "trace", "train", "resume", "pause", "stop", "runs"),
        *("evaluate", "import", "export", "describe", "check"),
    ],
)
def test_every_verb_has_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([verb, "--help"])
    assert stopped.value.code == 0
    assert "usage: python -m headlight" in capsys.readouterr().out


def test_a_wrong_flag_and_an_empty_sentence_exit_non_zero(
    small_folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["translate", small_folder, "--beem", "3"])
    assert stopped.value.code == 2 and "beem" in capsys.readouterr().err
    assert main(["translate", small_folder, " "]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "empty" in error


def test_a_trace_is_written_only_to_an_npz(
    small_folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", small_folder, "a", "--out", str(tmp_path / "dog.txt")]) == 1
    assert "dog.txt would hold NumPy arrays; give a name that ends in .npz" in capsys.readouterr().err
    assert not (tmp_path / "dog.txt").exists()


def test_a_run_is_described_by_its_best_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = finished_run(tmp_path, "run", small_recipe(tmp_path, steps=2))
    assert main(["describe", str(run.path)]) == 0
    described = capsys.readouterr().out
    assert main(["describe", str(run.checkpoints / "best")]) == 0
    assert capsys.readouterr().out == described

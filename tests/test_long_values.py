"""Whatever somebody gives, a refusal quotes at most 200 characters of it, and names the system's number of no error."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from headlight.cli.verbs import main
from headlight.formatting import error_message
from headlight.runs import RunFolder, delete, export, extend, kill, pause, resume, start, status, stop, work
from headlight.runs.recipe import Recipe
from tests.small_run import finished_run
from transformer.checkpoint.weights import Refused
from transformer.config import ModelConfig, StackConfig, TrainConfig
from transformer.files import read_json
from transformer.quoting import MAX_QUOTED_CHARACTERS
from transformer.tokenizers import Tokenizer

NAME = 3000 * "y"
DEEP = 1500 * "y/"
SPACED = 1500 * "y "
LONG = re.compile(rf"[y/ ]{{{MAX_QUOTED_CHARACTERS + 1}}}")  # of all that is given here


def assert_short(message: str) -> None:
    assert "y" in message and not LONG.search(message), f"{len(message)} characters"
    assert "Errno" not in message and "Traceback" not in message and len(message) < 1500


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(finished_run(tmp_path_factory.mktemp("long"), steps=1).path)


VERBS = [
    "translate GIVEN a", "trace GIVEN a --out x.npz", "trace MODEL a --out GIVEN", "train --data GIVEN --out x",
    "train --data reverse --out GIVEN", "train --data reverse --out x --start GIVEN",
    "train --data reverse --out x --validation GIVEN", "train --data multi30k:de-en --out x --folder GIVEN",
    "resume GIVEN", "pause GIVEN", "stop GIVEN", "work GIVEN", "export GIVEN --out x", "export RUN --out GIVEN",
    "export GIVEN --as zip --out x", "export MODEL --as zip --out GIVEN",
    "export MODEL --as safetensors --out GIVEN", "export MODEL --as marian --out GIVEN", "import GIVEN.pt --out x",
    "import GIVEN/y --out x", "import MODEL --out GIVEN", "evaluate GIVEN --data reverse",
    "evaluate MODEL --data GIVEN", "evaluate MODEL --data GIVEN:en-fr",
    "evaluate MODEL --data multi30k:de-en --folder GIVEN", "describe GIVEN", "heads GIVEN --corpus reverse",
    "heads MODEL --corpus GIVEN",
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "given"),
    [(line, given) for line in VERBS for given in (NAME, DEEP) if given is NAME or "--out GIVEN" not in line],
)
def test_every_verb_quotes_a_part_of_a_long_path(
    line: str, given: str, small_folder: str, run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = {"MODEL": small_folder, "RUN": run}
    assert main([words.get(word, word.replace("GIVEN", given)) for word in line.split()]) == 1
    assert_short(capsys.readouterr().err)


def test_a_folder_of_runs_that_is_none_lists_none(capsys: pytest.CaptureFixture[str]) -> None:
    main(["runs", NAME])
    message = capsys.readouterr().err
    assert not LONG.search(message) and "Traceback" not in message


FLAGS = [f"--{f.name.replace('_', '-')}" for kind in (ModelConfig, StackConfig, TrainConfig) for f in fields(kind)]


@pytest.mark.parametrize("given", [NAME, SPACED, "--" + NAME, NAME[:MAX_QUOTED_CHARACTERS] + "'\\\n\"" + NAME])
@pytest.mark.parametrize(
    "line",
    [
        "GIVEN", "describe m GIVEN", "evaluate m --data x --split GIVEN", "evaluate m --data x --split=GIVEN",
        "evaluate m --data x --beam GIVEN", "translate m a --dtype GIVEN", "train --data x --out y --preset GIVEN",
        "train --data x --out y --separate=GIVEN", "export r --out x --as GIVEN", "import m --out x --heads GIVEN",
        "heads m --corpus x --pairs GIVEN",
    ],
)  # fmt: skip
def test_every_flag_quotes_a_part_of_a_long_value(line: str, given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([word.replace("GIVEN", given) for word in line.split()])
    assert stopped.value.code == 2
    message = capsys.readouterr().err.rsplit("error: ", 1)[1]
    assert not LONG.search(message) and len(message) < 1000


@pytest.mark.parametrize("flag", FLAGS)
def test_every_setting_quotes_a_part_of_a_long_value(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--data", "x", "--out", "y", flag, NAME])
    assert not LONG.search(capsys.readouterr().err)


@pytest.mark.parametrize("given", [NAME, DEEP])
@pytest.mark.parametrize("do", [status, pause, stop, kill, resume, lambda path: extend(path, 5), delete, work])
def test_every_deed_quotes_a_part_of_a_long_folder(do: Callable[[str], object], given: str) -> None:
    with pytest.raises((ValueError, OSError)) as refused:
        do(given)
    assert_short(error_message(refused.value))


def test_a_run_in_a_deep_folder_is_quoted_in_part(tmp_path: Path) -> None:
    """The path of the run has thousands of characters."""
    deep = tmp_path / "/".join(12 * [200 * "y"])
    deep.parent.mkdir(parents=True)
    finished_run(tmp_path, steps=1).path.rename(deep)
    assert status(deep).state == "finished"
    recipe = RunFolder(deep).recipe()
    deeds: list[Callable[[], object]] = [
        lambda: resume(deep),
        lambda: pause(deep),
        lambda: kill(deep),
        lambda: extend(deep, 1),
        lambda: start(recipe, deep),
        lambda: export(deep, deep, score=False),
        lambda: export(deep, deep.with_name("y"), score=False, average=2),
    ]
    for do in deeds:
        with pytest.raises(ValueError) as refused:
            do()
        assert_short(str(refused.value))
    (deep / "checkpoints" / "step-0000001" / "model.safetensors").write_bytes(b"")
    (deep / "config.json").write_text("{")
    for path in deep.rglob("recipe.json"):
        path.unlink()
    for do in (RunFolder(deep).recipe, lambda: resume(deep), lambda: export(deep, tmp_path / "x")):
        with pytest.raises(ValueError) as refused:
            do()
        assert_short(str(refused.value))


@pytest.mark.parametrize("name", ["data", "validation", "folder", "start", "tokenizer"])
def test_a_recipe_quotes_a_part_of_a_long_value(name: str, run: str) -> None:
    values = {**RunFolder(run).recipe().to_dict(), name: NAME}
    with pytest.raises((ValueError, OSError)) as refused:
        Recipe.from_dict(values).check()
        raise ValueError("folder is not asked for: y")  # the data lie elsewhere
    assert_short(error_message(refused.value))


def test_a_number_of_thousands_of_digits_is_refused_by_the_name_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(f'{{"steps": {"1" * 5000}}}')
    with pytest.raises(ValueError, match="config.json holds a number of thousands of digits") as refused:
        read_json(path)
    assert "sys." not in str(refused.value)


def test_a_long_token_is_quoted_in_part(tmp_path: Path) -> None:
    from tokenizers import Tokenizer as Library
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    inner = Library(WordLevel({"<pad>": 0, "<s>": 1, "</s>": 2, 1000 * "y": 3}, unk_token="none"))
    inner.pre_tokenizer = Whitespace()
    with pytest.raises(ValueError) as refused:
        Tokenizer(inner, 0, 1, 2, 4).encode("unknown")
    assert_short(str(refused.value))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(36, "File name too long", "a"), "a cannot be used: File name too long."),
        (OSError(21, "Is a directory", "a.part", None, "a"), "a cannot be used: Is a directory."),
        (OSError(28, "No space left on device"), "No space left on device."),
        (PermissionError("Not here."), "Not here."),
        (ValueError("As it is."), "As it is."),
        (Refused("Refused."), "Refused."),
    ],
)
def test_what_the_system_says_is_a_sentence(error: Exception, message: str) -> None:
    assert error_message(error) == message

"""The command `headlight`: its own verbs, the library's, and where it looks for what a name means."""

import argparse
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import headlight
from headlight import folders
from headlight.cli import main as command
from headlight.cli.verbs import command_line as library

ROOT = Path(__file__).resolve().parents[2]


class Left(BaseException):
    """Instead of another program in this process."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that this process went on as."""
    commands: list[list[str]] = []

    def execve(program: str, arguments: list[str], environment: dict[str, str]) -> None:
        assert program == sys.executable and environment["PYTHONPATH"].split(":")[0] == str(folders.APP)
        commands.append(arguments[1:])
        raise Left

    monkeypatch.setattr("os.execve", execve)
    return commands


def run_command(*arguments: str) -> int:
    options = command.command_line().parse_args(arguments)
    return options.run(options)


def verbs(parser: argparse.ArgumentParser) -> set[str]:
    (choices,) = (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return set(choices)


def test_it_has_every_verb_of_the_library_and_its_own() -> None:
    assert verbs(command.command_line()) == verbs(library()) | {
        *("app", "class", "serve", "desktop", "doctor", "completion")
    }


def test_without_a_verb_it_opens_the_app_at_the_first_free_port(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(command, "DEFAULT_PORT", port)
        monkeypatch.setattr(sys, "argv", ["headlight"])
        with pytest.raises(Left):
            command.main()
        with pytest.raises(ValueError, match=f"Port {port} is in use; give another"):
            run_command("app", "--port", str(port))
    (arguments,) = started
    assert arguments[:5] == ["-P", "-m", "streamlit", "run", str(ROOT / "app.py")]
    options = dict(option.split("=") for option in arguments[5:])
    assert options["--server.address"] == "127.0.0.1" and port < int(options["--server.port"]) <= port + 100


def test_a_class_is_served_at_a_port_that_the_app_does_not_use(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:  # the app for this machine alone, which listens on the loopback
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(command, "DEFAULT_PORT", port)
        monkeypatch.setenv("PORT", "before")
        with pytest.raises(Left):
            run_command("class")
        assert port < int(os.environ["PORT"]) <= port + 100
        with pytest.raises(ValueError, match=f"Port {port} is in use; give another"):
            run_command("class", "--port", str(port))
    assert started == [["-P", "-m", "tools.serve_class"]]


def test_serving_says_where_by_options(started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "before")
    monkeypatch.setenv("PORT", "before")
    with pytest.raises(Left):
        run_command("serve", "--host", "0.0.0.0", "--port", "9000", "--no-password")
    assert started == [["-P", "-m", "tools.production", "--no-password"]]
    assert (os.environ["HOST"], os.environ["PORT"]) == ("0.0.0.0", "9000")


@pytest.mark.parametrize("verb", ["app", "class", "serve"])
@pytest.mark.parametrize("port", ["-5", "0", "65536", "http"])
@pytest.mark.usefixtures("started")
def test_what_is_no_port_is_refused(verb: str, port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_command(verb, f"--port={port}")
    assert f"'{port}' is not a port; give a number from 1 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_can_complete_it(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_command("completion", shell)
    script = capsys.readouterr().out
    assert "translate" in script and "--no-browser" in script
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_what_the_face_offers_is_the_librarys() -> None:
    from headlight import charts
    from headlight.checkpoints import load_translator

    assert headlight.load is load_translator and headlight.charts is charts
    assert all(hasattr(headlight, name) for name in headlight.__all__)
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        headlight.lode  # noqa: B018

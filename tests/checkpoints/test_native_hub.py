"""Headlight's own models on a hub on the loopback: opened by hub:OWNER/NAME, and pushed with their model card."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import constants

from headlight import checkpoints, folders, hub
from headlight.cli.verbs import main
from headlight.model_card import load_snippet, model_card
from tests.checkpoints.loopback_hub import REVISION, Hub, endpoint, nobody_listens, own_cache
from transformer.checkpoint.weights import Refused

__all__ = ["endpoint"]  # a fixture
ROOT = Path(__file__).resolve().parents[2]
REVERSE = folders.checkpoints() / "reverse"
NAME = "hub:owner/reverse"


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_only_the_files_of_the_format_are_fetched_and_serve_without_a_network(endpoint: str) -> None:
    Hub.files["owner/reverse"] = files_of(REVERSE) | {
        "../../x.json": b"{}",
        "sub/../../config.json": b"{}",
        "pytorch_model.bin": b"not wanted",
        "run.py": b"not wanted",
        "history/step-0000000.safetensors": b"not wanted",
    }
    folder = checkpoints.fetch(NAME, endpoint)
    assert {path.name for path in folder.iterdir()} == set(files_of(REVERSE)) and "why.json" in files_of(REVERSE)
    assert checkpoints.digest(folder) == checkpoints.digest(REVERSE)
    assert checkpoints.load_translator(folder).translate("headlight").text == "thgildaeh"
    assert not any("x.json" in path or ".bin" in path or ".py" in path or "history" in path for path in Hub.asked)
    Hub.asked.clear()
    assert checkpoints.fetch(NAME, endpoint) == folder
    assert checkpoints.fetch(NAME, nobody_listens()) == folder
    assert not any("resolve" in path for path in Hub.asked)


def test_a_revision_is_fetched_by_its_name(endpoint: str) -> None:
    Hub.files["owner/reverse"] = files_of(REVERSE)
    folder = checkpoints.fetch(f"{NAME}@v1", endpoint)
    assert any("/resolve/v1/config.json" in path for path in Hub.asked)
    assert checkpoints.fetch(f"{NAME}@v1", nobody_listens()) == folder
    assert checkpoints.fetch(f"{NAME}@{REVISION}", nobody_listens()) == folder
    with pytest.raises(Refused, match="owner/reverse has no revision v2"):
        checkpoints.fetch(f"{NAME}@v2", endpoint)
    with pytest.raises(Refused, match="owner/reverse was not fetched before"):  # nobody asked for its main branch
        checkpoints.fetch(NAME, nobody_listens())


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (404, "RepoNotFound", "There is no model owner/reverse on the hub, or it is private"),
        (401, "RepoNotFound", "There is no model owner/reverse on the hub, or it is private.*hf auth login"),
        (403, "GatedRepo", "its owner asks for consent to its terms first"),
        (403, "", "does not accept the token of this machine"),
        (503, "", "cannot be reached or broke off, and owner/reverse was not fetched before"),
    ],
)
def test_the_refusals_of_a_hub_are_explained(endpoint: str, status: int, code: str, message: str) -> None:
    Hub.refused["owner/reverse"] = status, code
    with pytest.raises(Refused, match=message) as refused:
        checkpoints.fetch(NAME, endpoint)
    assert "\n" not in str(refused.value)


def test_without_a_network_and_a_cache_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_cache(tmp_path, monkeypatch)
    with pytest.raises(Refused, match="cannot be reached.*was not fetched before.*Check the network"):
        checkpoints.fetch(NAME, nobody_listens())


def test_another_format_is_refused_before_its_weights_with_the_command_that_imports_it(endpoint: str) -> None:
    marian = {"config.json": b'{"model_type": "marian"}', "tokenizer.json": b"{}", "model.safetensors": b"x"}
    Hub.files |= {"owner/marian": marian, "owner/bare": {"config.json": b"{}", "pytorch_model.bin": b"x"}}
    with pytest.raises(Refused, match=r"another format \(marian\).* import owner/marian --out models/marian"):
        checkpoints.fetch("hub:owner/marian", endpoint)
    with pytest.raises(Refused, match=r"not a model of Headlight: it has no model\.safetensors"):
        checkpoints.fetch("hub:owner/bare", endpoint)
    assert not any("/resolve/" in path and "config.json" not in path for path in Hub.asked)


def test_declared_sizes_are_bounds(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Hub.files["owner/reverse"] = files_of(REVERSE)
    for file, size, message in (
        ("model.safetensors", 10**12, "at most .* bytes open here"),
        ("tokenizer.json", 10**9, "tokenizer.json of owner/reverse has 1,000,000,000 bytes"),
        ("card.json", 2 * 10**6, "card.json of owner/reverse has 2,000,000 bytes"),
    ):
        Hub.sizes = {file: size}
        with pytest.raises(Refused, match=message):
            checkpoints.fetch(NAME, endpoint)
    assert not any("resolve" in path for path in Hub.asked)
    Hub.sizes = {"tokenizer.json": 10}
    with pytest.raises(Refused, match="tokenizer.json of owner/reverse has .* bytes; the hub lists it with 10"):
        checkpoints.fetch(NAME, endpoint)
    monkeypatch.setattr(hub, "_SLACK_BYTES", 0)
    Hub.sizes = {"model.safetensors": 10}
    with pytest.raises(Refused, match=r"The hub lists model.safetensors with 10 bytes and sends"):
        checkpoints.fetch(NAME, endpoint)


def test_a_truncated_file_opens_nothing(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Hub.files["owner/reverse"] = files_of(REVERSE)
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # between the attempts of the hub's client
    for fault in (Hub.shortened, Hub.cut):
        fault["model.safetensors"] = 1000
        with pytest.raises(Refused, match="broke off, and owner/reverse was not fetched before"):
            checkpoints.fetch(NAME, endpoint)
        fault.clear()
    assert checkpoints.digest(checkpoints.fetch(NAME, endpoint)) == checkpoints.digest(REVERSE)


@pytest.mark.parametrize(
    "name", ["hub:", "hub:../x", "hub:a/b/c", "hub:/etc", "hub:a/b@", "hub:a/b@../c", "hub:a/b@c d", "hub:a/b--c"]
)
def test_what_is_no_address_is_refused_at_once(name: str) -> None:
    with pytest.raises(Refused, match="not the address of a model on the hub.*hub:OWNER/NAME"):
        checkpoints.load(name)


@pytest.mark.slow
def test_the_command_and_the_library_open_it(tmp_path: Path, endpoint: str) -> None:
    """In a process of its own, whose hub and cache are those of the environment."""
    Hub.files["owner/reverse"] = files_of(REVERSE)
    code = f"""
import headlight
from headlight.cli.verbs import main
assert main(["translate", {NAME!r}, "headlight"]) == 0
assert main(["translate", "hub:owner/none", "headlight"]) == 1
print(headlight.load({NAME!r}).translate("bench").text)
"""
    settings = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "thgildaeh\nhcneb\n"), done.stderr
    assert "There is no model owner/none on the hub" in done.stderr and "Traceback" not in done.stderr


def test_offline_the_command_opens_what_was_fetched(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Hub.files["owner/reverse"] = files_of(REVERSE)
    checkpoints.fetch(NAME, endpoint)
    monkeypatch.setattr(constants, "ENDPOINT", nobody_listens())
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert main(["describe", NAME]) == 0 and "Letters, reversed" in capsys.readouterr().out


def test_a_push_shows_what_it_uploads_and_waits_for_a_yes(
    tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["push", "reverse", "owner/mine", "--private", "--license", "mit"]
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main([*arguments, "--yes"]) == 1 and "hf auth login" in capsys.readouterr().err
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    assert main(arguments) == 1
    waiting = capsys.readouterr()
    assert "add --yes" in waiting.err
    assert "owner/mine, private: a new repository" in waiting.out and "model.safetensors" in waiting.out
    assert "Terms of the training data: Generated: free of terms." in waiting.out
    assert not Hub.created and not Hub.commits
    assert main([*arguments, "--yes"]) == 0 and 'headlight.load("hub:owner/mine")' in capsys.readouterr().out
    assert Hub.tokens == {"Bearer hf_x"} and len(Hub.created) == 1 and Hub.created[0]["visibility"] == "private"
    ((header, files),) = Hub.commits
    assert "parentCommit" not in header
    card = files.pop("README.md").decode()
    assert card == model_card(REVERSE, "owner/mine", "mit") and Hub.metadata == [card]
    assert files == files_of(REVERSE)


def test_a_push_to_what_is_there_is_a_commit_on_top_of_it(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Hub.files["owner/mine"] = {"README.md": b"theirs", "model.safetensors": b"theirs"}
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "hf_x")
    monkeypatch.setattr("sys.stdin", terminal := io.StringIO("no\n"))
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    assert main(["push", "reverse", "owner/mine"]) == 1 and not Hub.commits
    written = capsys.readouterr()
    assert "a commit; what is there stays in its history" in written.out and "Nothing was uploaded." in written.err
    replaced = {line.split()[0] for line in written.out.splitlines() if "replaces the file there" in line}
    assert replaced == {"README.md", "model.safetensors"}
    assert main(["push", "reverse", "owner/mine", "--yes"]) == 0
    ((header, files),) = Hub.commits
    assert header["parentCommit"] == REVISION and not Hub.created and files["README.md"] != b"theirs"
    assert main(["push", "reverse", "owner/mine", "--private", "--yes"]) == 1
    assert "is there already, and public" in capsys.readouterr().err
    Hub.refused["owner/mine"] = 403, ""
    assert main(["push", "reverse", "owner/mine", "--yes"]) == 1
    assert "does not accept the token" in capsys.readouterr().err and len(Hub.commits) == 1


def test_a_push_needs_a_name_and_terms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("mine", "a/b/c", "../x", "hub:a/b@v1"):
        assert main(["push", "reverse", name, "--yes"]) == 1
        assert "is not a name on the hub; give one as OWNER/NAME" in capsys.readouterr().err
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, content in files_of(REVERSE).items():
        (folder / name).write_bytes(content)
    for card in ("{}", '{"terms": "Not stated."}'):
        (folder / "card.json").write_text(card)
        assert main(["push", str(folder), "owner/mine", "--yes"]) == 1
        assert 'Add "terms" to its card.json' in capsys.readouterr().err
    file = tmp_path / "README.md"
    assert main(["push", str(folder), "--license", "cc-by-4.0", "--card-only", str(file)]) == 0
    assert huggingface_hub.ModelCard(file.read_text("utf-8")).data.license == "cc-by-4.0"


@pytest.mark.parametrize("shipped", folders.shipped())
def test_the_card_of_each_shipped_model_is_one_of_the_hub(shipped: str) -> None:
    text = model_card(folders.checkpoints() / shipped, f"owner/{shipped}")
    card = huggingface_hub.ModelCard(text)
    facts = checkpoints.describe(shipped).card
    languages = {"English": "en", "French": "fr", "German": "de", "Hindi": "hi"}
    expected = [languages[facts[side]] for side in ("source", "target") if facts[side] in languages]
    assert card.data.language == (expected or ["zxx"])
    assert (card.data.library_name, card.data.license, card.data.license_name) == ("headlight", "other", "see-terms")
    assert all(re.fullmatch("[a-z0-9-]+", tag) for tag in card.data.tags)
    results = [(result.dataset_name, result.metric_type, result.metric_value) for result in card.data.eval_results]
    assert (facts["scores"]["on"], "chrf", facts["scores"]["chrF"]) in results
    assert card.text.lstrip().startswith(f"# {facts['title']}\n")
    for part in (f'headlight.load("hub:owner/{shipped}")', facts["terms"], facts["command"], "## Limits"):
        assert part in card.text
    assert ("mistake on purpose" in card.text) == ("broken" in facts)


def test_a_card_names_the_datasets_of_the_hub_and_keeps_its_fences(tmp_path: Path) -> None:
    for name, content in files_of(REVERSE).items():
        (tmp_path / name).write_bytes(content)
    command = "python -m headlight train --data 'hub:owner/set:en:fr + hub:squad:a:b*2 + ```'"
    values = {"title": "A\n# B", "terms": "MIT", "command": command, "scores": {"on": "a|b", "chrF": 1.5}}
    checkpoints.native.write_json(tmp_path / "card.json", values)
    card = huggingface_hub.ModelCard(model_card(tmp_path, "owner/mine"))
    assert card.data.datasets == ["owner/set", "squad"]
    assert "\n# A # B\n" in card.text and "| a\\|b |" in card.text and f"````\n{command}\n````" in card.text


def test_the_snippet_for_the_hubs_list_of_libraries_is_that_of_a_card() -> None:
    text = (ROOT / "deploy" / "hub" / "README.md").read_text("utf-8")
    blocks = re.findall(r"```typescript\n(.*?)```", text, re.DOTALL)
    entry, snippets = (next(block for block in blocks if word in block) for word in ("prettyLabel", "export const"))
    (template,) = re.findall(r"`(.*?)`", snippets, re.DOTALL)
    assert template == load_snippet("${model.id}").rstrip()
    keys = set(re.findall(r"^\t(\w+):", entry, re.MULTILINE))
    assert keys == {"prettyLabel", "repoName", "repoUrl", "snippets", "filter", "countDownloads"}

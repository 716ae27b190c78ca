"""A public demonstration: what it leaves out is refused, whoever asks."""

import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from headlight.runs import Status
from tests.small import small_checkpoint
from tests.ui.pages import page_at
from tools.production import environment, options, require_listening
from ui.checkpoints import import_, keeping
from ui.state import models
from ui.state.public import card_without_places, private_only, public, without_places
from ui.training import corpus, start, steering
from ui.training import keeping as keeping_runs
from ui.training.view import TrainingView
from ui.widgets import corpus_upload

ROOT = Path(__file__).resolve().parents[3]
PRIVATE_FOLDER = "/home/teacher/of mine/secret"


@pytest.fixture
def demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")


@pytest.mark.parametrize(("value", "is_public"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_the_switch(monkeypatch: pytest.MonkeyPatch, value: str, is_public: bool) -> None:
    monkeypatch.setenv("HEADLIGHT_PUBLIC", value)
    assert public() is is_public
    assert options()["server.maxUploadSize"] == ("0" if is_public else "2048")
    if not is_public:
        private_only()


@pytest.mark.usefixtures("demonstration")
def test_nothing_is_begun_brought_or_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MODELS", tmp_path)
    model = tmp_path / "mine"
    model.mkdir()
    with pytest.raises(ValueError, match="public demonstration"):
        keeping.delete(model)
    assert model.exists()
    done: list[str] = []
    monkeypatch.setattr(keeping_runs.st, "session_state", {})
    keeping_runs.attempt(done.append, "something")
    assert not done and "public demonstration" in keeping_runs.st.session_state["training-refused"]
    monkeypatch.setattr(start, "start", lambda *_: done.append("started"))
    start._start(1, None, "run")  # type: ignore[arg-type]
    assert not done and "public demonstration" in keeping_runs.st.session_state["start-refused"]
    for refuses in (corpus_upload.upload, import_.draw_import, lambda: import_._take_name("any")):
        with pytest.raises(ValueError, match="public demonstration"):
            refuses()
    run = Status(**{field: None for field in Status.__dataclass_fields__})  # type: ignore[arg-type]
    assert steering.acts(run) == []


@pytest.mark.slow
@pytest.mark.usefixtures("demonstration")
def test_the_pages_hide_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "RUNS", tmp_path)
    page = page_at("training", new="1").run()
    assert not page.exception and "public demonstration" in page.info[0].value
    assert not page.get("file_uploader") and "start-training" not in {button.key for button in page.button}


@pytest.mark.usefixtures("demonstration")
@pytest.mark.parametrize("query", [{}, {"data": "file"}, {"data": "hub"}, {"data": "upload"}])
def test_without_runs_there_is_no_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: dict[str, str]) -> None:
    """A new container has no runs."""
    for name in ("RUNS", "CHECKPOINTS"):
        monkeypatch.setattr(models, name, tmp_path)
    page = page_at("training", **query).run()
    assert not page.exception and "no run to look at" in page.info[0].value
    assert not page.text_input and not page.selectbox and not page.button


@pytest.mark.usefixtures("demonstration")
def test_the_form_and_its_boxes_refuse_by_themselves() -> None:
    for refuses in (lambda: start.form(TrainingView()), corpus._file, corpus._hub):
        with pytest.raises(ValueError, match="public demonstration"):
            refuses()


def test_strangers_read_no_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "'/srv/app/models/a/config.json' is cut off (/tmp/x.part); and/or see https://example.org/a/b, 1/2."
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "")
    assert without_places(text) == text
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")
    assert without_places(text) == "'config.json' is cut off (x.part); and/or see https://example.org/a/b, 1/2."


@pytest.mark.usefixtures("demonstration")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/srv/secret/pairs.tsv:en:fr", "pairs.tsv:en:fr"),
        ("/home/my user/x", "x"),
        ("/home/my user/of mine/two texts.en,/home/my user/of mine/two texts.fr", "two texts.en,two texts.fr"),
        ("data:/home/u/x", "data:x"),
        ("file:///home/u/x and //home/u/y", "file:x and y"),
        ("~/runs/a ~teacher/b/c", "a c"),
        ("python -m headlight train --data /srv/a b/x.tsv:en:fr --base /srv/m --out '/home/my user/runs/x'",
         "python -m headlight train --data x.tsv:en:fr --base m --out 'x'"),
        ("hub:owner/name:en:fr, 1/2 and/or ~5/6, a / b, <b/>", "hub:owner/name:en:fr, 1/2 and/or ~5/6, a / b, <b/>"),
        ("https://example.org/~u/(a)/c", "https://example.org/~u/(a)/c"),
    ],
)  # fmt: skip
def test_whatever_a_place_looks_like(text: str, left: str) -> None:
    assert without_places(text) == left


def _card_with_folders() -> dict[str, Any]:
    command = f"python -m headlight train --data {PRIVATE_FOLDER}/pairs.tsv:en:fr --out {PRIVATE_FOLDER}/runs/x"
    return {
        **{
            "title": f"{PRIVATE_FOLDER}/pairs.tsv:en:fr",
            "data": f"{PRIVATE_FOLDER}/pairs.tsv:en:fr",
            "source": "Words",
        },
        **{"target": "Words", "command": command, "origin": f"{PRIVATE_FOLDER}/theirs", "examples": ["two dogs"]},
        "scores": {
            "BLEU": 30.0,
            "on": f"{PRIVATE_FOLDER}/test.tsv",
            "command": command,
            "signature": f"{PRIVATE_FOLDER}/s",
        },
        "more_scores": [{"BLEU": 20.0, "on": f"{PRIVATE_FOLDER}/more.tsv", "command": command}],
        "everyday": {
            "accepted": 1,
            "of": 2,
            "command": command,
            "failed": [{"source": f"{PRIVATE_FOLDER}/a", "written": "b"}],
        },
        "notes": {f"{PRIVATE_FOLDER}/name": [f"{PRIVATE_FOLDER}/value"]},
    }


def _shipped(folder: str) -> None:
    """Draw what the Training page says about a shipped model in the list of runs."""
    from pathlib import Path

    from ui.training.shelf import Shipped
    from ui.training.watch import _about

    _about(Shipped("told", Path(folder), 1))


@pytest.mark.slow
@pytest.mark.usefixtures("demonstration")
def test_no_page_tells_where_a_model_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The card of a model names folders of whoever trained it."""
    for name in ("RUNS", "CHECKPOINTS", "MODELS"):
        monkeypatch.setattr(models, name, tmp_path / name)
    model = small_checkpoint()
    model.card = _card_with_folders()
    folder = tmp_path / "CHECKPOINTS" / "told"
    checkpoints.save(model, folder)
    (folder / "history").mkdir()
    shutil.copy(folder / "model.safetensors", folder / "history" / "step-0000001.safetensors")
    pages = {path.stem: AppTest.from_file(str(path), default_timeout=60) for path in ROOT.glob("pages/*.py")}
    pages["shipped"] = AppTest.from_function(_shipped, kwargs={"folder": str(folder)}, default_timeout=60)
    for name, page in pages.items():
        page.query_params["model"] = "told"
        page.run()
        assert not page.exception, name
        messages = [element.proto.SerializeToString() for part in (page.main, page.sidebar) for element in _under(part)]
        assert not [text for text in messages if b"/home" in text or b"of mine" in text], name
        assert name in ("training", "lessons") or any(b"pairs.tsv" in text for text in messages), name


def _under(block: Any) -> list[Any]:
    inner = getattr(block, "children", {}).values()
    return [*(element for child in inner for element in _under(child))] if hasattr(block, "children") else [block]


@pytest.mark.usefixtures("demonstration")
def test_a_card_without_end_is_cut_off() -> None:
    deep: Any = "/home/u/x"
    for _ in range(5000):
        deep = [deep]
    assert "/home" not in repr(card_without_places({"a": deep, "b": "/home/u/x"}))


def test_production_shows_no_errors_and_watches_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "0.0.0.0")
    monkeypatch.setenv("PORT", "80")
    settings = options()
    assert (settings["server.address"], settings["server.port"]) == ("0.0.0.0", "80")
    assert (settings["client.showErrorDetails"], settings["server.fileWatcherType"]) == ("none", "none")
    assert settings["server.enableXsrfProtection"] == settings["server.headless"] == "true"
    assert environment()["OMP_NUM_THREADS"] == "1"
    # The one of config.toml holds: without any, Streamlit would ask the internet for its address.
    assert settings["browser.serverAddress"] == ""
    monkeypatch.setenv("HOST", "192.0.2.1")
    assert options()["browser.serverAddress"] == options()["server.address"] == "192.0.2.1"


@pytest.mark.parametrize("port", ["abc", "0", "-1", "65536"])
def test_what_is_no_port_is_refused(port: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", port)
    with pytest.raises(ValueError, match=f"PORT is '{port}'; give a number from 1 to 65535"):
        require_listening()


def test_where_nobody_can_listen_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("PORT", str(server.getsockname()[1]))
        with pytest.raises(ValueError, match="cannot be served: Address already in use.*another HOST or PORT"):
            require_listening()
    require_listening()
    monkeypatch.setenv("HOST", "192.0.2.1")  # of nobody
    with pytest.raises(ValueError, match="cannot be served: Cannot assign"):
        require_listening()

"""A public demonstration: what it leaves out is refused, whoever asks."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tools.production import environment, options
from transformer.training import Status
from ui import resources
from ui.checkpoints import bring, keeping
from ui.public import private_only, public, without_places
from ui.training import corpus, said, start, steering, uploads
from ui.training.view import TrainingView

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")


@pytest.mark.parametrize(("value", "wanted"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_the_switch(monkeypatch: pytest.MonkeyPatch, value: str, wanted: bool) -> None:
    monkeypatch.setenv("HEADLIGHT_PUBLIC", value)
    assert public() is wanted
    assert options()["server.maxUploadSize"] == ("0" if wanted else "2048")
    if not wanted:
        private_only()


@pytest.mark.usefixtures("demonstration")
def test_nothing_is_begun_brought_or_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "MODELS", tmp_path)
    model = tmp_path / "mine"
    model.mkdir()
    with pytest.raises(ValueError, match="public demonstration"):
        keeping.delete(model)
    assert model.exists()
    done: list[str] = []
    monkeypatch.setattr(said.st, "session_state", {})
    said.attempt(done.append, "something")
    assert not done and "public demonstration" in said.st.session_state["training-said"]
    monkeypatch.setattr(start, "start", lambda *_: done.append("started"))
    start._start(1, None, "run")  # type: ignore[arg-type]
    assert not done and "public demonstration" in said.st.session_state["start-refused"]
    for refuses in (uploads.upload, bring.section, lambda: bring._take_name("any")):
        with pytest.raises(ValueError, match="public demonstration"):
            refuses()
    run = Status(**{field: None for field in Status.__dataclass_fields__})  # type: ignore[arg-type]
    assert steering.acts(run) == []


@pytest.mark.usefixtures("demonstration")
def test_the_pages_hide_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "RUNS", tmp_path)
    page = AppTest.from_file(str(ROOT / "app_pages" / "training.py"), default_timeout=60)
    page.query_params["new"] = "1"
    page.run()
    assert not page.exception and "public demonstration" in page.info[0].value
    assert not page.get("file_uploader") and "start-training" not in {button.key for button in page.button}


@pytest.mark.usefixtures("demonstration")
@pytest.mark.parametrize("query", [{}, {"data": "file"}, {"data": "hub"}, {"data": "upload"}])
def test_without_runs_there_is_no_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: dict[str, str]) -> None:
    """Every new container has no run."""
    for name in ("RUNS", "CHECKPOINTS"):
        monkeypatch.setattr(resources, name, tmp_path)
    page = AppTest.from_file(str(ROOT / "app_pages" / "training.py"), default_timeout=60)
    page.query_params.update(query)
    page.run()
    assert not page.exception and "no run to look at" in page.info[0].value
    assert not page.text_input and not page.selectbox and not page.button


@pytest.mark.usefixtures("demonstration")
def test_the_form_and_its_boxes_refuse_by_themselves() -> None:
    for refuses in (lambda: start.form(TrainingView()), corpus._file, corpus._hub):
        with pytest.raises(ValueError, match="public demonstration"):
            refuses()


def test_strangers_read_no_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "'/srv/app/models/a/config.json' is cut off (/tmp/x.part); and/or see https://example.org/a/b, 1/2."
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "")
    assert without_places(said) == said
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")
    assert without_places(said) == "'config.json' is cut off (x.part); and/or see https://example.org/a/b, 1/2."


def test_production_shows_no_errors_and_watches_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "0.0.0.0")
    monkeypatch.setenv("PORT", "80")
    found = options()
    assert (found["server.address"], found["server.port"]) == ("0.0.0.0", "80")
    assert (found["client.showErrorDetails"], found["server.fileWatcherType"]) == ("none", "none")
    assert found["server.enableXsrfProtection"] == found["server.headless"] == "true"
    assert environment()["OMP_NUM_THREADS"] == "1"
    # The one of config.toml holds: without any, Streamlit would ask the internet for its address.
    assert found["browser.serverAddress"] == ""
    monkeypatch.setenv("HOST", "192.0.2.1")
    assert options()["browser.serverAddress"] == options()["server.address"] == "192.0.2.1"

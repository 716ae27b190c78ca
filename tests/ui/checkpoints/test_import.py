"""Uploads stay on the disk as long as they are used; jobs report their progress and can be cancelled."""

from __future__ import annotations

import gc
import io
import os
import threading
from pathlib import Path

import pytest

from headlight.importers.bundle import safetensors_bundle, zip_folder
from headlight.importers.questions import Answers
from tests.ui.checkpoints.conftest import HOSTILE
from tests.ui.state.threads import finish
from transformer import load
from transformer.checkpoint.weights import Refused
from ui.checkpoints import exports, import_, keeping, uploads
from ui.state import models
from ui.state.jobs import Cancelled, Job, Progress


def test_an_upload_goes_with_whoever_brought_it(shelf: Path) -> None:
    upload = uploads.keep(io.BytesIO(b"1234"), "../../etc/pass wd.pt")
    assert upload.path.read_bytes() == b"1234" and upload.path.name == "pass_wd.pt"
    assert upload.path.parents[1] == shelf / "models" / ".uploads"
    uploads.forget(upload)
    assert not upload.path.parent.exists()
    folder = uploads.keep(io.BytesIO(b"1"), "a.pt").path.parent  # held by nobody
    gc.collect()
    assert not folder.exists()
    named = uploads.ImportSource(shelf / "checkpoints" / "small", "small")
    uploads.forget(named)
    assert named.path.exists()  # what was there before stays


def test_what_a_killed_server_left_is_swept_up(shelf: Path) -> None:
    old = shelf / "models" / ".uploads" / "old"
    old.mkdir(parents=True)
    os.utime(old, (0, 0))
    upload = uploads.keep(io.BytesIO(b"1"), "a.pt")
    assert not old.exists() and upload.path.exists()


@pytest.mark.parametrize("name", ["", "...", "/", "a/b\\c.zip", "x" * 500 + ".safetensors", HOSTILE, "\0.pt"])
def test_names_become_safe(name: str) -> None:
    safe = uploads.safe_name(name)
    assert 0 < len(safe) <= 101 and not safe.startswith(".") and not set(safe) & set("/\\<> \0")


def test_a_job_tells_how_far_it_is_and_stops() -> None:
    go, seen = threading.Event(), threading.Event()

    def work(progress: Progress) -> str:
        progress(0.5, "Halfway")
        seen.set()
        go.wait(30)
        progress(1.0, "There")
        return "made"

    job = Job(work)
    assert seen.wait(30) and (job.share, job.doing, job.done) == (0.5, "Halfway", False)
    go.set()
    assert finish(job).result == "made"
    go.clear(), seen.clear()
    stopped = Job(work)
    assert seen.wait(30)
    stopped.cancel()
    go.set()
    assert isinstance(finish(stopped).error, Cancelled)
    refused = Job(lambda progress: int("x"))
    assert isinstance(finish(refused).error, ValueError)


def test_names_of_models(shelf: Path) -> None:
    assert keeping.suggested_name("Helsinki-NLP/opus-mt-en-fr") == "opus-mt-en-fr"
    assert keeping.suggested_name("cut.zip") == "cut-2"  # there is one
    assert keeping.suggested_name("<>.pt") == "model"
    for name in ("", "../x", "a/b", ".x", HOSTILE, "x" * 65):
        with pytest.raises(ValueError, match="is not a valid model name"):
            models.own_folder(name)
    with pytest.raises(ValueError, match="A model named cut already exists"):
        keeping.free_path("cut")


def test_only_imported_models_are_deleted(shelf: Path) -> None:
    keeping.delete(shelf / "models" / "cut")
    assert not (shelf / "models" / "cut").exists() and not list((shelf / "models").glob(".cut*"))
    (shelf / "models" / "link").symlink_to(shelf / "checkpoints" / "small")
    for folder in (shelf / "checkpoints" / "small", shelf / "models" / "link"):
        with pytest.raises(ValueError, match="was not imported in this app"):
            keeping.delete(folder)
    assert (shelf / "checkpoints" / "small" / "config.json").exists()


def test_an_examination_is_refused_in_a_sentence(shelf: Path) -> None:
    (shelf / "zero.pt").touch()
    for path in (shelf / "zero.pt", shelf / "away.pt"):
        with pytest.raises(Refused):
            import_.examination(path, Answers())
    examination = import_.examination(shelf / "checkpoints" / "small", Answers())
    assert examination.form is not None and not examination.questions


@pytest.mark.parametrize("make", [zip_folder, safetensors_bundle])
def test_what_is_exported_can_be_imported(shelf: Path, make: object) -> None:
    folder = shelf / "checkpoints" / "small"
    name = "small.zip" if make is zip_folder else "small.safetensors"
    content = exports.file_bytes(lambda out: make(folder, out), name)  # type: ignore[operator]
    (shelf / name).write_bytes(content)
    brought = uploads.ImportSource(shelf / name, name)
    assert import_._make(brought, shelf / "models" / "again", Answers(), lambda share, doing: None) == "again"
    again, before = load(shelf / "models" / "again"), load(folder)
    assert again.translate("two dogs").ids == before.translate("two dogs").ids

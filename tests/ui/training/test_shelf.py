"""The list of runs, the models that they become, and the table of their settings."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from headlight import checkpoints
from headlight.checkpoints import load_translator
from headlight.runs import RunFolder, Status, differences, status
from headlight.runs.run_status import ALIVE_STATES
from tests.small import small_checkpoint
from tests.small_run import new_run, small_recipe
from ui.state import models
from ui.training import compare, shelf
from ui.training.keeping import zipped
from ui.training.shelf import Item, run_item, score_text
from ui.training.steering import acts
from ui.training.view import TrainingView
from ui.widgets import corpus_upload
from ui.widgets.errors import without_folders

STATES = ("queued", "running", "paused", "stopped", "finished", "crashed", "stalled", "diverged", "out of disk")


def at(state: str, **more: object) -> Status:
    return Status("a", Path("a"), state, 30, 100, "training", saved_step=20, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", STATES)
def test_each_state_has_an_icon_a_word_and_a_next_step(state: str) -> None:
    item = run_item(at(state))
    assert item.icon and item.word
    assert (item.tone == "bad") == (state in shelf.FAILED_STATES)
    if state not in ALIVE_STATES and state != "finished":
        assert "30" in item.rest
    if state in shelf.FAILED_STATES:
        assert ". " in item.rest  # and what to do about it
    labels = [act.label for act in acts(at(state))]
    assert labels == {
        "queued": ["Pause"], "running": ["Pause"], "stalled": ["End the worker"], "diverged": ["Start again"],
        "finished": [],
    }.get(state, ["Resume"])  # fmt: skip


def test_a_running_run_says_how_far_it_is() -> None:
    assert run_item(at("running", seconds_left=1020.0)) == Item(
        "a", "a", "wave", "go", "Running", ", 30\u00a0%, 17 min left", 0.3
    )


def test_the_score_that_says_more() -> None:
    assert score_text({"bleu": 44.6, "exact": 0.3}) == "BLEU 44.6"
    assert score_text({"bleu": 0.0, "exact": 0.5}) == "50.0\u00a0% exact"
    assert score_text({"bleu": 99.0, "exact": 0.998}) == "99.8\u00a0% exact"
    assert score_text({"bleu": 44.6, "exact": 0.3, "sentences": 1014}) == "BLEU 44.6 on 1,014 sentences"
    assert score_text({"bleu": 100.0, "exact": 1.0, "sentences": 1}) == "100.0\u00a0% exact on 1 sentence"
    assert score_text({}) == score_text({"sentences": 3}) == ""


def test_the_finished_run_is_listed_with_its_last_score(finished: RunFolder) -> None:
    scores = shelf.latest_scores(finished.path)
    assert run_item(status(finished.path)).rest == f", {score_text(scores)}"
    assert scores["watched"][0]["text"] == "one two"


def test_a_finished_run_is_a_model_and_one_that_goes_on_is_none(
    runs: Path, finished: RunFolder, tmp_path: Path
) -> None:
    assert "runs/first" in models.model_names()
    new_run(runs, "second", small_recipe(tmp_path))
    assert "runs/second" not in models.model_names()
    assert models.model_folder("runs/first") == finished.checkpoints / "best"
    best = load_translator(finished.checkpoints / "best")
    assert models.translator("runs/first").translate("one two").text == best.translate("one two").text
    with pytest.raises(ValueError, match="no model"):
        models.translator("runs/../first")


def test_a_download_is_a_checkpoint_folder(finished: RunFolder, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(zipped(status(finished.path)))) as packed:
        packed.extractall(tmp_path)
    exported = load_translator(tmp_path / "first")
    assert (
        exported.translate("one two").text == load_translator(finished.checkpoints / "best").translate("one two").text
    )
    assert len(list((tmp_path / "first" / "history").iterdir())) == len(list(finished.history.iterdir()))


def test_a_kept_model_is_one_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The models that ship may be in a read-only folder."""
    monkeypatch.setattr(models, "MODELS", tmp_path)
    place = models.own_folder("mine")
    assert models.model_folder("models/mine") == place
    checkpoints.save(small_checkpoint(), place)
    assert "models/mine" not in [model.id for model in shelf.shipped()]  # it has no snapshots
    (place / "history").mkdir()
    (place / "history" / "step-0000001.safetensors").touch()
    assert [model.id for model in shelf.shipped()][-1] == "models/mine"
    assert TrainingView.from_query({"run": "models/mine"}).run == "models/mine"


def test_the_table_marks_what_the_library_says_differs(tmp_path: Path) -> None:
    one, other = small_recipe(tmp_path), small_recipe(tmp_path, learning_rate=0.5, clip=0.0)
    rows = compare.rows([one, other])
    marked = {row.name: row.values for row in rows if row.differs}
    assert set(marked) == {name for name, _, _ in differences(one, other)}
    assert marked["training.learning_rate"] == ("0.01", "0.5")
    assert len(rows) > 40


def test_refusals_do_not_tell_where_the_files_lie(runs: Path) -> None:
    folder = corpus_upload.uploads() / "7"
    folder.mkdir(parents=True)
    (folder / "bad.tsv").write_bytes(b"\x00\x01")
    verdict = corpus_upload._verdict(str(folder / "bad.tsv"), (0,))
    assert verdict is not None and str(runs) in verdict
    assert without_folders(verdict).startswith("bad.tsv, line 1:")

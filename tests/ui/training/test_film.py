"""The film strip is what the snapshots compute, and the numbers in its note are right."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from headlight import checkpoints
from headlight.runs import RunFolder
from transformer import Translator
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.native import load_weights
from ui.training import film
from ui.training.view import TrainingView

TEXT = "one two"


@pytest.fixture(scope="module")
def history(finished: RunFolder) -> film.History:
    return film.history("first", finished.checkpoints / "best", finished.history, finished.config)


def model_at(finished: RunFolder, step: int) -> Translator:
    base = checkpoints.load(finished.checkpoints / "best")
    model = load_weights(base.model.config, finished.history / f"step-{step:07d}.safetensors")
    return Translator(Checkpoint(model, base.source_tokenizer, base.target_tokenizer))


def test_each_frame_reads_what_the_last_one_writes(finished: RunFolder, history: film.History) -> None:
    frames = history.frames(TEXT)
    steps = [frame.step for frame in frames]
    assert steps == sorted(steps) and steps[0] == 0 and steps[-1] == 60
    last = model_at(finished, 60)
    written = last.translate(TEXT, beam_size=1)
    for frame in (frames[0], frames[2], frames[-1]):
        model = model_at(finished, frame.step)
        own = model.translate(TEXT, beam_size=1)
        assert (frame.text, frame.log_prob) == (own.text, own.log_prob)
        trace = model.trace_ids(model.encode(TEXT), [model.model.config.sos_id, *written.ids])
        assert all(np.array_equal(frame.trace.pattern(k), trace.pattern(k)) for k in ("encoder", "decoder", "cross"))
        assert frame.trace.target.ids == frames[-1].trace.target.ids


def test_a_sentence_whose_film_would_take_too_much_memory_is_refused(
    history: film.History, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = history.frames(TEXT)
    held = sum(frame.trace.pattern(kind).nbytes for frame in frames for kind in ("encoder", "decoder", "cross"))
    film._frames.clear()
    monkeypatch.setattr(film, "REQUEST_BYTES", held)
    with pytest.raises(
        ValueError, match=f"The film of {len(frames)} snapshots would hold .*; choose a shorter sentence"
    ):
        history.frames(TEXT)
    monkeypatch.setattr(film, "REQUEST_BYTES", 3 * held)
    assert len(history.frames(TEXT)) == len(frames)


def test_what_travels_is_the_head_that_is_watched(history: film.History) -> None:
    frames = history.frames(TEXT)
    data = film.payload(history, frames, ("cross", 1, 2), 30)
    size = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + size])
    patterns = film.strip(frames, ("cross", 1, 2))
    weights = np.frombuffer(data[4 + size :], "<f4", patterns.size).reshape(patterns.shape)
    assert np.array_equal(weights, patterns)
    assert np.allclose(weights.sum(-1), 1, atol=1e-5)
    assert (len(header["rows"]), len(header["columns"])) == patterns.shape[1:]
    assert header["settled"][-1] == len(header["rows"])


def test_sure_and_settled_are_counted_right() -> None:
    patterns = np.array([[[0.5, 0.5, 0], [0.2, 0.2, 0.6]], [[0, 1, 0], [0, 0.9, 0.1]], [[0, 0.7, 0.3], [0, 0.2, 0.8]]])
    assert film.sureness(patterns).tolist() == pytest.approx([0.55, 0.95, 0.75])
    assert film.settled(patterns).tolist() == [1, 1, 2]


def test_the_view_chooses_the_head_and_nonsense_does_not(history: film.History) -> None:
    trace = history.frames(TEXT)[-1].trace
    assert film.watched_head("run", trace, TrainingView(kind="decoder", layer=1, head=2)) == ("decoder", 1, 2)
    assert film.watched_head("run", trace, TrainingView(kind="encoder", layer=9, head=9)) in film.heads(trace)


def test_the_head_that_the_page_chose_stays_when_a_snapshot_comes(
    history: film.History, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, sharp = history.frames(TEXT)[-1].trace, [(0, 1)]
    monkeypatch.setattr(film.st, "session_state", {})
    monkeypatch.setattr(film, "sharpest", lambda trace, kind: sharp[0])
    assert film.watched_head("run", trace, TrainingView()) == ("cross", 1, 2)
    sharp[0] = (0, 0)
    assert film.watched_head("run", trace, TrainingView()) == ("cross", 1, 2)
    assert film.watched_head("other", trace, TrainingView()) == ("cross", 1, 1)


def test_very_many_snapshots_are_thinned(finished: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("many")
    for step in range(100):
        shutil.copy(finished.history / "step-0000000.safetensors", folder / f"step-{step:07d}.safetensors")
    (folder / "step-0000100.safetensors.12.part").touch()
    history = film.history("many", finished.checkpoints / "best", folder, finished.config)
    steps = [snapshot.step for snapshot in history.snapshots]
    assert len(steps) == film.MAX_SNAPSHOTS and (steps[0], steps[-1]) == (0, 99)
    assert history.left_out == 100 - film.MAX_SNAPSHOTS

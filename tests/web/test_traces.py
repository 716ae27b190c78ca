"""A published trace: what is drawn, what is refused, and that nothing of the model is in it."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import headlight
from headlight.cli.verbs import main
from headlight.notebook.arrays import trace_of
from headlight.viewer.export import WITHOUT_MODEL
from headlight.web import traces
from headlight.web.traces import load_trace, trace_page
from tests.ui.viewer.test_export import HOSTILE, Elements, _decoded
from transformer import Trace, Translator


@pytest.fixture(scope="module")
def trace() -> Trace:
    model: Translator = headlight.load("english-french")
    return model.trace("The animal didn't cross the street.")


def uniform(layers: int, heads: int, length: int, **tokens: list[str]) -> Trace:
    weights = np.full((layers, heads, length, length), 1 / length, np.float32)
    words = tokens.get("words", [f"w{n}" for n in range(length)])
    return trace_of(decoder=np.tril(weights), target_tokens=words)


def test_a_saved_trace_is_published_by_the_command(trace: Trace, tmp_path: Path) -> None:
    trace.save(tmp_path / "trace.npz")
    page = tmp_path / "page.html"
    assert main(["publish", "--trace", str(tmp_path / "trace.npz"), "--single", str(page), "--title", "It & they"]) == 0
    text = page.read_text("utf-8")
    assert text == trace_page(trace, title="It & they")
    assert Elements(text).texts["title"] == ["It & they"]
    meta = json.dumps([["Source", trace.text], ["Target", trace.translation]])[:-1]
    assert f'"meta": {meta}' in _decoded(text, "page")
    assert WITHOUT_MODEL[:40] in _decoded(text, "page")


def test_a_view_of_a_notebook_is_published_with_its_head(trace: Trace, tmp_path: Path) -> None:
    view = headlight.show(trace, selected=("encoder", 1, 2))
    written = headlight.publish(view, tmp_path / "page.html")
    assert '"selected": [0, 1, 2]' in _decoded(written.read_text("utf-8"), "page")
    with pytest.raises(ValueError, match=r"publish was given 'en-fr'; give a trace, as model.trace"):
        headlight.publish("en-fr", tmp_path / "page.html")  # type: ignore[arg-type]


def test_what_a_decoder_was_given_and_rows_that_are_no_shares_are_said() -> None:
    text = trace_page(uniform(2, 3, 4))
    assert "Prompt" in _decoded(text, "page") and "rows that do not sum to 1" in _decoded(text, "page")


def test_hostile_text_stays_text() -> None:
    page = Elements(trace_page(uniform(1, 2, 4, words=[HOSTILE] * 4), title=HOSTILE))
    assert "".join(page.texts["title"]) == HOSTILE
    assert {tag for tag, _ in page.tags} == {"html", "head", "meta", "title", "style", "body", "script"}
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert [one.get("type") for one in scripts[:-1]] == ["application/octet-stream"] * (len(scripts) - 1)
    assert scripts[-1] == {}


def test_a_page_that_is_too_large_is_refused_before_it_is_made() -> None:
    message = r"would have 27 MB, and may have 16 MB \(decoder 10 x 10 x 316 x 316\); trace a"
    with pytest.raises(ValueError, match=message):
        trace_page(uniform(10, 10, 316))


def test_a_file_that_unpacks_to_too_much_is_refused(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace.save(tmp_path / "trace.npz")
    monkeypatch.setattr(traces, "_MAX_UNPACKED_BYTES", 10_000)
    with pytest.raises(ValueError, match=r"trace.npz unpacks to \d+\.\d [kM]B, and"):
        load_trace(tmp_path / "trace.npz")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("cross", lambda array: array[..., :-1], r"its cross attention has shape \(3, 4, \d+, \d+\) of float32"),
        ("encoder", lambda array: -array, "its encoder attention holds negative or infinite weights"),
        ("encoder", lambda array: array * np.nan, "its encoder attention holds negative or infinite weights"),
        ("decoder", lambda array: array.astype(int), "its decoder attention has shape .* of int64"),
        ("source_labels", lambda array: np.arange(len(array)), "its source tokens are no texts"),
        ("target_pieces", lambda array: array[:-1], "its target tokens do not belong together"),
        ("source_words", lambda array: array[:-1], "its source tokens do not belong together"),
        ("log_probs", lambda array: array[:-1], r"it has \d+ log-probabilities for \d+ tokens"),
    ],
)
def test_a_damaged_trace_says_what_is_wrong(
    trace: Trace, tmp_path: Path, name: str, change: Callable[[np.ndarray], np.ndarray], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        load_trace(save_changed(trace, tmp_path / "trace.npz", name, change))


def save_changed(trace: Trace, path: Path, name: str, change: Callable[[np.ndarray], np.ndarray]) -> Path:
    trace.save(path)
    with np.load(path) as data:
        arrays = dict(data)
    np.savez(path, **{**arrays, name: change(arrays[name])})
    return path


def test_words_with_huge_numbers_are_read_at_once(trace: Trace, tmp_path: Path) -> None:
    """The numbers of words are names: nothing is counted up to them."""
    path = save_changed(trace, tmp_path / "trace.npz", "source_words", lambda words: words + 2**60)
    assert load_trace(path).source == trace.source


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("a.txt", "hello")
    for name in ("text.npz", "zip.npz"):
        with pytest.raises(ValueError, match=f"{name} is not a trace that this program wrote"):
            load_trace(tmp_path / name)
    with pytest.raises(ValueError, match="There is no trace at"):
        load_trace(tmp_path / "none.npz")


def test_the_command_says_how_it_is_used(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for arguments, message in (
        ([], "Name a model and where to write it"),
        (["reverse"], "Name a model and where to write it"),
        (["reverse", str(tmp_path / "site"), "--single", "page.html"], "Name a model and where to write it"),
        (["--trace", "trace.npz"], "A trace is published as one file"),
        (["reverse", "--trace", "trace.npz", "--single", "page.html"], "A trace is published as one file"),
    ):
        assert main(["publish", *arguments]) != 0
        assert message in capsys.readouterr().err

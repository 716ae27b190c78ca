"""Slices on the Heads page: what is asked, cached and cancelled, and a sentence that opens on Attention."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from headlight.corpora.files import JsonLines, TableCorpus, TextPair
from headlight.evaluation import Evaluator
from headlight.slices import SlicedEvaluation, slice_sentences
from headlight.slices.evaluating import score_slices
from tests.small import TEXTS, small_checkpoint
from tests.ui.pages import page_at, texts
from transformer.yielding import yield_turn
from ui.heads import slices
from ui.heads.corpus import ChosenCorpus
from ui.heads.measurements import MeasurementRequest
from ui.heads.slices import SliceRequest, find_slices, measure_slices, other_columns, rivals
from ui.heads.view import HeadsView
from ui.state import models
from ui.state.jobs import JOBS, Cancelled, Progress

HOSTILE = "<b>one</b> *two*"


def evaluation(count: int = 1) -> SlicedEvaluation:
    """Thirty sentences, translated badly by the first model and, where there are two, rightly by the second."""
    sources = [f"{HOSTILE} not {n}" if n % 2 else f"she sees {n}" for n in range(30)]
    wrong = [text if n % 5 else f"wrong {n}" for n, text in enumerate(sources)]
    made, left_out = slice_sentences(
        sources, ["negation", "rare", "column:topic"], language="English", columns={"topic": [HOSTILE] * 29 + ["x"]}
    )
    evaluator = Evaluator(sources, sources, [([1], [1, 2])] * 30)
    return score_slices(evaluator, [wrong, sources][:count], made, left_out)


def test_a_link_says_whether_slices_are_made_and_against_which_model() -> None:
    view = HeadsView.from_query({"slices": "1", "against": "en-fr"})
    assert view.slices and view.against == "en-fr" and HeadsView.from_query(view.to_query()) == view
    assert not HeadsView.from_query({"slices": "yes"}).slices


def test_only_models_between_the_same_languages_are_compared(shelves: Path) -> None:
    for name, target in (("one", "French"), ("two", "French"), ("three", "German")):
        checkpoint = small_checkpoint()
        checkpoint.card |= {"source": "English", "target": target}
        checkpoints.save(checkpoint, shelves / "checkpoints" / name)
    assert rivals("one", models.translator("one")) == ["two"] and rivals("three", models.translator("three")) == []


def test_columns_that_can_be_chosen(tmp_path: Path) -> None:
    table, records = tmp_path / "a.tsv", tmp_path / "a.jsonl"
    table.write_text("en\tfr\ttopic\t\nA\tB\tC\n", encoding="utf-8")
    records.write_text('{"en": "a", "fr": "b", "topic": "c"}\n', encoding="utf-8")
    assert other_columns(TableCorpus(table, "en", "fr")) == other_columns(JsonLines(records, "en", "fr")) == ["topic"]
    assert other_columns(TableCorpus(table, 0, 1)) == other_columns(TextPair(table, records)) == []
    records.write_text("[" * 10_000, encoding="utf-8")
    assert other_columns(JsonLines(records, "en", "fr")) == []


def test_scores_are_cached_unless_the_data_is_private(shelves: Path) -> None:
    for name in ("small", "other"):
        checkpoints.save(small_checkpoint(), shelves / "checkpoints" / name)
    data = shelves / "pairs.tsv"
    data.write_text(
        "en\tfr\tkind\n" + "".join(f"{text}\t{text}\tk{n}\n" for n, text in enumerate(TEXTS)), encoding="utf-8"
    )
    shares: list[float] = []
    for private, against in ((True, None), (False, None), (False, ("other", models.version("other")))):
        chosen = ChosenCorpus(f"{data}:en:fr", is_private=private)
        wanted = SliceRequest(MeasurementRequest("small", models.version("small"), chosen, 3), against, "kind")
        assert find_slices(wanted) is None
        made = measure_slices(wanted, lambda share, doing: shares.append(share))
        assert len(made.sentences) == 3 and len(made.sentences[0].chrf) == (1 if against is None else 2)
        assert [scores.slice.name for scores in made.slices if scores.slice.kind == "column:kind"] == ["k0", "k1", "k2"]
        assert find_slices(wanted) == (None if private else made)
    assert min(shares) == 0 and max(shares) < 1
    for file in (shelves / "runs" / ".heads").glob("slices*"):
        file.write_text('{"sentences": [], "slices": [{}]}', encoding="utf-8")
    assert find_slices(wanted) is None


def test_a_measurement_that_is_cancelled_ends() -> None:
    ended, begun = Event(), Event()

    def work(progress: Progress) -> None:
        begun.set()
        try:
            while True:
                yield_turn()
        except Cancelled:
            ended.set()
            raise

    JOBS.get("slices", "endless", work)
    assert begun.wait(10)
    JOBS.drop("slices", "endless")
    assert ended.wait(10)
    JOBS.drop("slices", "endless")  # once more does nothing


def opened(monkeypatch: pytest.MonkeyPatch, count: int, **query: str) -> AppTest:
    monkeypatch.setattr(slices, "find_slices", lambda wanted: evaluation(1 if wanted.against is None else count))
    return page_at("heads", **{"model": "english-french", "slices": "1", **query}).run()


def test_a_sentence_is_one_click_from_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(monkeypatch, 1)
    assert not app.exception
    shown = texts(app)
    assert "The lowest chrF: all sentences" in shown and "Words that the training lacks: left out" in shown
    assert "too small for an interval" in shown and "p-value" not in shown
    (table,) = [frame.value for frame in app.dataframe if "Slice" in frame.value]
    assert list(table["Sentences"]) == [30, 15, 15, 29, 1] and HOSTILE in list(table["Slice"])
    markup = "\n".join(element.proto.body for element in app.get("html"))
    assert "&lt;b&gt;one&lt;/b&gt;" in markup and HOSTILE not in markup
    (button,) = [button for button in app.button if button.key == "slices-open-0-1"]
    button.click().run()
    view = app.session_state["view"]
    assert view.text == evaluation().worst(1)[0].source and view.target is None


def test_two_models_stand_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(monkeypatch, 2, against="en-fr")
    assert not app.exception and "Where the models differ most" in texts(app) and "about one has p" in texts(app)
    (table,) = [frame.value for frame in app.dataframe if "Slice" in frame.value]
    assert {"BLEU 1", "BLEU 2", "p BLEU", "p chrF"} <= set(table.columns)
    (button,) = [button for button in app.button if button.key == "slices-open-0-2"]
    button.click().run()
    assert app.session_state["view"].model == "en-fr" and app.session_state["view"].text.startswith((HOSTILE, "she"))

"""The Heads page without its layout: which corpora it offers, and measurements that run."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from headlight.analysis.atlas import Atlas, atlas
from headlight.analysis.atlas.roles import RankedSentence
from headlight.analysis.measures import MEASURES
from headlight.cli.verbs import main
from headlight.corpora.corpora import Corpus, GoldCorpus, open_split
from headlight.corpora.truth import KnownPair, known_pairs
from tests.small import small_checkpoint
from tests.ui.state.threads import finish
from ui.attention.faithful import word_agreement_over_corpus
from ui.heads import body, waiting
from ui.heads.corpus import FILE, UPLOAD, ChosenCorpus, choices, counts, suited
from ui.heads.head import ends
from ui.heads.measurements import MeasurementRequest, find, find_history, measure
from ui.heads.payload import header, present
from ui.heads.table import _columns
from ui.heads.view import HeadsView
from ui.state import atlases, models
from ui.state.atlases import EXAMPLES, HeadIndex
from ui.state.jobs import MAX_STORED_JOBS, PAGE_POLL_SECONDS, UNSEEN_SECONDS, Job, Jobs, Progress
from ui.state.queue import TURNS


def model(**card: object) -> Any:
    return SimpleNamespace(card=card)


def request(number: int) -> MeasurementRequest:
    return MeasurementRequest("reverse", (1,), ChosenCorpus("reverse"), number)


def test_a_model_is_measured_on_what_it_was_trained_on_or_what_it_speaks() -> None:
    def first(**card: object) -> str | None:
        return suited(model(**card), choices(model(**card)))

    assert first(command="python -m headlight train --data copy --out runs/x") == "copy"
    assert first(command="python -m headlight train --data /home/me/x.tsv", source="English", target="French") == (
        "english-french"
    )
    assert first(source="German", target="Danish", examples=["Hallo."]) == EXAMPLES
    assert first(source="German", target="Danish") is None  # whoever brought it knows its corpus, and is asked


def test_nobody_brings_a_corpus_to_a_public_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {UPLOAD, FILE} <= choices(model()).keys()
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")
    assert not {UPLOAD, FILE} & choices(model()).keys()


def test_what_was_measured_lies_on_the_disk_for_as_long_as_the_model_is_the_same(
    small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert atlases.find("heads", "small", "copy", 200) is None
    atlases.keep("heads", "small", "copy", 200, {"pairs": 1})
    assert atlases.find("heads", "small", "copy", 200) == {"pairs": 1}
    with monkeypatch.context() as patch:
        patch.setitem(MEASURES, "new", replace(MEASURES["entropy"], name="new"))
        assert atlases.find("heads", "small", "copy", 200) is None  # it lacks that measure
    assert atlases.find("heads", "small", "copy", 1000) is atlases.find("history", "small", "copy", 200) is None
    assert atlases.find("heads", "small", "reverse", 200) is None
    (cached_file,) = (small_model.parents[1] / "runs" / ".heads").iterdir()
    cached_file.write_text("{", encoding="utf-8")  # cut off
    assert atlases.find("heads", "small", "copy", 200) is None
    monkeypatch.setattr(atlases, "MAX_FILES", 3)
    for pairs in range(1, 6):
        atlases.keep("heads", "small", "copy", pairs, {"pairs": pairs})
    assert len(list(cached_file.parent.iterdir())) == 3 and atlases.find("heads", "small", "copy", 5)
    config = small_model / "config.json"
    config.write_text(config.read_text().replace("\n", "\n\n", 1))  # another file, though the same network
    assert atlases.find("heads", "small", "copy", 5) is None


def test_what_came_with_a_model_is_shown_where_it_is_about_this_model(small_model: Path) -> None:
    table = small_model.parent / "pairs.tsv"
    table.write_text("two dogs are running\tune petite fille\n" * 3)
    file = small_model / atlases.FILE
    command = ["heads", str(small_model), "--corpus", str(table), "--pairs", "200", "--sample", "2"]
    assert main([*command, "--json", str(file)]) == 0
    known = MeasurementRequest("small", models.version("small"), ChosenCorpus(str(table)), 200)
    measured = find(known)
    assert measured is not None and measured.atlas.pairs == 3 and measured.when == atlases.today() and measured.by == ""
    facts = json.loads(file.read_text())  # the page writes the same JSON
    assert json.loads(body._json(measured, None, known)) == facts | {"checkpoint": "small"}
    shipped = atlases.shipped("small")
    assert shipped is not None and find_history(known) is None  # it has none
    # Beside what the Attention page finds in a sentence.
    beginning = rf"Over 2 sentences of {re.escape(str(table))}, with all heads on,"
    match = re.fullmatch(rf"{beginning} it is −?\d\.\d\d ± 0\.00\.", word_agreement_over_corpus(shipped))
    assert match and word_agreement_over_corpus(atlases.shipped("models/other")) == ""
    assert find(replace(known, pairs=1000)) is None and find(replace(known, chosen=ChosenCorpus("copy"))) is None
    assert find(replace(known, chosen=ChosenCorpus(str(table), is_private=True))) is None
    file.write_text(json.dumps(facts | {"edition": facts["edition"] + 1}))
    assert atlases.shipped("small") is None and find(known) is None
    file.write_text(json.dumps(facts | {"heads": 3}))  # nobody's work
    assert find(known) is None


SHIPPED = sorted(models.CHECKPOINTS.glob(f"*/{atlases.FILE}"))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.parent.name)
def test_what_ships_is_about_the_models_that_ship(file: Path) -> None:
    """A stale file is not shown, and the page would begin with a measurement: measure it again."""
    facts = atlases.shipped(file.parent.name)
    assert facts is not None and facts["asked"] == HeadsView.pairs and facts["split"] is None
    assert file.stat().st_size < 1_000_000
    assert bool(facts["history"]) == (file.parent / "history").is_dir()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time by which measurements are kept."""
    now = [1000.0]
    monkeypatch.setattr("ui.state.jobs.time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_a_measurement_is_made_once_and_only_the_latest_are_kept(now: list[float]) -> None:
    jobs, computed = Jobs(), []

    def do(progress: Progress) -> int:
        computed.append(1)
        return len(computed)

    first = jobs.get("heads", request(0), do)
    assert jobs.get("heads", request(0), do) is first
    now[0] += PAGE_POLL_SECONDS + 1
    for number in range(1, MAX_STORED_JOBS + 1):
        last = jobs.get("heads", request(number), do)
    finish(last)
    assert jobs.get("heads", request(0), do) is not first


def endless(begun: Event) -> Callable[[Progress], None]:
    def do(progress: Progress) -> None:
        while True:
            begun.set()
            time.sleep(0.005)
            progress(0.5, "measuring")

    return do


def test_what_nobody_waits_for_any_more_ends(now: list[float]) -> None:
    jobs, begun = Jobs(), Event()
    job = jobs.get("heads", request(0), endless(begun))
    assert begun.wait(20)
    now[0] += PAGE_POLL_SECONDS + 1
    for number in range(1, MAX_STORED_JOBS + 1):
        jobs.get("heads", request(number), lambda progress: None)
    finish(job)
    assert job.result is None


def test_more_pages_than_places_all_get_what_they_wait_for(now: list[float]) -> None:
    """Each page polls its own job; no job is cancelled for another page, which would start it again."""
    jobs, begun = Jobs(), [Event() for _ in range(MAX_STORED_JOBS + 5)]
    waited = [jobs.get("heads", request(number), endless(event)) for number, event in enumerate(begun)]
    for _ in range(3):
        now[0] += PAGE_POLL_SECONDS - 1
        for number in range(len(waited)):
            jobs.keep_alive("heads", request(number))
    assert [jobs.get("heads", request(number), endless(event)) for number, event in enumerate(begun)] == waited
    now[0] += PAGE_POLL_SECONDS + 1
    finish(jobs.get("heads", request(-1), lambda progress: progress(0, "")) and waited[0])


def test_what_was_brought_outlives_any_number_of_others(now: list[float]) -> None:
    """It is not stored on the disk: every rerun of its page would have to compute it again."""
    jobs = Jobs()
    private_job = jobs.get("heads", request(0), lambda progress: 1, is_private=True)
    finish(private_job)
    for number in range(1, 3 * MAX_STORED_JOBS):
        now[0] += PAGE_POLL_SECONDS + 1
        finish(jobs.get("heads", request(number), lambda progress: 1))
    assert jobs.get("heads", request(0), lambda progress: 2, is_private=True) is private_job


def test_what_was_brought_ends_and_is_let_go_when_nobody_looks(now: list[float]) -> None:
    begun, jobs = Event(), Jobs()
    shared_job = jobs.get("heads", request(0), lambda progress: 1)
    finish(shared_job)
    private_job = jobs.get("heads", request(1), endless(begun), is_private=True)
    assert begun.wait(20)
    now[0] += UNSEEN_SECONDS - 1
    jobs.keep_alive("heads", request(1))
    now[0] += UNSEEN_SECONDS - 1
    jobs.sweep()
    assert jobs.get("heads", request(1), endless(begun), is_private=True) is private_job and not private_job.done
    now[0] += UNSEEN_SECONDS + 1
    jobs.sweep()
    finish(private_job)
    assert private_job.result is None
    assert jobs.get("heads", request(1), lambda progress: 2, is_private=True) is not private_job
    assert jobs.get("heads", request(0), lambda progress: 3) is shared_job


def test_a_page_that_stays_open_keeps_what_was_brought(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is clicked for an hour: the page's own polling keeps its two measurements."""
    jobs, jobs_by_kind = Jobs(), dict[str, Job[object]]()
    monkeypatch.setattr(waiting, "JOBS", jobs)
    for kind in ("heads", "history"):
        jobs_by_kind[kind] = jobs.get(kind, request(0), lambda progress: 1, is_private=True)
        finish(jobs_by_kind[kind])
    for _ in range(30):
        now[0] += waiting.KEEP_ALIVE_SECONDS
        waiting._keep_alive(body.requests_by_kind(request(0)))  # what the browser asks for again and again
        jobs.sweep()
    for kind, job in jobs_by_kind.items():
        assert jobs.get(kind, request(0), lambda progress: 2, is_private=True) is job


def test_what_goes_wrong_is_logged_but_not_what_somebody_brought(caplog: pytest.LogCaptureFixture) -> None:
    def fails(error: Exception) -> Callable[[Progress], None]:
        def do(progress: Progress) -> None:
            raise error

        return do

    jobs = Jobs()
    finish(jobs.get("heads", request(0), fails(ValueError("private.tsv is not a corpus"))))
    assert not caplog.records
    finish(jobs.get("heads", request(1), fails(RuntimeError("broken"))))
    finish(jobs.get("history", request(2), fails(ValueError("another network"))))
    assert [record.getMessage() for record in caplog.records] == [
        "the heads could not be measured", "the history could not be measured",
    ]  # fmt: skip


def test_only_as_many_sentences_are_offered_as_there_are() -> None:
    assert counts("english-french") == counts(EXAMPLES) == (200, 1000)
    assert max(counts(UPLOAD)) == max(counts(FILE)) == 5000
    test = open_split("english-french")
    assert isinstance(test, GoldCorpus) and test.size == max(counts("english-french"))


def test_a_corpus_that_cannot_be_opened_says_so(tmp_path: Path, small_model: Path) -> None:
    def page(spec: str) -> None:
        import streamlit as st

        from ui.heads import corpus

        st.write(f"measured: {corpus._private_corpus(spec).spec}")

    app = AppTest.from_function(page, args=(f"/tmp/{'x' * 300}.tsv",)).run()
    assert [info.value for info in app.info] == ["This cannot be opened: File name too long."]
    assert app.markdown[0].value == "measured: None" and not app.exception


def test_the_aligner_does_not_keep_others_from_the_model(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = small_model.parent / "pairs.tsv"
    table.write_text("two dogs are running\tune petite fille\n" * 3)
    held = []

    def truths(corpus: Corpus, most: int) -> tuple[Callable[[], Iterator[KnownPair]], str]:
        held.append(TURNS.has_turn)
        return lambda: known_pairs(corpus), ""

    monkeypatch.setattr("ui.heads.corpus.truths", truths)
    bar: list[float] = []
    known_to = MeasurementRequest("small", models.version("small"), ChosenCorpus(str(table), is_private=True), 200)
    measured = measure(known_to, lambda share, doing: bar.append(share))
    assert held == [False] and measured.atlas.pairs == 3 and max(bar) == 1  # of three, not of two hundred


@pytest.fixture(scope="module")
def measured() -> Atlas:
    checkpoint = small_checkpoint()
    pairs = [KnownPair("two dogs are running", "une petite fille"), KnownPair("a girl is in the snow .", "une fille")]
    return atlas(checkpoint, lambda: pairs)


def test_the_spread_stands_beside_each_mean_in_the_table(measured: Atlas) -> None:
    rows: list[HeadIndex] = [("encoder", 0, 1), ("cross", 2, 0)]
    measures = [MEASURES[name] for name in ("importance", "agreement")]
    columns, config = _columns(measured, [], {head: [] for head in rows}, rows, rows[0], measures)
    assert list(columns) == ["Head", "Named", "Importance", "± Importance", "Agreement", "± Agreement"]
    assert columns["± Importance"] == [
        measured.heads["encoder"]["importance"].deviation[0, 1], measured.heads["cross"]["importance"].deviation[2, 0],
    ]  # fmt: skip
    assert (
        columns["± Agreement"][0] is None and columns["± Agreement"][1] is not None and columns.keys() >= config.keys()
    )


def test_the_alignment_error_rate_is_a_column_and_its_help_has_the_interval(measured: Atlas) -> None:
    """Over both halves `headlight align english-french --data english-french --pairs 1000` gives 0.374 as well."""
    shipped = Atlas.from_dict(json.loads((models.CHECKPOINTS / "english-french" / atlases.FILE).read_text("utf-8")))
    rows: list[HeadIndex] = [("cross", 2, 0), ("encoder", 0, 1)]
    columns, config = _columns(shipped, [], {head: [] for head in rows}, rows, rows[0], present(shipped, "cross"))
    rate, none = columns["AER"]
    assert rate == pytest.approx(0.374, abs=0.0005) and none is None
    text = config["AER"]["help"]
    sentence = r"Lowest: Cross 3\.1, 0\.374, 95\u00a0% interval ([\d.]+) to ([\d.]+)\."
    low, high = map(float, re.findall(sentence, text)[0])
    assert (low, high) == pytest.approx((0.365, 0.383), abs=0.003)
    assert not {"alignment_error", "reading_error"} & {measure.name for measure in present(measured, "cross")}


def test_importance_below_nothing_has_a_colour_of_its_own(measured: Atlas) -> None:
    payload = header(measured, [], "cross", (0, 0), measure="importance", step=None)
    (scale,) = [measure for measure in payload["measures"] if measure["name"] == "importance"]
    largest = abs(measured.heads["cross"]["importance"].mean).max()
    assert scale["signed"] and scale["most"] == -scale["least"] == largest


SHARE, NATS = MEASURES["alignment"], MEASURES["importance"]


def test_a_head_fails_only_where_it_does_worse() -> None:
    assert ends(SHARE, (RankedSentence(3, 0.0), RankedSentence(7, 0.25))) == [
        ("Best sentence", 3, "0\u00a0%"),
        ("Worst sentence", 7, "25\u00a0%"),
    ]
    assert ends(SHARE, (RankedSentence(3, 0.0), RankedSentence(3, 0.0))) == [("A sentence", 3, "0\u00a0%")]
    assert ends(SHARE, (RankedSentence(3, 0.981), RankedSentence(7, 0.979))) == [("A sentence", 3, "98\u00a0%")]
    assert ends(NATS, (RankedSentence(3, 0.0012), RankedSentence(7, -0.0001))) == [
        ("Highest", 3, "0.0012"),
        ("Lowest", 7, "−0.0001"),
    ]

"""What several sessions wait for is made in one call, and each gets its own."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest

from headlight import checkpoints
from headlight.analysis import Check
from headlight.checkpoints import load_translator
from headlight.teaching.mistakes import break_translator
from tests.small import TEXTS, small_checkpoint
from tests.ui.state.threads import join_threads, start_threads, until
from transformer import Trace, Translator
from ui.state import batcher, models
from ui.state.batcher import MAX_BATCH_SIZE, RequestBatcher
from ui.state.queue import TURNS, Turns

FOUR = [*TEXTS, "a bench in the snow ."]
Results = dict[str, str | BaseException]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """Return a queue in which one session computes at a time."""
    queue = Turns(1)
    monkeypatch.setattr(batcher, "TURNS", queue)
    return queue


def ask(queue: Turns, values: RequestBatcher[str, str], *texts: str, alone: bool = False) -> Results:
    """Sessions that come one after the other while somebody else has the turn; what each is told when that is over."""
    results: Results = {}

    def session(text: str) -> None:
        try:
            with values.waiting("model", text, alone), queue.turn():
                results[text] = values.get("model", text, alone)
        except BaseException as error:
            results[text] = error

    threads = list[threading.Thread]()
    with queue.turn():
        for count, text in enumerate(texts, 1):
            threads += start_threads(partial(session, text))
            until(lambda count=count: len(queue._queue) == count)
    join_threads(threads)
    assert queue._free == 1 and values._requests == {}
    return results


def test_those_who_wait_are_served_in_one_call_and_each_gets_its_own(queue: Turns) -> None:
    calls: list[list[str]] = []

    def make(model: str, texts: list[str]) -> list[str]:
        calls.append(texts)
        return [f"{model} {text}" for text in texts]

    texts = [str(number) for number in range(MAX_BATCH_SIZE + 2)]
    assert ask(queue, RequestBatcher(make), *texts) == {text: f"model {text}" for text in texts}
    assert calls == [texts[:MAX_BATCH_SIZE], texts[MAX_BATCH_SIZE:]]


def test_what_is_to_be_made_alone_is(queue: Turns) -> None:
    calls: list[list[str]] = []

    def make(model: str, texts: list[str]) -> list[str]:
        calls.append(texts)
        return texts

    ask(queue, RequestBatcher(make), "a", "b", alone=True)
    assert calls == [["a"], ["b"]]


def test_what_fails_with_another_is_made_without_it(queue: Turns) -> None:
    """The first session computes for all; another session's sentence is the one that fails."""

    def make(model: str, texts: list[str]) -> list[str]:
        if "bad" in texts:
            raise ValueError(f"one of {len(texts)}")
        return texts

    results = ask(queue, RequestBatcher(make), "first", "bad", "last")
    assert results == {"first": "first", "bad": results["bad"], "last": "last"}
    assert str(results["bad"]) == "one of 1"


class MovedOn(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError("no"), MovedOn()])
def test_where_the_first_fails_the_next_one_makes_it(queue: Turns, error: BaseException) -> None:
    """The others take no part in what went wrong for one."""

    def make(model: str, texts: list[str]) -> list[str]:
        if texts[0] == "bad":
            raise error
        return texts

    results = ask(queue, RequestBatcher(make), "bad", "good", "better")
    assert results == {"bad": error, "good": "good", "better": "better"}


def test_who_is_taken_along_waits_without_the_turn_that_the_maker_needs(queue: Turns) -> None:
    """A long batch lets others go first: among them may be those whose sentences it holds."""

    def make(model: str, texts: list[str]) -> list[str]:
        with queue.released():
            pass  # now the others have had the turn
        return texts

    assert ask(queue, RequestBatcher(make), "a", "b", "c") == {"a": "a", "b": "b", "c": "c"}


def test_pages_that_wait_have_their_sentences_translated_in_one_batch(
    shelves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, each page had the model for itself in turn; one batch takes a fraction of the time."""
    batches = batches_of("small", shelves, monkeypatch)
    assert batches == [4]


@pytest.mark.slow
def test_with_a_mistake_that_sees_the_padding_of_a_batch_each_is_translated_alone(
    shelves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a batch, their translations would depend on the other sentences."""
    assert batches_of(models.broken_name("small", "softmax-over-queries"), shelves, monkeypatch) == [1, 1, 1, 1]


def batches_of(name: str, shelves: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sentences are translated at a time where four pages wait. Each is told what it would be told alone."""
    checkpoints.save(small_checkpoint(), shelves / "checkpoints" / "small")
    batches: list[int] = []
    translate = Translator.translate_batch

    def counted(self: Translator, texts: list[str], **options: object) -> list[object]:
        batches.append(len(texts))
        return translate(self, texts, **options)  # type: ignore[arg-type, return-value]

    monkeypatch.setattr(Translator, "translate_batch", counted)
    for slots in ("_slots", "_free"):  # one at a time, however many cores there are
        monkeypatch.setattr(TURNS, slots, 1)
    models.translator(name)
    traces: dict[str, tuple[Trace, list[Check]]] = {}

    def read(text: str) -> None:
        checks = models.checks(name, text, None)
        traces[text] = models.trace(name, text, None), checks

    with TURNS.turn():
        threads = start_threads(*(partial(read, text) for text in FOUR))
        until(lambda: len(models._TRANSLATIONS._requests) == len(FOUR))
    for thread in threads:
        thread.join(30)
    alone = load_translator(shelves / "checkpoints" / "small")
    if name != "small":
        alone = break_translator(alone, models.translator(name).card["broken"])
    for text in FOUR:
        trace, checks = traces[text]
        assert trace.translation == alone.trace(text).translation
        assert abs(trace.cross - alone.trace(text).cross).max() < 1e-6
        assert name != "small" or all(check.holds for check in checks)
    return batches

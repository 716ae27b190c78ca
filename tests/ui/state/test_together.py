"""What several sessions wait for is made in one call, and each gets its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.small import TEXTS, small_checkpoint
from transformer import Translator, checkpoints
from ui.state import models, together
from ui.state.queue import TURNS, Turns
from ui.state.together import LARGEST, MOST, Together

FOUR = [*TEXTS, "a bench in the snow ."]
Asked = dict[str, str | BaseException]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """One at a time."""
    queue = Turns(1)
    monkeypatch.setattr(together, "TURNS", queue)
    return queue


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.002)


def ask(queue: Turns, values: Together[str, str], *texts: str, size: int = 5) -> Asked:
    """Sessions that come one after the other while somebody else has the turn; what each is told when that is over."""
    told: Asked = {}

    def session(text: str) -> None:
        try:
            with values.waiting("model", text, size), queue.turn():
                told[text] = values.get("model", text, size)
        except BaseException as error:
            told[text] = error

    threads = [threading.Thread(target=session, args=(text,), daemon=True) for text in texts]
    with queue.turn():
        for count, thread in enumerate(threads, 1):
            thread.start()
            until(lambda count=count: len(queue._queue) == count)
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive(), "it waits for ever"
    assert queue._free == 1 and values._requests == {}
    return told


def test_those_who_wait_are_served_in_one_call_and_each_gets_its_own(queue: Turns) -> None:
    calls: list[list[str]] = []

    def make(model: str, texts: list[str]) -> list[str]:
        calls.append(texts)
        return [f"{model} {text}" for text in texts]

    texts = [str(number) for number in range(MOST + 2)]
    assert ask(queue, Together(make), *texts) == {text: f"model {text}" for text in texts}
    assert calls == [texts[:MOST], texts[MOST:]]


def test_a_long_one_is_made_alone(queue: Turns) -> None:
    calls: list[list[str]] = []

    def make(model: str, texts: list[str]) -> list[str]:
        calls.append(texts)
        return texts

    ask(queue, Together(make), "a", "b", size=LARGEST + 1)
    assert calls == [["a"], ["b"]]


class MovedOn(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError("no"), MovedOn()])
def test_where_the_first_fails_the_next_one_makes_it(queue: Turns, error: BaseException) -> None:
    """The others take no part in what went wrong for one."""

    def make(model: str, texts: list[str]) -> list[str]:
        if texts[0] == "bad":
            raise error
        return texts

    assert ask(queue, Together(make), "bad", "good", "better") == {"bad": error, "good": "good", "better": "better"}


def test_who_is_taken_along_waits_without_the_turn_that_the_maker_needs(queue: Turns) -> None:
    """A long batch lets others go first: among them may be those whose sentences it holds."""

    def make(model: str, texts: list[str]) -> list[str]:
        with queue.aside():
            pass  # now the others have had the turn
        return texts

    assert ask(queue, Together(make), "a", "b", "c") == {"a": "a", "b": "b", "c": "c"}


def test_pages_that_wait_have_their_sentences_translated_in_one_batch(
    shelves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each had the model for itself, one after the other; a batch takes a fraction of the time."""
    checkpoints.save(small_checkpoint(), shelves / "checkpoints" / "small")
    batches: list[int] = []
    translate = Translator.translate_batch

    def counted(self: Translator, texts: list[str], **options: object) -> list[object]:
        batches.append(len(texts))
        return translate(self, texts, **options)  # type: ignore[arg-type, return-value]

    monkeypatch.setattr(Translator, "translate_batch", counted)
    models.translator("small")
    traces, threads = {}, []
    with TURNS.turn():
        for text in FOUR:
            threads.append(threading.Thread(target=lambda text=text: traces.update({text: read(text)}), daemon=True))
            threads[-1].start()
        until(lambda: len(models._TRANSLATIONS._requests) == 4)
    for thread in threads:
        thread.join(30)
    assert sum(batches) == 4 and len(batches) <= TURNS._places + 1
    alone = Translator.load(shelves / "checkpoints" / "small")
    for text in FOUR:
        trace, checks = traces[text]
        assert all(check.holds for check in checks) and trace.translation == alone.trace(text).translation
        assert abs(trace.cross - alone.trace(text).cross).max() < 1e-6


def read(text: str) -> tuple[object, list[object]]:
    checks = models.checks("small", text, None)
    return models.trace("small", text, None), checks  # type: ignore[return-value]

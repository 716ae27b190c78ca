"""The queue for the model, and the cache of its results."""

import ast
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.small import TEXTS, small_translator
from tests.ui.state.threads import join_threads, start_threads, taking_turn, until
from transformer.decoding import Hypothesis
from transformer.yielding import yield_turn
from ui.state import cache, streamlit_internals
from ui.state import queue as module
from ui.state.cache import Cache, weight
from ui.state.queue import BudgetSpentError, ServerBusyError, Turns, concurrent_requests

ROOT = Path(__file__).resolve().parents[3]


def test_no_more_than_the_places_at_once_and_first_come_first_served() -> None:
    queue, lock, order = Turns(2), threading.Lock(), list[int]()
    now = most = 0
    go = threading.Event()

    def other(number: int) -> None:
        nonlocal now, most
        with queue.turn():
            with lock:
                now, order[len(order) :] = now + 1, [number]
                most = max(most, now)
            time.sleep(0.01)
            with lock:
                now -= 1

    threads = start_threads(*[taking_turn(queue, lambda: go.wait(10))] * 2)
    until(lambda: queue._free == 0)
    for number in range(6):
        threads += start_threads(lambda number=number: other(number))
        until(lambda number=number: len(queue._queue) == number + 1)
    assert now == 0
    go.set()
    join_threads(threads)
    assert most == 2 and sorted(order) == list(range(6))
    assert all(abs(position - number) <= 1 for position, number in enumerate(order))  # two run side by side
    assert queue._free == 2 and len(queue._queue) == 0


def test_long_work_lets_others_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, done = Turns(1), list[str]()
    monkeypatch.setattr(module, "SLICE_SECONDS", 1e-9)
    begun, has_asked = threading.Event(), threading.Event()

    def long() -> None:
        with queue.turn():
            begun.set()
            has_asked.wait(10)
            for step in range(5):
                done.append(f"step {step}")
                yield_turn()

    threads = start_threads(long)
    begun.wait(10)
    threads += start_threads(taking_turn(queue, lambda: done.append("short")))
    until(lambda: len(queue._queue) == 1)
    has_asked.set()
    join_threads(threads)
    assert done == ["step 0", "short", "step 1", "step 2", "step 3", "step 4"]


def test_who_had_a_slice_lets_those_go_first_who_come_later(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, done = Turns(1), list[str]()
    monkeypatch.setattr(module, "SLICE_SECONDS", 1e-9)
    first, go = threading.Event(), threading.Event()

    def long() -> None:
        with queue.turn():
            until(lambda: len(queue._queue) == 1)
            yield_turn()
            done.append("long")

    def short() -> None:
        with queue.turn():
            first.set()
            go.wait(10)

    threads = start_threads(long)
    until(lambda: queue._free == 0)
    threads += start_threads(short)
    first.wait(10)
    until(lambda: len(queue._queue) == 1)
    threads += start_threads(taking_turn(queue, lambda: done.append("new")))
    until(lambda: len(queue._queue) == 2)
    go.set()
    join_threads(threads)
    assert done == ["new", "long"]


def test_who_moved_on_gives_the_place_up(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, gone = Turns(1), set[int]()
    monkeypatch.setattr(module, "TURNS", queue)
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)

    class MovedOn(BaseException):
        pass

    def look() -> None:
        if threading.get_ident() in gone:
            raise MovedOn

    monkeypatch.setattr(module, "end_superseded_run", look)
    events, steps = list[str](), list[int]()

    def waits() -> None:
        try:
            with queue.turn():
                events.append("had its turn")
        except MovedOn:
            events.append("left the queue")

    def works() -> None:
        try:
            with queue.turn():
                for step in range(1_000_000):
                    steps.append(step)
                    time.sleep(0.001)
                    yield_turn()
        except MovedOn:
            events.append("stopped working")

    threads = start_threads(works)
    until(lambda: len(steps) > 2)
    threads += start_threads(waits)
    until(lambda: len(queue._queue) == 1)
    gone.add(threads[1].ident or 0)
    until(lambda: len(queue._queue) == 0)
    gone.add(threads[0].ident or 0)
    join_threads(threads)
    assert events == ["left the queue", "stopped working"] and queue._free == 1


def test_a_page_that_waits_says_for_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    captions, queue = list[str](), Turns(1)
    placeholder = SimpleNamespace(caption=captions.append, empty=lambda: captions.append("gone"))
    monkeypatch.setattr(module, "st", SimpleNamespace(session_state={module.NOTE_KEY: placeholder, "view": None}))
    monkeypatch.setattr(module, "in_session", lambda: True)
    monkeypatch.setattr(module, "NOTE_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
    free = threading.Event()

    threads = start_threads(taking_turn(queue, lambda: free.wait(10)))
    until(lambda: queue._free == 0)
    for number in (1, 2):
        threads += start_threads(taking_turn(queue))
        until(lambda number=number: len(queue._queue) == number)
    until(lambda: len(set(captions)) > 1)
    free.set()
    join_threads(threads)
    assert {text.partition(": ")[2] for text in captions if text != "gone"} == {
        "1 request ahead of yours",
        "2 requests ahead of yours",
    }
    assert captions[-1] == "gone" and captions.count("gone") == 2


def test_a_value_is_made_once_for_all_who_ask() -> None:
    results, computed, go = Cache[object](5, 600), list[object](), threading.Event()

    def make() -> object:
        go.wait(10)
        computed.append(object())
        return computed[-1]

    values = list[object]()
    threads = start_threads(*[lambda: values.append(results.get("key", make))] * 5)
    until(lambda: bool(results._computing))
    go.set()
    join_threads(threads)
    assert len(computed) == 1 and all(one is computed[0] for one in values) and len(values) == 5


def test_where_the_maker_fails_who_waits_makes_it() -> None:
    results, go, failed = Cache[int](5, 600), threading.Event(), list[str]()

    def fails() -> int:
        go.wait(10)
        raise ValueError("no")

    def first() -> None:
        with pytest.raises(ValueError, match="no"):
            results.get("key", fails)
        failed.append("yes")

    values = list[int]()
    threads = start_threads(first)
    until(lambda: bool(results._computing))
    threads += start_threads(lambda: values.append(results.get("key", lambda: 7)))
    go.set()
    join_threads(threads)
    assert values == [7] and failed == ["yes"]


def test_who_waits_for_anothers_value_does_not_hold_the_place_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, results = Turns(1), Cache[int](5, 600)
    monkeypatch.setattr(cache, "TURNS", queue)
    holds, makes = threading.Event(), threading.Event()
    values = list[int]()

    def holder() -> None:
        with queue.turn():
            holds.set()
            makes.wait(10)
            values.append(results.get("key", lambda: 1))
            assert queue.has_turn

    def make() -> int:
        makes.set()
        with queue.turn():
            return 2

    threads = start_threads(holder)
    holds.wait(10)
    threads += start_threads(lambda: values.append(results.get("key", make)))
    join_threads(threads)
    assert values == [2, 2] and queue._free == 1


def test_what_is_kept_is_bounded_and_let_go() -> None:
    class Text:
        """A text that weak references can watch."""

    results = Cache[Text](3, 600)
    for key in range(5):
        results.get(key, Text)
    assert list(results._entries) == [2, 3, 4]
    results.get(2, Text)  # asked for again, it is the latest
    results.get(5, Text)
    assert list(results._entries) == [4, 2, 5]
    watched = weakref.ref(results.get(4, Text))
    cache.sweep()
    assert watched() is not None
    results.seconds = -1.0
    cache.sweep()
    assert len(results._entries) == 0 and watched() is None


def test_large_values_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_BYTES", 100_000)
    monkeypatch.setattr(cache, "_CACHES", [])
    results, other = Cache[object](9, 600), Cache[object](9, 600)
    for key in range(4):
        results.get(key, lambda: SimpleNamespace(array=np.zeros(10_000, np.float32), name="any"))
    assert list(results._entries) == [2, 3]
    results.get(2, object)
    other.get("another cache's", lambda: [np.zeros(10_000, np.float32)])
    assert list(results._entries) == [2] and list(other._entries) == ["another cache's"]
    alone = results.get("too large for all", lambda: np.zeros(100_000, np.float32))
    assert alone.shape == (100_000,)  # its asker has it; nobody after
    assert not results._entries and not other._entries
    growing = SimpleNamespace(nbytes=0)
    results.get("growing", lambda: growing)
    growing.nbytes = 60_000
    results.get("growing", object)
    results.get("more", lambda: np.zeros(12_000, np.float32))
    assert list(results._entries) == ["more"]


def test_what_a_value_holds_is_weighed_wherever_it_lies() -> None:
    array = np.zeros(10_000, np.float32)

    @dataclass
    class Holder:
        inside: object

    for value in (array, [array], {"a": (array,)}, Holder([array]), Holder(Holder(array)), bytes(40_000), "x" * 40_000,
                  torch.zeros(10_000), [array, array]):  # fmt: skip
        assert 40_000 <= weight(value) < 42_000
    assert weight([Hypothesis((1,) * 5, 0.5, 0.5, True) for _ in range(100)]) > 100 * 60
    assert weight(Holder(torch.nn.Linear(1000, 1000))) < 2_000  # a model is shared
    translator = small_translator()
    translator.translate(TEXTS[0])  # now it holds a copy of the weights
    assert weight(Holder(translator)) < 2_000


def test_few_ask_at_once() -> None:
    assert [concurrent_requests(cores) for cores in (1, 2, 4, 64)] == [1, 1, 2, 4]


def test_every_cache_is_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_CACHES", [])
    caches = [Cache[int](5, seconds) for seconds in (-1.0, 600.0)]
    for one in caches:
        one.get("key", lambda: 1)
    cache.sweep()
    assert [len(cache._entries) for cache in caches] == [0, 1]


def test_pages_cache_in_one_way_and_what_somebody_typed_for_no_longer_than_anything_else() -> None:
    """Streamlit lets go of what is too old when something else is cached, on a quiet server never."""
    typed = {"text", "target", "reference", "one", "other", "output", "source"}
    wrong = []
    for path in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef):
                continue
            names = {argument.arg for argument in node.args.args} - {"self", "language"}  # a language is one of four
            for decorator in map(ast.unparse, node.decorator_list):
                if decorator.startswith("cached(") and names & typed and "seconds=" in decorator:
                    wrong.append(f"{path.name}: {node.name} caches {names & typed} for longer than others")
                if decorator.startswith(("st.cache", "lru_cache", "functools")) or (decorator == "cache" and names):
                    wrong.append(f"{path.name}: {node.name} is cached by {decorator}")
    assert wrong == []


def test_a_public_server_ends_what_computes_for_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of all turns of one run of a page counts, and that of the next run anew."""
    queue, run = Turns(1), object()
    monkeypatch.setattr(module, "public", lambda: True)
    monkeypatch.setattr(module, "current_run", lambda: run)
    monkeypatch.setattr(module, "BUDGET_SECONDS", 0.05)

    def compute(seconds: float) -> None:
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            yield_turn()

    with queue.turn():
        compute(0.03)
    message = "“Measuring” was not finished: on this public server each request has"
    with pytest.raises(BudgetSpentError, match=message), queue.turn("Measuring"):
        compute(0.03)
    with pytest.raises(BudgetSpentError, match="“What comes next”"), queue.turn("What comes next"):
        raise AssertionError("it began")
    assert queue._free == 1
    run = object()
    with queue.turn():
        compute(0.03)
    monkeypatch.setattr(module, "public", lambda: False)
    with queue.turn():
        compute(0.1)


def test_waiting_is_not_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Turns(1)
    monkeypatch.setattr(module, "public", lambda: True)
    monkeypatch.setattr(module, "BUDGET_SECONDS", 0.05)
    with queue.turn():
        with queue.released():
            time.sleep(0.1)
        yield_turn()


def test_beyond_its_length_the_queue_refuses_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that have begun to compute are not refused: their work would be lost."""
    queue, go = Turns(1), threading.Event()
    monkeypatch.setattr(module, "MAX_QUEUE_LENGTH", 2)
    monkeypatch.setattr(module, "SLICE_SECONDS", 1e-9)

    def first() -> None:
        with queue.turn():
            go.wait(10)
            yield_turn()  # goes to the end of a full queue

    threads = start_threads(first)
    until(lambda: queue._free == 0)
    threads += start_threads(*[taking_turn(queue)] * 2)
    until(lambda: len(queue._queue) == 2)
    began = time.monotonic()
    with pytest.raises(ServerBusyError, match="The server is busy: 2 requests are waiting already."), queue.turn():
        raise AssertionError("it began")
    assert time.monotonic() - began < 0.1
    go.set()
    join_threads(threads)
    assert queue._free == 1 and len(queue._queue) == 0


def test_only_so_many_are_suspended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suspended session holds memory, so beyond the limit the next one runs to its end instead."""
    queue, order, go = Turns(1), list[str](), threading.Event()
    monkeypatch.setattr(module, "SLICE_SECONDS", 1e-9)
    monkeypatch.setattr(module, "MAX_SUSPENDED", 1)
    monkeypatch.setattr(module, "LONG_SECONDS", 0.0)

    def long(name: str) -> None:
        with queue.turn():
            go.wait(10)
            time.sleep(0.001)
            order.append(f"{name} begins")
            yield_turn()
            order.append(f"{name} ends")

    threads = list[threading.Thread]()
    for count, name in enumerate("abc"):
        threads += start_threads(lambda name=name: long(name))
        until(lambda count=count: len(queue._queue) == count and queue._free == 0)
    go.set()
    join_threads(threads)
    assert order == ["a begins", "b begins", "b ends", "c begins", "c ends", "a ends"]


def test_a_page_is_charged_for_all_of_its_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that computed in an earlier turn goes after one that is new, though it came first."""
    queue, order, run = Turns(1), list[str](), object()
    computed, go = threading.Event(), threading.Event()
    monkeypatch.setattr(module, "SLICE_SECONDS", 1e-9)
    monkeypatch.setattr(module, "current_run", lambda: run)

    def page() -> None:
        with queue.turn():
            sum(range(1000))
        computed.set()
        until(lambda: queue._free == 0)
        with queue.turn():
            order.append("page")

    threads = start_threads(page)
    computed.wait(10)
    threads += start_threads(taking_turn(queue, lambda: go.wait(10)))
    until(lambda: len(queue._queue) == 1)
    threads += start_threads(taking_turn(queue, lambda: order.append("new")))
    until(lambda: len(queue._queue) == 2)
    go.set()
    join_threads(threads)
    assert order == ["new", "page"]


def test_a_file_is_not_computed_for_a_closed_page(monkeypatch: pytest.MonkeyPatch) -> None:
    open_sessions = {"one"}
    runtime = SimpleNamespace(is_active_session=lambda session: session in open_sessions)
    monkeypatch.setattr(streamlit_internals, "get_instance", lambda: runtime)
    monkeypatch.setattr(module, "session_id", lambda: "one")
    steps = list[int]()

    def make() -> str:
        for step in range(4):
            yield_turn()
            steps.append(step)
            if len(steps) == 6:
                open_sessions.clear()
        return "file"

    file = module.in_turn(make, "A file")
    assert file() == "file"
    with pytest.raises(streamlit_internals.SessionClosed):
        file()
    assert len(steps) == 6

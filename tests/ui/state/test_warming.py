"""The warm-up at the start of the server, and the requests that wait for it."""

from __future__ import annotations

import threading

import pytest

from ui.state import warming


def test_who_comes_meanwhile_waits_for_the_imports_and_not_for_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "_imported", None)
    warming.wait()  # nothing was begun
    go, never, order = threading.Event(), threading.Event(), list[str]()

    def imports() -> None:
        go.wait(10)
        order.append("imports")

    def visit() -> None:
        warming.wait()
        order.append("visitor")

    warming.begin(imports, never.wait)
    visitor = threading.Thread(target=visit, daemon=True)
    visitor.start()
    go.set()
    visitor.join(10)
    never.set()
    assert order == ["imports", "visitor"]


@pytest.mark.parametrize("failing", [0, 1])
def test_where_it_fails_the_log_says_so_and_nobody_waits(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failing: int
) -> None:
    monkeypatch.setattr(warming, "_imported", None)

    def fails() -> None:
        raise ValueError("no such model")

    works = [lambda: None, lambda: None]
    works[failing] = fails
    warming.begin(*works)
    warming.wait()
    thread = next((thread for thread in threading.enumerate() if thread.name == "warming"), None)
    if thread is not None:
        thread.join(10)
    assert "could not be made ready" in caplog.text

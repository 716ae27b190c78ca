"""What is done as the server starts, and who waits for it."""

from __future__ import annotations

import threading

import pytest

from ui.state import warming


def test_who_comes_meanwhile_waits_until_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "_thread", None)
    warming.wait()  # nothing was begun
    go, order = threading.Event(), list[str]()

    def work() -> None:
        go.wait(10)
        order.append("work")

    def visit() -> None:
        warming.wait()
        order.append("visitor")

    warming.begin(work)
    visitor = threading.Thread(target=visit, daemon=True)
    visitor.start()
    go.set()
    visitor.join(10)
    assert order == ["work", "visitor"]


def test_where_it_fails_the_log_says_so_and_nobody_waits(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(warming, "_thread", None)

    def work() -> None:
        raise ValueError("no such model")

    warming.begin(work)
    warming.wait()
    assert "could not be made ready" in caplog.text

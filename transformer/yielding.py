"""Cooperative multitasking: every long computation calls `yield_turn` between its batches.

A server schedules its requests there, and cancels a request that nobody waits for by raising an exception. Outside a
server `yield_turn` does nothing. The callback is a context variable, so that no function has to pass it on:

    with on_yield(callback):
    leave_one_out(model, source, target)  # calls `callback` between its passes
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CALLBACKS: ContextVar[tuple[Callable[[], object], ...]] = ContextVar("yield_turn", default=())


def yield_turn() -> None:
    """Let other computations run. Raises whatever ends this one, such as the exception for a page that was closed.

    Call it where little memory is held: other computations may need theirs before it returns.
    """
    for callback in _CALLBACKS.get():
        callback()


@contextmanager
def on_yield(callback: Callable[[], object]) -> Iterator[None]:
    """Have `yield_turn` call `callback` in this context, after the callbacks that are registered already."""
    token = _CALLBACKS.set((*_CALLBACKS.get(), callback))
    try:
        yield
    finally:
        _CALLBACKS.reset(token)

"""Cooperative multitasking: every long computation calls `yield_turn` between its batches.

A server decides there who computes next, and ends what nobody waits for any more by raising an exception. Elsewhere
nothing happens. What to do is found in a context variable, so that no function has to pass it on:

    with on_yield(callback):
        leave_one_out(model, source, target)  # calls `callback` between its passes
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CALLBACKS: ContextVar[tuple[Callable[[], object], ...]] = ContextVar("yield_turn", default=())


def yield_turn() -> None:
    """Let others compute. Raises whatever ends the computation, such as a page that was closed meanwhile.

    Call it where little memory is held: others may take theirs before it returns.
    """
    for callback in _CALLBACKS.get():
        callback()


@contextmanager
def on_yield(callback: Callable[[], object]) -> Iterator[None]:
    """Have `yield_turn` call `callback` in this context, after the callbacks that it calls already."""
    token = _CALLBACKS.set((*_CALLBACKS.get(), callback))
    try:
        yield
    finally:
        _CALLBACKS.reset(token)

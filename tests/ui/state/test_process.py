"""Memory of closed sessions is released, also on an idle server."""

import asyncio
import gc
import threading
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from ui.state import process
from ui.state.streamlit_internals import forget_sessions


class Session:
    """An object that weak references can watch."""

    id = "gone"


def runtime(seconds: int, loop: asyncio.AbstractEventLoop) -> Any:
    """Return a partial runtime with Streamlit's real session manager and storage."""
    none: Any = None
    storage = MemorySessionStorage(ttl_seconds=seconds)
    manager = WebsocketSessionManager(storage, none, none, none)
    return SimpleNamespace(_session_mgr=manager, _get_async_objs=lambda: SimpleNamespace(eventloop=loop))


@pytest.mark.parametrize(("seconds", "is_alive"), [(0, False), (60, True)])
def test_a_session_that_does_not_come_back_is_forgotten_in_time(seconds: int, is_alive: bool) -> None:
    async def leave() -> weakref.ref[Session]:
        server, session = runtime(seconds, asyncio.get_running_loop()), Session()
        watched = weakref.ref(session)
        server._session_mgr._session_storage.save(SimpleNamespace(session=session))
        del session
        assert watched() is not None
        forget_sessions(server)
        await asyncio.sleep(0.01)  # it happens in the loop, where sessions come and go
        gc.collect()
        assert (watched() is not None) == is_alive
        return watched

    assert asyncio.run(leave())() is None


def test_the_sweep_goes_on_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    swept, twice = list[str](), threading.Event()

    def values() -> None:
        swept.append("values")
        if swept.count("values") > 1:
            twice.set()

    def no_runtime() -> None:
        raise RuntimeError("there is none")

    monkeypatch.setattr(process, "SWEEP_SECONDS", 0.01)
    monkeypatch.setattr(process.cache, "sweep", values)
    monkeypatch.setattr(process, "JOBS", SimpleNamespace(sweep=lambda: swept.append("heads")))
    monkeypatch.setattr(process, "get_instance", no_runtime)
    monkeypatch.setattr(process, "gc", SimpleNamespace(collect=lambda: swept.append("garbage")))
    monkeypatch.setattr(process, "release_freed_memory", lambda: swept.append("memory"))
    process.sweep_forever()
    assert twice.wait(10)
    assert swept[:4] == ["values", "heads", "garbage", "memory"]

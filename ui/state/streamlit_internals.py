"""The parts of Streamlit that have no public name, each used in one function.

A test names the version of Streamlit.
"""

from __future__ import annotations

from streamlit.runtime import Runtime, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx


def in_session() -> bool:
    """Return whether a session's script runs in this thread."""
    return get_script_run_ctx(suppress_warning=True) is not None


def current_run() -> object | None:
    """Return an object that only this run of a script has, or None where no script runs in this thread."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else context.cursors


def session_id() -> str | None:
    """Return the id of the session whose script runs in this thread."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else context.session_id


class SessionClosed(Exception):
    """Raised where a value was computed for a session that is gone."""


def end_if_closed(session: str | None) -> None:
    """Raise SessionClosed where no browser is connected to the session any more; do nothing for no session."""
    if session is not None and not get_instance().is_active_session(session):
        raise SessionClosed


def end_superseded_run() -> None:
    """End this run of the script if its session began a newer one or is closed; outside of a session, do nothing."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        context.yield_check()


def forget_sessions(runtime: Runtime) -> None:
    """Release the sessions that did not come back in time, with all that was typed in them.

    Streamlit does so when another session leaves, and on a quiet server never.
    """
    sessions = runtime._session_mgr._session_storage._cache  # type: ignore[attr-defined]
    runtime._get_async_objs().eventloop.call_soon_threadsafe(sessions.expire)

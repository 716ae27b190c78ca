"""What is used of Streamlit without being public is there in the version that is pinned."""

import inspect
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from ui.state import streamlit_internals

VERSION = "1.67.0"  # whoever pins another reads whether ui/state/streamlit_internals.py still holds for it
ROOT = Path(__file__).resolve().parents[3]


def test_the_version_is_the_one_that_was_read() -> None:
    assert streamlit.__version__ == VERSION
    assert f"streamlit=={VERSION}" in (ROOT / "requirements.txt").read_text()


def test_streamlits_runtime_still_has_what_is_asked_of_it() -> None:
    assert callable(Runtime._get_async_objs)
    assert "self._session_mgr" in inspect.getsource(Runtime.__init__)


def test_a_run_that_was_superseded_ends_where_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def superseded() -> None:
        raise InterruptedError

    streamlit_internals.end_superseded_run()  # outside of a session, nothing can be superseded
    context = SimpleNamespace(yield_check=superseded)
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda suppress_warning: context)
    with pytest.raises(InterruptedError):
        streamlit_internals.end_superseded_run()


def test_each_run_of_a_script_has_an_object_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert streamlit_internals.current_run() is None and streamlit_internals.session_id() is None
    source = inspect.getsource(ScriptRunContext.reset)
    assert "self.cursors = {}" in source, "a run begins with another object"
    context = SimpleNamespace(cursors={}, session_id="one")
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda suppress_warning: context)
    assert streamlit_internals.current_run() is context.cursors and streamlit_internals.session_id() == "one"


def test_streamlits_runtime_tells_which_sessions_are_connected() -> None:
    assert "session_id" in inspect.signature(Runtime.is_active_session).parameters
    streamlit_internals.end_if_closed(None)

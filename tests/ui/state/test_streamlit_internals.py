"""What is used of Streamlit without being public is there in the version that is pinned."""

import inspect
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit
from streamlit.runtime import Runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import ScriptRunner

from ui.state import streamlit_internals

VERSION = "1.67.0"  # whoever pins another reads whether ui/state/streamlit_internals.py still holds for it
ROOT = Path(__file__).resolve().parents[3]


def test_the_version_is_the_one_that_was_read() -> None:
    assert streamlit.__version__ == VERSION
    assert f"streamlit=={VERSION}" in (ROOT / "requirements.txt").read_text()


def test_streamlits_runtime_still_has_what_is_asked_of_it() -> None:
    assert callable(Runtime._get_async_objs)
    assert "self._session_mgr" in inspect.getsource(Runtime.__init__)


def test_the_flag_for_the_pages_folder_is_the_one_that_scripts_are_run_by(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "PagesManager.uses_pages_directory" in inspect.getsource(ScriptRunner)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    streamlit_internals.ignore_pages_folder()
    PagesManager(str(ROOT / "navigation.py"))
    assert PagesManager.uses_pages_directory is False


def test_a_run_that_was_superseded_ends_where_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def superseded() -> None:
        raise InterruptedError

    streamlit_internals.end_superseded_run()  # outside of a session, nothing can be superseded
    context = SimpleNamespace(yield_check=superseded)
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda suppress_warning: context)
    with pytest.raises(InterruptedError):
        streamlit_internals.end_superseded_run()

"""What an open page keeps beside the cache."""

from __future__ import annotations

import gc
from pathlib import Path

from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from tests.small import TEXTS, small_checkpoint
from transformer import Trace
from ui.state import cache

PAGE = Path(__file__).resolve().parents[3] / "pages" / "anatomy.py"


def traces() -> list[Trace]:
    """Whatever anything holds."""
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, Trace)]


def test_only_the_cache_keeps_the_trace_of_an_open_page(shelves: Path) -> None:
    checkpoints.save(small_checkpoint(), shelves / "checkpoints" / "small")
    # In a module of its own, which does not outlive the run, as st.navigation runs a page.
    page = AppTest.from_string(f"import runpy; runpy.run_path({str(PAGE)!r})", default_timeout=60)
    page.query_params["text"] = TEXTS[0]
    forget()
    others = set(map(id, elsewhere := traces()))  # of other tests
    page.run()
    assert not page.exception and not page.error
    assert sum(id(trace) not in others for trace in traces()) == 1
    forget()
    assert all(id(trace) in others for trace in traces()), elsewhere


def forget() -> None:
    for values in cache._ALL:
        values.clear()

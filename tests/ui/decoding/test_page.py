"""An open Decoding page keeps attention weights in the cache only."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from tests.small import small_checkpoint
from tests.ui.pages import PAGES, captions, open_page
from ui.decoding import downloads, search
from ui.decoding.search import Search, TracedHypothesis

PAGE = PAGES / "decoding.py"
TEXT = "two dogs are running in the snow ."


def decodes() -> list[Search | TracedHypothesis]:
    """Return all searches and hypotheses that are alive."""
    gc.collect()
    return [instance for instance in gc.get_objects() if isinstance(instance, Search | TracedHypothesis)]


@pytest.mark.slow
def test_only_the_cache_keeps_the_weights_of_an_open_page(shelves: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, Callable[..., str]] = {}  # by label: Streamlit keeps what makes them
    monkeypatch.setattr(downloads, "download", lambda label, make, *_: files.update({label: make}))
    monkeypatch.setattr(downloads, "figure_buttons", lambda make, *_: files.update(tree=make))
    checkpoints.save(small_checkpoint(seed=7), shelves / "checkpoints" / "small")
    # In a module of its own, which does not outlive the run, as st.navigation runs a page.
    page = AppTest.from_string(f"import runpy; runpy.run_path({str(PAGE)!r})", default_timeout=60)
    page.query_params["text"] = TEXT
    page.query_params["branches"] = "5.6"
    page.session_state["export"] = True
    forget()
    other_decodes = set(map(id, elsewhere := decodes()))  # of other tests

    def weights() -> int:
        """The bytes of attention weights that this page brought."""
        return sum(
            instance.decoder.nbytes + instance.cross.nbytes
            for instance in decodes()
            if id(instance) not in other_decodes
        )

    page.run()
    assert not page.exception and not page.error and list(files) == ["tree", "JSON, every step"]
    assert weights() > 0
    forget()
    assert weights() == 0, elsewhere
    assert files["tree"]("light").startswith("<svg") and json.loads(files["JSON, every step"]())["branches"]
    page.run()  # what is gone, the page asks for again
    assert not page.exception and not page.error and weights() > 0


def forget() -> None:
    search.search.clear()
    search.line.clear()


def test_bleu_is_explained_on_this_output_and_an_example(shelves: Path) -> None:
    checkpoints.save(small_checkpoint(seed=7), shelves / "checkpoints" / "small")
    page = open_page("decoding", text=TEXT, reference="un *chien* court")
    assert "1 to 4 in a row: 5/6, 3/5, 1/4, 0/3; factor for length 1.00; BLEU 38.0." in captions(page)
    assert any("un \\*chien\\* court" in element.value for element in page.markdown)

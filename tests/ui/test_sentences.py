"""A sentence that cannot be read, and an address that makes no sense, on the pages of one sentence.

attention/test_page.py has that page.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.pages import page_at, save_small
from tests.unpacked import unpacked


@pytest.fixture(autouse=True)
def model(shelves: Path) -> None:
    save_small(shelves)


def opened(page: str, **query: str) -> AppTest:
    app = page_at(page, **query).run()
    assert not app.exception
    return app


@pytest.mark.parametrize("page", ["decoding", "anatomy"])
@pytest.mark.parametrize(("text", "message"), [("", "the text is empty"), ("one " * 64, "at most 32")])
def test_a_sentence_that_cannot_be_read_is_answered(page: str, text: str, message: str) -> None:
    app = opened(page, text=text)
    assert message in " ".join(element.value for element in (*app.info, *app.warning, *app.error, *app.markdown))


def test_an_address_that_makes_no_sense_is_no_error() -> None:
    odd = {"size": "99", "step": "99", "path": "7,7,7", "layer": "9", "head": "9", "temperature": "x", "under": "no"}
    app = opened("decoding", **odd, branches="99,1~1~9.9,x")
    assert not app.error and not app.warning
    sent = {one.proto.component_name: one.proto.bytes for one in app.get("bidi_component")}
    assert "headlight_branches" not in sent
    header, _ = unpacked(sent["headlight_player"])
    assert 0 < header["start"]["node"] < len(header["nodes"]["parent"])

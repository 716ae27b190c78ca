"""A sentence that cannot be read, and an address that makes no sense, on the pages of one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from tests.small import small_checkpoint
from tests.unpacked import unpacked

PAGES = Path(__file__).resolve().parents[2] / "pages"


@pytest.fixture(autouse=True)
def model(shelves: Path) -> None:
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = ["two dogs"]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")


def opened(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=300)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


@pytest.mark.parametrize("page", ["attention", "decoding", "anatomy"])
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

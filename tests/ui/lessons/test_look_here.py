"""Look here: on every page of a session that teaches a class, and only there."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from server.classroom.classes import PNG_SIGNATURE, Classes, store
from tests.ui.pages import page_at
from ui.widgets import look_here


@pytest.fixture
def taught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Classes, str, str]]:
    monkeypatch.setenv("HEADLIGHT_CLASSES", str(tmp_path))
    monkeypatch.delenv("HEADLIGHT_REDIS", raising=False)
    store.cache_clear()
    classes = Classes(store())
    yield (classes, *classes.start("A lesson"))
    store.cache_clear()


def opened(code: str = "", secret: str = "") -> tuple[AppTest, bool]:
    app = page_at("positions")
    app.session_state["parameters"], app.session_state["class-secrets"] = {"code": code}, {code: secret}
    app.run()
    assert not app.exception
    return app, "headlight_look_here" in [component.proto.component_name for component in app.get("bidi_component")]


def test_only_who_teaches_is_offered_it(taught: tuple[Classes, str, str]) -> None:
    classes, code, secret = taught
    assert not opened()[1]
    assert not opened(code, "another")[1]
    app, offered = opened(code, secret)
    assert offered and not [button for button in app.button if button.label == "Release the screens"]
    classes.look(code, secret, "Positions", PNG_SIGNATURE)
    app, _ = opened(code, secret)
    next(button for button in app.button if button.label == "Release the screens").click().run()
    assert not classes.snapshot(code).state.looking


def test_what_a_browser_sends_is_a_png_or_nothing(taught: tuple[Classes, str, str]) -> None:
    classes, code, secret = taught

    def sent(picture: object) -> None:
        with patch.object(st, "session_state", {look_here._KEY: {"picture": picture}}):
            look_here._look(code, secret)

    text = base64.b64encode(PNG_SIGNATURE + b"x").decode()
    for wrong in (
        None, {"png": text}, {"title": 1, "png": text}, {"title": "A", "png": "%"}, {"title": "A", "png": ""},
    ):  # fmt: skip
        sent(wrong)
        assert not classes.snapshot(code).state.looking
    sent({"title": "Positions", "png": text})
    assert classes.snapshot(code).picture == "Positions"

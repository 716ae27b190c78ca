"""Everything that Attention, Decoding, Lessons and the class say is marked for translation.

The pages are run in a language whose every message is its English in ⟦brackets⟧, so English outside them is unmarked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from streamlit.testing.v1 import AppTest

from headlight import checkpoints, language
from headlight.language import catalogue
from server.classroom.classes import store
from tests.small import TEXTS, small_checkpoint
from tests.ui.pages import page_at

SPOKEN = ("label", "body", "help", "placeholder", "options", "title", "text")  # fields of Streamlit's elements
# Of what is left outside the brackets: the model and its sentences, and what is no language.
NAMES = set(re.findall(r"[A-Za-z]{3,}", " ".join(TEXTS))) | {"Small", "small", "EOS", "UNK"}
# Words that a lesson in French and its English sentences do not share with an unmarked sentence.
ENGLISH = {"answered", "joined", "step", "layer", "head", "right", "what", "where", "your", "class", "asked", "each"}


@pytest.fixture(autouse=True)
def bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    """French, in which every message is its English in brackets."""
    made = catalogue("fr")
    for message in made:
        if message.id:
            forms = [message.id] if isinstance(message.id, str) else message.id
            texts = tuple(f"⟦{form}⟧" for form in forms)
            message.string = texts[0] if isinstance(message.id, str) else texts
    monkeypatch.setattr(language, "_catalogue", {"fr": made}.__getitem__)
    monkeypatch.setattr(language, "_translations", cache(language._translations.__wrapped__))


def outside(text: str) -> str:
    """Return a text without what is in brackets, and without markup."""
    text, before = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL), ""
    while text != before:
        before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
    markup = r"<[^>]*>|:material/\w+:|:\w+\[|\]\([^)]*\)|\$\$.*?\$\$|`[^`]*`"
    return re.sub(markup, " ", text, flags=re.DOTALL)


def spoken(app: AppTest) -> Iterator[str]:
    """Yield every text of the page that Streamlit's own elements show."""
    for element in app._tree:
        if hasattr(element, "proto") and hasattr(element.proto, "DESCRIPTOR"):
            yield from _texts(MessageToDict(element.proto, preserving_proto_field_name=True), SPOKEN)


def sent(app: AppTest) -> Iterator[str]:
    """Yield every text that the page's scripts get with their numbers."""
    for component in app.get("bidi_component"):
        data, text = component.proto.bytes, component.proto.json
        yield from _texts(json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")] if data else text or "{}"))


def _texts(value: Any, names: tuple[str, ...] = (), name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(each, names, key)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, names, name)
    elif isinstance(value, str) and (not names or name in names):
        yield value


def opened(page: str, **query: str) -> AppTest:
    app = page_at(page, **query)
    app.session_state["language-said"] = "fr"  # as app.py says it
    app.run()
    assert not app.exception
    return app


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("attention", {}),
        ("attention", {"changes": "cross.1.1,encoder.1.1x0.5", "second": TEXTS[1], "hide": "1", "show": "difference"}),
        ("attention", {"broken": "no-scaling"}),
        ("attention", {"text": ""}),
        ("attention", {"text": "one " * 64}),
        ("decoding", {}),
        ("decoding", {"strategy": "sampling", "temperature": "0.7"}),
        ("decoding", {"reference": TEXTS[1], "branches": "1~1", "future": "1"}),
    ],
)
def test_a_page_says_nothing_that_is_not_marked(page: str, query: dict[str, str], shelves: Path) -> None:
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = [TEXTS[0]]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")
    app = opened(page, **{"text": TEXTS[0]} | query)
    said = list(spoken(app))
    assert any("⟦" in text for text in said)
    assert [text for text in said if set(re.findall(r"[A-Za-z]{3,}", outside(text))) - NAMES] == []


def test_a_class_says_nothing_that_is_not_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CLASSES", str(tmp_path))
    monkeypatch.delenv("HEADLIGHT_REDIS", raising=False)
    store.cache_clear()
    app = opened("lessons", lesson="it", step="point")
    next(button for button in app.button if "Start a class" in button.label).click().run()
    assert not app.exception and app.session_state["class-secrets"]
    for text in [*spoken(app), *sent(app)]:
        sentence = outside(text).lower()
        assert " " not in sentence or not ENGLISH & set(re.findall(r"[a-z]{3,}", sentence)), text
    store.cache_clear()

"""Before the reveal the split goes to the browser that holds the teacher's secret and asks for it, and to no other.

Each browser speaks to a real server; everything that it was sent is searched.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from streamlit.proto.Element_pb2 import Element

from headlight.teaching.lessons.reading import read
from server.classroom.classes import Classes, ClassQuestion
from server.classroom.sqlite import Sqlite
from tests.forked import serve_forked
from tools.class_client import Pupil
from tools.streamlit_client import open_session

ROOT = Path(__file__).resolve().parents[2]
LESSON = read(ROOT / "lessons" / "en" / "it.md")
STEP = LESSON.steps[0]
SPLIT = (b'"share"', b'"cue"', b'"bars"', b'"counts"', b'"guesses"', b'"right"', b'"explanation"')
POSED = {"ask": "choice", "choices": ["one", "two"]}


@pytest.mark.slow
def test_no_browser_but_the_teacher_s_gets_the_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CLASSES", str(tmp_path))
    shutil.copytree(ROOT / "checkpoints" / "english-french", tmp_path / "checkpoints" / "english-french")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "checkpoints"))  # of others it prepares an example
    monkeypatch.delenv("HEADLIGHT_REDIS", raising=False)
    classes = Classes(Sqlite(tmp_path / "classes.sqlite3"))
    code, secret = classes.start(LESSON.title)
    classes.open(
        code, secret, ClassQuestion(STEP.name, STEP.title, "What next?", POSED, number=1, of=len(LESSON.steps))
    )
    for guess in (0, 0, 1):
        classes.answer(code, classes.join(code), STEP.name, 1, guess)
    address = {"lesson": LESSON.name, "step": STEP.name, "code": code}

    def sent(element: Element) -> bytes:
        """Return what an element sends to its browser, without the scripts, which are the same for every browser."""
        component = element.bidi_component
        return component.bytes + component.json.encode() if component.id else element.SerializeToString()

    async def received(url: str, link: str = "", **more: str) -> bytes:
        async with open_session(url, "lessons", **address, **more) as session:
            await session.run()
            if link:  # as the page's script brings it, which takes it from behind the #
                keeper = session.component("secret_keeper").new_element.bidi_component.id
                event = json.dumps([{"event": "found", "value": {"link": link, "kept": None}}])
                await session.run({"id": f"$$STREAMLIT_INTERNAL_KEY_{keeper}__events", "json_trigger_value": event})
            return b"".join(sent(delta.new_element) for delta in session.elements.values())

    async def acts(url: str) -> None:
        mine = await received(url, secret, private="1")
        assert b'"share"' in mine and b'"count":2' in mine.replace(b" ", b"")
        pupil = Pupil(url)
        await pupil.join(code)
        following = asyncio.create_task(pupil.follow())
        await pupil.until(phase="ask")
        following.cancel()
        responses = {
            "a stranger with the class's code": await received(url, private="1"),
            "a stranger with another secret": await received(url, link="x" * len(secret), private="1"),
            "the projector": await received(url, secret),
            "a pupil": json.dumps([(screen.content, screen.personal) for screen in pupil.screens]).encode(),
        }
        assert b"What next?" in responses["the projector"] and b"What next?" in responses["a pupil"]
        for who, text in responses.items():
            for word in SPLIT:
                assert word not in text, f"{who} was sent {word!r}"
        classes.reveal(code, secret, STEP.name, {"answer": 1, "explanation": "Told."})
        assert b"Told." in await received(url, secret)

    with serve_forked(ROOT / "app.py", tmp_path / "log.txt") as url:
        asyncio.run(asyncio.wait_for(acts(url), 120))

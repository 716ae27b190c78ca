"""What pupils' browsers reach, over sockets: joining, following, answering, and nothing else."""

import asyncio
import contextlib
import functools
import json
import re
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from server.access import Access
from server.attempts import PER_ADDRESS, PER_BROWSER, Attempts
from server.classroom import classes as rules
from server.classroom import routes, watch
from server.classroom.classes import Classes, ClassQuestion
from server.classroom.routes import Classroom
from server.classroom.store import Store
from server.headers import Headers
from server.hosts import Hosts
from server.login import Login
from tests.server.asgi import ask, behind
from tools.class_client import Pupil
from tools.serving import free_port

POSED = {"ask": "word", "labels": ["<b>the</b>", "cat"], "query": "it"}
TRUTH = {"answer": 1, "row": [20.0, 80.0], "explanation": "SECRET-EXPLANATION"}
TEXT, SENTENCE = "Head 2.1 is switched off.", "The cat sat."
FIRST = ClassQuestion("first", "Which word?", "Where does it look?", POSED, TEXT, number=1, of=2, sentence=SENTENCE)


@contextlib.contextmanager
def served(port: int) -> Iterator[str]:
    """The service as server/__init__.py stacks it, with a password for everything else."""
    app = Headers(Hosts(Classroom(Login(behind, "a password"), Attempts()), Access("127.0.0.1", open_to_all=True)))
    config = uvicorn.Config(app, "127.0.0.1", port, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def classes(opened: Callable[[], Store], monkeypatch: pytest.MonkeyPatch) -> Classes:
    """The teacher's own process beside the one that serves: both open the same store."""
    monkeypatch.setattr(routes, "store", opened)
    return Classes(opened())


@pytest.fixture
def url(classes: Classes) -> Iterator[str]:
    with served(free_port()) as address:
        yield address


def in_event_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run the coroutine `test` in an event loop of its own, for a minute at most."""
    return functools.wraps(test)(lambda **fixtures: asyncio.run(asyncio.wait_for(test(**fixtures), 60)))


@contextlib.asynccontextmanager
async def joined(url: str, code: str, count: int):
    pupils = [Pupil(url) for _ in range(count)]
    for pupil in pupils:
        assert (await pupil.join(code)).status == 200
    following = [asyncio.create_task(pupil.follow()) for pupil in pupils]
    try:
        yield pupils
    finally:
        for task in following:
            task.cancel()


@in_event_loop
async def test_a_question_is_answered_and_told(classes: Classes, url: str) -> None:
    code, secret = classes.start("A lesson")
    async with joined(url, code, 3) as pupils:
        for pupil in pupils:
            assert (await pupil.until(phase="wait")).content["title"] == "A lesson"
        classes.open(code, secret, FIRST)
        for guess, pupil in enumerate(pupils[:2]):
            await pupil.until(phase="ask", step="first", round=1, text=TEXT, sentence=SENTENCE)
            assert (await pupil.answer("first", 1, guess))[0] == 200
        classes.lock(code, secret)
        screens = [await pupil.until(phase="locked") for pupil in pupils]
        assert [screen.personal["guess"] for screen in screens] == [0, 1, None]
        assert (await pupils[2].answer("first", 1, 0))[0] == 409
        before = json.dumps([[screen.content, screen.personal] for pupil in pupils for screen in pupil.screens])
        assert "SECRET" not in before and "truth" not in before and "tally" not in before
        classes.reveal(code, secret, "first", TRUTH)
        told = [await pupil.until(phase="told") for pupil in pupils]
        assert [screen.content["tally"]["counts"] for screen in told] == [[1, 1]] * 3
        assert [screen.personal.get("judged", {}).get("right") for screen in told] == [False, True, None]
        classes.ask_again(code, secret, "first")
        for pupil in pupils:
            assert (await pupil.until(round=2, phase="ask")).personal["guess"] is None
        classes.end(code, secret)
        while not all(pupil.ended for pupil in pupils):
            await asyncio.sleep(0.05)


@in_event_loop
async def test_a_lost_connection_comes_back_to_what_was_said(classes: Classes, url: str) -> None:
    code, secret = classes.start("A lesson")
    classes.open(code, secret, FIRST)
    async with joined(url, code, 2) as (pupil, _):
        await pupil.until(phase="ask")
        await pupil.answer("first", 1, 1)
        count = len(pupil.screens)
        pupil.drop()
        while len(pupil.screens) == count:
            await asyncio.sleep(0.05)
        assert pupil.reconnected == 1 and pupil.screens[-1].personal["guess"] == 1


@in_event_loop
async def test_codes_are_not_found_by_trying(classes: Classes, url: str) -> None:
    code, _ = classes.start("A lesson")
    wrong = f"{(int(code) + 1) % 10**8:08d}"
    pupil = Pupil(url)
    assert [(await pupil.join(wrong)).status for _ in range(PER_ADDRESS.burst)] == [404] * PER_ADDRESS.burst
    refused = await pupil.join(code)  # the right one is not told apart either
    assert refused.status == 429 and int(refused.headers["retry-after"]) > 0


@pytest.mark.parametrize("path", ["/join/stream", "/join/picture", "/join/answer"])
@in_event_loop
async def test_no_address_tells_which_codes_there_are(classes: Classes, url: str, path: str) -> None:
    code, _ = classes.start("A lesson")
    wrong = f"{(int(code) + 1) % 10**8:08d}"
    method, body = ("POST", {"step": "first", "round": 1, "guess": 0}) if "answer" in path else ("GET", None)
    answers = []
    for tried in [code, wrong] * (PER_ADDRESS.burst // 2):
        reply = await Pupil(url, cookie=f"{routes.PUPIL_COOKIE}={tried}.made-up").ask(method, path, body)
        # All of the cookie but the second at which it ends.
        cookie = re.sub("expires=[^;]*", "", reply.headers.get("set-cookie", ""))
        answers.append((reply.status, reply.body, cookie))
    assert len(set(answers)) == 1 and answers[0][0] == 410
    for cookie in (f"{routes.PUPIL_COOKIE}={code}.made-up", f"{routes.PUPIL_COOKIE}={wrong}.made-up"):
        assert (await Pupil(url, cookie=cookie).ask(method, path, body)).status == 429
    assert (await Pupil(url).join(code)).status == 429  # they were counted as wrong codes are
    assert (await Pupil(url).ask(method, path, body)).status == 410  # whoever names no class guesses none


@in_event_loop
async def test_one_pupil_s_wrong_codes_keep_no_other_out(classes: Classes, url: str) -> None:
    code, _ = classes.start("A lesson")
    wrong = f"{(int(code) + 1) % 10**8:08d}"
    browser = (await Pupil(url).ask("GET", "/join")).headers["set-cookie"].partition(";")[0]
    statuses = [(await Pupil(url, cookie=browser).join(wrong)).status for _ in range(30)]
    assert statuses == [404] * PER_BROWSER.burst + [429] * (30 - PER_BROWSER.burst)
    assert (await Pupil(url).join(code)).status == 200


@in_event_loop
async def test_who_is_in_a_class_gets_in_although_the_address_is_locked(classes: Classes, url: str) -> None:
    (one, _), (other_code, _) = classes.start("One"), classes.start("Two")
    wrong = next(code for code in ("00000001", "00000002", "00000003") if code not in (one, other_code))
    pupil = Pupil(url)
    await pupil.join(one)
    for _ in range(PER_ADDRESS.burst):
        await Pupil(url).join(wrong)
    assert (await Pupil(url).join(other_code)).status == 429
    assert (await pupil.join(one)).status == 200 and (await pupil.join(other_code)).status == 200
    statuses = [(await pupil.join(wrong)).status for _ in range(PER_ADDRESS.burst + 1)]
    assert statuses == [404] * PER_ADDRESS.burst + [429]


@in_event_loop
async def test_a_browser_that_joins_again_is_the_same_pupil(classes: Classes, url: str) -> None:
    code, secret = classes.start("A lesson")
    pupil = Pupil(url)
    for spelt in (code, f"{code[:4]} {code[4:]}"):
        assert (await pupil.join(spelt)).json == {"code": f"{code[:4]} {code[4:]}"}
    assert classes.counts(code, secret)[1] == 1
    cookie = (await pupil.join(code)).headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/join" in cookie


@in_event_loop
async def test_a_pupil_reaches_nothing_but_their_class(classes: Classes, url: str) -> None:
    (code, _), (other_code, secret) = classes.start("One"), classes.start("Two")
    classes.open(other_code, secret, FIRST)
    pupil = Pupil(url)
    await pupil.join(code)
    for path in ("/", "/training", "/_stcore/host-config", "/app/static/fonts/marks.woff2", "/joined"):
        assert (await pupil.ask("GET", path)).status == 401
    for path in ("/join/..%2f..%2fapp.py", "/join/page.html", "/join/classes.sqlite3", "/join/x/y", "/join/OFL.txt"):
        assert (await pupil.ask("GET", path)).status == 404, path
    assert (await pupil.answer("first", 1, 0))[0] == 409
    pupil.cookie = pupil.cookie.replace(code, other_code)  # their own token, another class
    for path in ("/join/stream", "/join/picture"):
        assert (await pupil.ask("GET", path)).status == 410
    assert (await pupil.ask("GET", "/join/me")).json == {"code": None}
    assert (await pupil.answer("first", 1, 0))[0] == 410
    assert classes.snapshot(other_code).answers == {}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[" * 60_000,
        b"null",
        b'{"step": "first", "round": true, "guess": 1}',
        b'{"step": ["first"], "round": 1, "guess": 1}',
        b'{"step": "first", "round": 1, "guess": NaN}',
        b'{"step": "first", "round": 1, "guess": ' + b"9" * 400 + b"}",
        b'{"step": "first", "round": 1, "guess": "' + b"x" * routes.MAX_ANSWER_BYTES + b'"}',
    ],
)
@in_event_loop
async def test_what_is_no_answer_is_refused_in_a_sentence(classes: Classes, url: str, body: bytes) -> None:
    code, secret = classes.start("A lesson")
    classes.open(code, secret, FIRST)
    pupil = Pupil(url)
    await pupil.join(code)
    reply = await pupil.ask("POST", "/join/answer", body)
    assert reply.status == 400 and reply.json["error"].endswith(".")
    assert classes.snapshot(code).answers == {}


@in_event_loop
async def test_other_sites_can_not_answer(classes: Classes, url: str) -> None:
    code, secret = classes.start("A lesson")
    classes.open(code, secret, FIRST)
    pupil = Pupil(url)
    await pupil.join(code)
    body = {"step": "first", "round": 1, "guess": 1}
    forged: list[dict[str, str]] = [
        {"origin": "https://evil.example"},
        {"host": "evil.example"},
        {"sec_fetch_site": "cross-site"},
        {"content_type": "text/plain"},
    ]
    for headers in forged:
        assert (await pupil.ask("POST", "/join/answer", body, **headers)).status in (400, 403), headers
    assert classes.snapshot(code).answers == {}


@in_event_loop
async def test_one_pupil_does_not_take_all_connections(
    classes: Classes, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MAX_STREAMS", 1)
    code, _ = classes.start("A lesson")
    async with joined(url, code, 1) as (pupil,):
        await pupil.until(phase="wait")
        assert (await pupil.ask("GET", "/join/stream")).status == 429


@in_event_loop
async def test_the_page_brings_all_that_it_needs(classes: Classes, url: str) -> None:
    pupil = Pupil(url)
    page = (await pupil.ask("GET", "/join?code=12345678")).body.decode()
    assert "12345678" not in page and "<script>" not in page and "style=" not in page
    for name in ("pupil.js", "pupil.css", "marks.woff2"):
        file = await pupil.ask("GET", f"/join/{name}")
        assert file.status == 200 and b"import " not in file.body[:20]
        assert file.headers["x-content-type-options"] == "nosniff"


@in_event_loop
async def test_a_picture_goes_to_the_pupils_of_the_class_alone(classes: Classes, url: str) -> None:
    code, secret = classes.start("A lesson")
    async with joined(url, code, 1) as (pupil,):
        assert (await pupil.ask("GET", "/join/picture")).status == 404
        classes.look(code, secret, "Layer 2", rules.PNG_SIGNATURE + b"x")
        screen = await pupil.until(look={"title": "Layer 2", "number": 1})
        assert screen.content["phase"] == "wait"
        picture = await pupil.ask("GET", "/join/picture")
        assert picture.body == rules.PNG_SIGNATURE + b"x" and picture.headers["content-type"] == "image/png"
        assert (await Pupil(url).ask("GET", "/join/picture")).status == 410


@in_event_loop
async def test_the_store_may_be_away_for_a_while(classes: Classes, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.05)
    code, secret = classes.start("A lesson")
    async with joined(url, code, 1) as (pupil,):
        await pupil.until(phase="wait")
        with monkeypatch.context() as away:

            def fails(*_: object) -> None:
                raise OSError

            for name in ("versions", "pupils"):
                away.setattr(type(classes.store), name, fails)
            assert (await pupil.ask("GET", "/join/me")).status == 503
            await asyncio.sleep(0.2)
        classes.open(code, secret, FIRST)
        await pupil.until(phase="ask")
        assert pupil.reconnected == 0


def test_the_store_is_where_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CLASSES", str(tmp_path / "here"))
    monkeypatch.delenv("HEADLIGHT_REDIS", raising=False)
    rules.store.cache_clear()
    try:
        rules.store()
        assert (tmp_path / "here" / "classes.sqlite3").exists()
        rules.store.cache_clear()
        monkeypatch.setenv("HEADLIGHT_REDIS", "http://nowhere")
        with pytest.raises(ValueError, match="HEADLIGHT_REDIS can't be read"):
            rules.store()
    finally:
        rules.store.cache_clear()


@pytest.mark.parametrize(("method", "path", "wanted"), [("GET", "/join/x/y", 404), ("DELETE", "/join", 405)])
def test_what_has_no_route_is_no_error_of_the_server(method: str, path: str, wanted: int) -> None:
    """Behind the whole app, whose scope makes a router raise what it has no route for."""
    app = Starlette(middleware=[Middleware(Classroom, attempts=Attempts())])
    assert ask(app, path, method=method).status == wanted

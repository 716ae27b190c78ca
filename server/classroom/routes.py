"""The routes for pupils: the page at /join, and the requests of its script. They reach nothing else of the app.

They are answered before the password is asked for. A pupil's browser holds a cookie that names its class and its pupil;
that alone decides what the browser is sent and what it may answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from string import Template
from typing import Any, Protocol

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from headlight.language import LANGUAGES, ORIGINAL_LANGUAGE, gettext, preferred, translatable, using
from headlight.teaching.lessons.judging import judge
from headlight.viewer.scripts import style, viewer_script
from server.classroom import codes
from server.classroom.classes import MAX_CLASS_SECONDS, Classes, ClassRefusal, ClassSnapshot, store, used
from server.classroom.store import UNAVAILABLE, CapacityError, ClassNotFound
from server.classroom.tally import tally
from server.classroom.watch import Watch

PUPIL_COOKIE = "headlight_pupil"
BROWSER_COOKIE = "headlight_browser"  # the cookie by which wrong codes of one browser are counted
NOT_IN_CLASS = translatable("This browser is in no class: join one with its code.")
MAX_ANSWER_BYTES = 64 * 1024  # a row over a thousand words
MAX_STREAMS = 4  # of one pupil at once: several tabs, and connections whose end was not noticed yet
HEARTBEAT_SECONDS = 10.0  # of silence, after which a heartbeat tells the page that it is still connected
MIN_ANSWER_SECONDS = 0.1  # between two answers of one pupil
SWEEP_SECONDS = 600.0  # between two sweeps of the store

_FOLDER = Path(__file__).parent
_SCRIPTS = "prose", "question_head", "question_row", "question_order", "question", "pupil"
_FONTS = _FOLDER.parents[1] / "ui" / "static" / "fonts"


class CodeAttempts(Protocol):
    """The limits on wrong codes of a browser and of an address, see server/attempts.py."""

    def wait(self, address: str, browser: str = "") -> int: ...
    def wrong(self, address: str, browser: str = "") -> None: ...


class NotInClass(Exception):
    """Raised where the browser is no pupil of a class; `wait` is the seconds until it may try again, 0 for now."""

    def __init__(self, wait: int):
        super().__init__(NOT_IN_CLASS)
        self.wait = wait


class Classroom:
    """Answers requests below /join; passes all others on to the app behind it."""

    def __init__(self, app: ASGIApp, attempts: CodeAttempts, base: str = ""):
        self.app, self.path = app, f"{base}/join"
        self.attempts = attempts
        self.threads = ThreadPoolExecutor(4, "class")
        self.watch: Watch | None = None
        self.streams: Counter[str] = Counter()
        self.last: dict[str, float] = {}  # when each pupil answered
        self.sweeper: asyncio.Task[None] | None = None
        self.files = {language: _files(language) for language in LANGUAGES}
        self.router = Router(
            [
                Route(self.path, self._page),
                Route(self.path, self._with_error_responses(self._join), methods=["POST"]),
                Route(f"{self.path}/me", self._with_error_responses(self._me)),
                Route(f"{self.path}/stream", self._with_error_responses(self._stream)),
                Route(f"{self.path}/answer", self._with_error_responses(self._answer), methods=["POST"]),
                Route(f"{self.path}/picture", self._with_error_responses(self._picture)),
                Route(f"{self.path}/{{name}}", self._file),
            ],
            redirect_slashes=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and self.sweeper is None:  # from the first request, whatever it asks for
            self.sweeper = asyncio.create_task(self._sweep())
        if scope["type"] != "http" or not (path == self.path or path.startswith(f"{self.path}/")):
            return await self.app(scope, receive, send)
        # A router that finds "app" in its scope raises where it has no route, so that this app answers; but that app is
        # behind the guards. Without "app" the router answers 404 itself.
        scope = {name: value for name, value in scope.items() if name != "app"}
        await self.router({**scope, "root_path": ""}, receive, send)

    def _watch(self) -> Watch:
        """Return the watch on the store, which is opened at the first visit."""
        if self.watch is None:
            self.watch = Watch(Classes(store()), self.threads)
        return self.watch

    def _with_error_responses(
        self, act: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Wrap a route so that its errors become responses: a status and a sentence."""

        async def answer(request: Request) -> Response:
            with using(_language(request)):
                try:
                    return await act(request)
                except NotInClass as error:
                    if error.wait:
                        return _too_many(error.wait)
                    refusal = _refusal(410, gettext(NOT_IN_CLASS))
                    # So that a browser asks only once after its class has ended.
                    refusal.delete_cookie(PUPIL_COOKIE, self.path)
                    return refusal
                except ClassNotFound:
                    return _refusal(410, gettext(NOT_IN_CLASS))
                except (ClassRefusal, CapacityError) as error:
                    return _refusal(409, str(error))
                except ValueError as error:
                    return _refusal(400, str(error))
                except ClientDisconnect:
                    return Response(status_code=400)
                except UNAVAILABLE as error:
                    text = gettext("The class can’t be reached just now ({error}).", error=type(error).__name__)
                    return _refusal(503, text)

        return answer

    async def _sweep(self) -> None:
        while True:
            with contextlib.suppress(*UNAVAILABLE, ValueError):  # the next sweep tries again
                if used():
                    await self._watch().run_in_thread(self._watch().classes.store.sweep)
            now = time.monotonic()
            self.last = {pupil: at for pupil, at in self.last.items() if now - at < SWEEP_SECONDS}
            await asyncio.sleep(SWEEP_SECONDS)

    # ---- routes

    async def _page(self, request: Request) -> Response:
        language = _language(request)
        page = HTMLResponse(_html(self.path, language, self.files[language]), headers={"Cache-Control": "no-store"})
        if not _browser(request):
            self._give_cookie(request, page, BROWSER_COOKIE, codes.new_secret())
        return page

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        lasting = {"Cache-Control": "public, max-age=31536000, immutable"}  # its address names its content
        files = self.files[_language(request)]
        if name in files:
            kind = "text/javascript" if name.endswith(".js") else "text/css"
            return Response(files[name], media_type=kind, headers=lasting)
        if name.endswith(".woff2") and name in {path.name for path in _FONTS.glob("*.woff2")}:
            return Response((_FONTS / name).read_bytes(), media_type="font/woff2", headers=lasting)
        return _refusal(404, gettext("There is nothing here."))

    async def _join(self, request: Request) -> Response:
        code, watch = codes.parse(_field(await _json(request), "code")), self._watch()
        identity = await self._identify(request)
        if identity is None or identity[0] != code:
            # Whoever is in a class gets in although others at this address tried too many codes.
            guesser = (f"pupil {identity[1]}", "") if identity else _guesser(request)
            if wait := self.attempts.wait(*guesser):
                return _too_many(wait)
            try:
                if code is None:
                    raise ClassNotFound
                identity = code, await watch.run_in_thread(watch.classes.join, code)
            except ClassNotFound:
                self.attempts.wrong(*guesser)
                return _refusal(404, gettext("No class has this code. Look at the eight digits again."))
        answer = JSONResponse({"code": codes.spelt(identity[0])})
        self._give_cookie(request, answer, PUPIL_COOKIE, ".".join(identity))
        return answer

    def _give_cookie(self, request: Request, answer: Response, name: str, value: str) -> None:
        answer.set_cookie(
            name,
            value,
            max_age=int(MAX_CLASS_SECONDS),
            path=self.path,
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )

    async def _me(self, request: Request) -> Response:
        """Answer which class the browser is in; null rather than an error status, which a browser would report."""
        identity = await self._identify(request)
        return JSONResponse({"code": codes.spelt(identity[0]) if identity else None})

    async def _answer(self, request: Request) -> Response:
        code, pupil = await self._pupil(request)
        fields = await _json(request)
        step, round_ = _field(fields, "step"), _field(fields, "round")
        if not isinstance(step, str) or type(round_) is not int:
            raise ValueError("An answer names its step and its round.")
        now = time.monotonic()
        if now - self.last.get(pupil, 0.0) < MIN_ANSWER_SECONDS:
            return _refusal(429, gettext("One answer at a time."))
        self.last[pupil] = now
        watch = self._watch()
        answer = _field(fields, "guess"), _field(fields, "sure")
        await watch.run_in_thread(watch.classes.answer, code, pupil, step, round_, *answer)
        return JSONResponse({})

    async def _picture(self, request: Request) -> Response:
        code, pupil = await self._pupil(request)
        picture = await self._watch().run_in_thread(self._watch().classes.picture, code, pupil)
        if picture is None:
            return _refusal(404, gettext("No picture is shown just now."))
        return Response(picture, media_type="image/png", headers={"Cache-Control": "no-store"})

    async def _stream(self, request: Request) -> Response:
        code, pupil = await self._pupil(request)
        if self.streams[pupil] >= MAX_STREAMS:
            return _refusal(429, gettext("This class is open in too many tabs: close some."))
        return StreamingResponse(
            self._events(code, pupil, _language(request)),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},  # a proxy must not buffer events
        )

    async def _events(self, code: str, pupil: str, language: str) -> AsyncIterator[str]:
        watch = self._watch()
        self.streams[pupil] += 1
        try:
            async with watch.listening(code):
                # Answers given before this stream began. The page knows about later ones, or a change brings them.
                fresh, latest = await watch.run_in_thread(watch.classes.snapshot, code), watch.latest.get(code)
                is_latest = latest is not None and latest.version == fresh.version
                with using(language):
                    event = self._event(latest if latest and is_latest else fresh, code, pupil, fresh)
                yield event
                sent_version = fresh.version
                while True:
                    if not await watch.next(code, sent_version, HEARTBEAT_SECONDS):
                        yield "event: heartbeat\ndata:\n\n"
                        continue
                    latest = watch.latest.get(code)
                    if latest is None:
                        break
                    with using(language):
                        event = self._event(latest, code, pupil, latest)
                    yield event
                    sent_version = latest.version
        except UNAVAILABLE:
            return  # the page reconnects
        except ClassNotFound:
            pass
        finally:
            self.streams[pupil] -= 1
            self.streams += Counter()  # drops zero counts
        yield f"data: {json.dumps({'phase': 'ended'})}\n\n"

    def _event(self, snapshot: ClassSnapshot, code: str, pupil: str, answered: ClassSnapshot) -> str:
        """Return the event for a pupil of a class, with what the pupil has `answered`.

        The part that all pupils get is encoded once, since it may hold the pictures of many heads.
        """
        encoded = self._watch().encoded
        if code not in encoded or encoded[code][0] is not snapshot:
            encoded[code] = snapshot, json.dumps(_screen(snapshot, code))
        guess = answered.answers.get(pupil)
        personal: dict[str, Any] = {"guess": guess, "sure": answered.sure.get(pupil)}
        if snapshot.question and snapshot.truth and guess is not None:
            personal["judged"] = judge(snapshot.question.posed, snapshot.truth, guess)
        return f'data: {{"shown": {encoded[code][1]}, "mine": {json.dumps(personal)}}}\n\n'

    # ---- identification by the cookie

    async def _identify(self, request: Request) -> tuple[str, str] | None:
        """Return the class and the pupil of a browser, or None for anybody else."""
        identity = _cookie(request)
        with contextlib.suppress(ClassNotFound):
            if identity and identity[1] in await self._watch().run_in_thread(self._pupils, identity[0]):
                return identity
        return None

    async def _pupil(self, request: Request) -> tuple[str, str]:
        """Return the class and the pupil of a browser. Raises NotInClass for anybody else.

        A cookie with a pupil whom the class does not have counts as a wrong code, and the response does not reveal
        whether there is such a class.
        """
        identity = await self._identify(request)
        if identity is None:
            if _cookie(request):
                guesser = _guesser(request)
                if wait := self.attempts.wait(*guesser):
                    raise NotInClass(wait)
                self.attempts.wrong(*guesser)
            raise NotInClass(0)
        return identity

    def _pupils(self, code: str) -> set[str]:
        return self._watch().classes.store.pupils(code)


def _screen(snapshot: ClassSnapshot, code: str) -> Mapping[str, Any]:
    state, question = snapshot.state, snapshot.question
    screen: dict[str, Any] = {"code": codes.spelt(code), "title": state.title, "phase": "wait"}
    if question:
        screen |= asdict(question) | {"round": state.round, "phase": "locked" if state.locked else "ask"}
        if snapshot.truth:
            counts = tally(question.posed, list(snapshot.answers.values()))
            screen |= {"phase": "told", "truth": snapshot.truth, "tally": counts}
    if state.looking:
        screen |= {"look": {"title": snapshot.picture, "number": state.look}}
    return screen


def _cookie(request: Request) -> tuple[str, str] | None:
    code, _, pupil = request.cookies.get(PUPIL_COOKIE, "").partition(".")
    parsed = codes.parse(code)
    return (parsed, pupil) if parsed and pupil else None


def _browser(request: Request) -> str:
    browser = request.cookies.get(BROWSER_COOKIE, "")
    return browser if len(browser) <= 40 else ""


def _guesser(request: Request) -> tuple[str, str]:
    """Return the address and the browser under which a wrong code is counted."""
    return request.client.host if request.client else "", _browser(request)


def _too_many(wait: int) -> Response:
    refusal = _refusal(429, gettext("Too many wrong codes. Try again in {seconds} s.", seconds=wait))
    refusal.headers["Retry-After"] = str(wait)
    return refusal


def _refusal(status: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status, headers={"Cache-Control": "no-store"})


def _field(fields: Any, name: str) -> Any:
    return fields.get(name) if isinstance(fields, dict) else None


async def _json(request: Request) -> Any:
    """Return the body of a request.

    Raises ValueError where it is too long, or not JSON: browsers send JSON from another site's page only after a
    preflight request, which this server refuses.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise ValueError("An answer is sent as application/json.")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise ValueError("Pages of other sites can’t answer here.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise ValueError(f"An answer has at most {MAX_ANSWER_BYTES // 1024} kB.")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("That is no JSON.") from None


def _language(request: Request) -> str:
    """Return the language to answer in: that in the page's address, which the teacher's link has, or the browser's."""
    in_address = request.query_params.get("lang")
    return in_address if in_address in LANGUAGES else preferred(request.headers.get("accept-language"))


def _html(path: str, language: str, files: Mapping[str, str]) -> str:
    """Return the page; the address of its script and its style names their content."""
    version = hashlib.sha256("".join(files.values()).encode()).hexdigest()[:16]
    with using(language):
        texts = {
            "title": gettext("Headlight: class"),
            "noscript": gettext("This page needs JavaScript to show the class’s questions."),
            "label": gettext("Language"),
        }
    options = "".join(
        f'<option value="{code}" lang="{code}"{" selected" * (code == language)}>{name}</option>'
        for code, name in LANGUAGES.items()
    )
    template = Template((_FOLDER / "page.html").read_text(encoding="utf-8"))
    return template.substitute(texts, at=path, language=language, options=options, version=f"{version}&lang={language}")


def _files(language: str = ORIGINAL_LANGUAGE) -> dict[str, str]:
    """Return the page's script and style, which draw a question as a lesson does."""
    page_style = (_FOLDER / "pupil.css").read_text(encoding="utf-8")
    with using(language):
        scripts = viewer_script(*_SCRIPTS)
    return {
        "pupil.js": f'(() => {{\n"use strict";\n{scripts}\npupilPage(document.body);\n}})();\n',
        "pupil.css": "\n".join([style("viewer"), style("question"), page_style]),
    }

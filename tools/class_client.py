"""A pupil of a class as a program: it joins, follows, answers and reconnects as the page at /join does.

`pupil.js` is the page; this client sends the same requests over its own sockets, for tests and the benchmark.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

CONNECTION_ERRORS = (OSError, EOFError, asyncio.IncompleteReadError, TimeoutError)
REQUEST_SECONDS = 10.0  # the longest time of a request


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes = b""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Screen:
    """The screen of a pupil, and when it arrived, in seconds of `time.perf_counter`."""

    at: float
    content: dict[str, Any]
    personal: dict[str, Any]


@dataclass
class Pupil:
    url: str
    cookie: str = ""
    screens: list[Screen] = field(default_factory=list)
    ended: bool = False
    reconnected: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    writer: asyncio.StreamWriter | None = None  # of the stream

    async def join(self, code: str, **headers: str) -> Reply:
        reply = await self.ask("POST", "/join", {"code": code}, **headers)
        if reply.status == 200:
            self.cookie = reply.headers["set-cookie"].partition(";")[0]
        return reply

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """Send one request on a connection of its own. Raises one of CONNECTION_ERRORS without an answer."""
        async with asyncio.timeout(REQUEST_SECONDS), self._request(method, path, body, headers) as (reader, reply):
            reply.body = await reader.read()
        return reply

    async def answer(self, step: str, round_: int, guess: Any) -> tuple[int, float]:
        """Retry until the class has taken or refused the answer; return the status, and the seconds that it took."""
        begun, wait = time.perf_counter(), 0.3
        while True:
            with contextlib.suppress(*CONNECTION_ERRORS):
                reply = await self.ask("POST", "/join/answer", {"step": step, "round": round_, "guess": guess})
                if reply.status < 500 and reply.status != 429:
                    return reply.status, time.perf_counter() - begun
            await asyncio.sleep(wait * random.uniform(0.7, 1.3))
            wait = min(2 * wait, 4.0)

    async def follow(self) -> None:
        """Keep `screens` up to date until the class ends, reconnecting after every loss of the connection."""
        while not self.ended:
            with contextlib.suppress(*CONNECTION_ERRORS):
                await self._stream()
            if not self.ended:
                await asyncio.sleep(random.uniform(0.5, 1.5))
                self.reconnected += 1

    async def until(self, seconds: float = 20.0, **expected: Any) -> Screen:
        """Return the latest screen once its content has the `expected` values. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not self.screens or any(
                self.screens[-1].content.get(name) != value for name, value in expected.items()
            ):
                self.news.clear()
                await self.news.wait()
        return self.screens[-1]

    def drop(self) -> None:
        """Drop the connection without closing it, as a phone does."""
        if self.writer is not None:
            self.writer.transport.abort()

    async def _stream(self) -> None:
        async with self._request("GET", "/join/stream", None, {}) as (reader, reply):
            if reply.status != 200:
                self.ended = reply.status == 410
                return
            while line := await reader.readline():
                if not line.startswith(b"data: "):  # chunk sizes of HTTP, heartbeats and blank lines
                    continue
                news = json.loads(line[6:])
                if news.get("phase") == "ended":
                    self.ended = True
                else:
                    self.screens.append(Screen(time.perf_counter(), news["shown"], news["mine"]))
                self.news.set()
                if self.ended:
                    return

    @contextlib.asynccontextmanager
    async def _request(
        self, method: str, path: str, body: Any, headers: dict[str, str]
    ) -> AsyncIterator[tuple[asyncio.StreamReader, Reply]]:
        parts = urlsplit(self.url)
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request_headers = {"host": parts.netloc, "connection": "close", "content-length": str(len(content))}
        request_headers |= {"content-type": "application/json"} if body is not None else {}
        request_headers |= {"cookie": self.cookie} if self.cookie else {}
        request_headers |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in request_headers.items())]
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=2**24)
        if path == "/join/stream":
            self.writer = writer
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + content)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            fields = (line.partition(": ") for line in head[1:] if line)
            yield reader, Reply(int(head[0].split()[1]), {name.lower(): value for name, _, value in fields})
        finally:
            writer.transport.abort()

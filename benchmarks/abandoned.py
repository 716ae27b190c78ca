"""Sockets that are opened and abandoned: during the handshake, after it, after the first message, in mid-answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

import psutil

from benchmarks.pupils import MODEL
from tools.streamlit_client import open_session

HALF_OPEN_SECONDS = 2.0  # until a half-sent handshake is abandoned
MAX_READ_MESSAGES = 8  # of an answer, before the socket is abandoned


@dataclass(frozen=True)
class Weight:
    """Resources that a server holds."""

    megabytes: float
    files: int  # descriptors, sockets among them

    @classmethod
    def of(cls, process: psutil.Process) -> Self:
        return cls(process.memory_info().rss / 2**20, process.num_fds())


async def abandon(url: str, count: int, texts: Iterator[str], seconds: float) -> list[str]:
    """Open `count` sockets, evenly over `seconds`, and abandon a quarter at each of four points; return the errors."""
    wrong: list[str] = []
    shared = next(texts)

    async def leave(number: int) -> None:
        stage = number % 4
        try:
            if stage == 0:
                await _half_open(url)
                return
            async with open_session(url, model=MODEL, text=next(texts) if stage == 3 else shared) as page:
                if stage > 1:
                    await page.begin()
                for _ in range(MAX_READ_MESSAGES if stage == 3 else 0):
                    await page.socket.recv()
                page.vanish()
        except (OSError, TimeoutError) as error:
            wrong.append(f"socket {number}: {type(error).__name__}: {error}")

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(leave(number))
            await asyncio.sleep(seconds / count)
    return wrong


async def _half_open(url: str) -> None:
    """Send half of a request and stop."""
    address = urlsplit(url)
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(b"GET /_stcore/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: webso")
    await writer.drain()
    await asyncio.sleep(HALF_OPEN_SECONDS)
    writer.transport.abort()


async def settled(process: psutil.Process, before: Weight, growth: float, seconds: float) -> Weight:
    """Return what the server holds once its memory is at most `growth` times that before, or after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        weight = Weight.of(process)
        if (weight.files <= before.files and weight.megabytes <= growth * before.megabytes) or time.monotonic() > end:
            return weight
        await asyncio.sleep(0.5)

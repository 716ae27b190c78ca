"""Sockets that are opened and abandoned: in the handshake, after it, after the first word, in mid-answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

import psutil

from benchmarks.pupils import MODEL
from tools.streamlit_client import opened

HALF_OPEN = 2.0  # seconds that a handshake stays half done
FIRST = 8  # messages of an answer that are still read


@dataclass(frozen=True)
class Weight:
    """What a server holds."""

    megabytes: float
    files: int  # descriptors, sockets among them

    @classmethod
    def of(cls, process: psutil.Process) -> Self:
        return cls(process.memory_info().rss / 2**20, process.num_fds())


async def abandon(url: str, count: int, texts: Iterator[str], seconds: float) -> list[str]:
    """Opens so many, evenly over so many seconds, and leaves each fourth at the same point; what went wrong."""
    wrong: list[str] = []
    shared = next(texts)

    async def leave(number: int) -> None:
        stage = number % 4
        try:
            if stage == 0:
                await _half_open(url)
                return
            async with opened(url, model=MODEL, text=next(texts) if stage == 3 else shared) as page:
                if stage > 1:
                    await page.begin()
                for _ in range(FIRST if stage == 3 else 0):
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
    """Half of a request, and then nothing."""
    place = urlsplit(url)
    _, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(b"GET /_stcore/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: webso")
    await writer.drain()
    await asyncio.sleep(HALF_OPEN)
    writer.transport.abort()


async def settled(process: psutil.Process, before: Weight, growth: float, seconds: float) -> Weight:
    """What it holds once that is what it held before, `growth` times the memory at most; or after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        now = Weight.of(process)
        if (now.files <= before.files and now.megabytes <= growth * before.megabytes) or time.monotonic() > end:
            return now
        await asyncio.sleep(0.5)

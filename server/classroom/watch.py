"""Polling of the store for all classes of this process's pupils.

It asks a few times a second, however many pupils there are.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from server.classroom.classes import Classes, ClassSnapshot
from server.classroom.store import Gone

POLL_SECONDS = 0.2  # between two looks
T = TypeVar("T")


class Watch:
    """Polls the store; `now` has the latest snapshot of each watched class, None for one that has ended."""

    def __init__(self, classes: Classes, threads: ThreadPoolExecutor):
        self.classes, self.threads = classes, threads
        self.now: dict[str, ClassSnapshot | None] = {}
        self.written: dict[str, tuple[ClassSnapshot, str]] = {}  # the same as it is sent
        self.listeners: Counter[str] = Counter()
        self.changed = asyncio.Event()  # replaced whenever something has changed
        self.task: asyncio.Task[None] | None = None

    async def apart(self, act: Callable[..., T], *args: Any) -> T:
        """Run in a thread what waits for the store."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, act, *args)

    @asynccontextmanager
    async def listening(self, code: str) -> AsyncIterator[None]:
        """Keep `now[code]` up to date, from before the block begins. Raises Gone."""
        self.listeners[code] += 1
        try:
            if self.now.get(code) is None:
                self.now[code] = await self.apart(self.classes.snapshot, code)
            if self.task is None or self.task.done():
                self.task = asyncio.create_task(self._look())
            yield
        finally:
            self.listeners[code] -= 1
            if not self.listeners[code]:
                del self.listeners[code]
                self.now.pop(code, None)
                self.written.pop(code, None)

    async def next(self, code: str, known_version: int, seconds: float) -> bool:
        """Wait for a version after `seen`; return False where there is none in that time."""
        try:
            async with asyncio.timeout(seconds):
                while (now := self.now.get(code)) is not None and now.version <= known_version:
                    await self.changed.wait()
        except TimeoutError:
            return False
        return True

    async def _look(self) -> None:
        while self.listeners:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self._compare(await self.apart(self.classes.store.versions, list(self.listeners)))
            except Exception:  # the store may be away for a while; whoever listens goes on listening
                logging.getLogger(__name__).warning("The store of classes does not answer.", exc_info=True)
                await asyncio.sleep(1)

    async def _compare(self, versions: dict[str, int]) -> None:
        news = False
        for code in list(self.listeners):
            before = self.now.get(code)
            if before is None or before.version == versions.get(code):
                continue
            try:
                after = await self.apart(self.classes.snapshot, code)
            except Gone:
                after = None
            if code in self.listeners:
                self.now[code], news = after, True
        if news:
            changed, self.changed = self.changed, asyncio.Event()
            changed.set()

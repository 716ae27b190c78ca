"""Polls the store a few times a second for all classes of this process's pupils, however many pupils there are."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from typing import Any, TypeVar

from server.classroom.classes import Classes, ClassSnapshot
from server.classroom.store import ClassNotFound

POLL_SECONDS = 0.2  # between two polls
T = TypeVar("T")


class Watch:
    """Polls the store; `latest` has the current snapshot of each watched class, None for one that has ended."""

    def __init__(self, classes: Classes, threads: ThreadPoolExecutor):
        self.classes, self.threads = classes, threads
        self.latest: dict[str, ClassSnapshot | None] = {}
        self.encoded: dict[str, tuple[ClassSnapshot, str]] = {}  # each snapshot with the JSON that is sent for it
        self.listeners: Counter[str] = Counter()
        self.changed = asyncio.Event()  # replaced whenever something has changed
        self.task: asyncio.Task[None] | None = None

    async def run_in_thread(self, act: Callable[..., T], *args: Any) -> T:
        """Call `act`, which waits for the store, in a thread with this request's context, its language above all."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, copy_context().run, act, *args)

    @asynccontextmanager
    async def listening(self, code: str) -> AsyncIterator[None]:
        """Keep `latest[code]` up to date, from before the block begins. Raises ClassNotFound."""
        self.listeners[code] += 1
        try:
            if self.latest.get(code) is None:
                self.latest[code] = await self.run_in_thread(self.classes.snapshot, code)
            if self.task is None or self.task.done():
                self.task = asyncio.create_task(self._look())
            yield
        finally:
            self.listeners[code] -= 1
            if not self.listeners[code]:
                del self.listeners[code]
                self.latest.pop(code, None)
                self.encoded.pop(code, None)

    async def next(self, code: str, known_version: int, seconds: float) -> bool:
        """Wait for a version after `known_version`; return False where none comes in that time."""
        try:
            async with asyncio.timeout(seconds):
                while (latest := self.latest.get(code)) is not None and latest.version <= known_version:
                    await self.changed.wait()
        except TimeoutError:
            return False
        return True

    async def _look(self) -> None:
        while self.listeners:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self._compare(await self.run_in_thread(self.classes.store.versions, list(self.listeners)))
            except Exception:  # the store may be unavailable for a while; its listeners keep waiting
                logging.getLogger(__name__).warning("The store of classes does not answer.", exc_info=True)
                await asyncio.sleep(1)

    async def _compare(self, versions: dict[str, int]) -> None:
        news = False
        for code in list(self.listeners):
            before = self.latest.get(code)
            if before is None or before.version == versions.get(code):
                continue
            try:
                after = await self.run_in_thread(self.classes.snapshot, code)
            except ClassNotFound:
                after = None
            if code in self.listeners:
                self.latest[code], news = after, True
        if news:
            changed, self.changed = self.changed, asyncio.Event()
            changed.set()

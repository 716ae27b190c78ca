"""The system's Firefox, driven by Playwright over WebDriver BiDi.

Playwright speaks WebDriver BiDi to a Firefox as its makers ship it (the channel moz-firefox), so no geckodriver is
needed, of which Debian has none. One command that Playwright sends for every context is unknown to Firefox 153, so this
module is also a program that stands between the two: it starts Firefox, answers that command itself, and passes on
everything else.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

from playwright.sync_api import Browser, Playwright
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

_NAMES = ("firefox-esr", "firefox")
# It sets the theme and the motion that a page prefers; Firefox has preferences for both.
_UNKNOWN = "emulation.setMediaFeaturesOverride"
_PREFERENCES: dict[str, str | float | bool] = {
    "layout.css.prefers-color-scheme.content-override": 1,  # light
    "ui.prefersReducedMotion": 1,
}


def launch_firefox(playwright: Playwright, folder: Path) -> Browser:
    """Start the system's Firefox through a script in `folder`.

    RuntimeError says how to install one where there is none.
    """
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        raise RuntimeError("No Firefox found: run `make browser`, or `apt-get install firefox-esr`.")
    script = folder / "firefox"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{path}" "$@"\n')
    script.chmod(0o755)
    return playwright.firefox.launch(
        channel="moz-firefox", executable_path=script, firefox_user_prefs=_PREFERENCES, timeout=120_000
    )


async def _run(command: list[str]) -> None:
    """Run Firefox, with a server of our own before its WebDriver BiDi, until it ends or its client has left."""
    firefox = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=PIPE)
    assert firefox.stderr is not None
    while not (found := re.search(r"listening on (ws://\S+)", line := (await firefox.stderr.readline()).decode())):
        if not line:
            raise SystemExit("Firefox ended before it listened for WebDriver BiDi.")
        sys.stderr.write(line)

    async def relay(client: ServerConnection) -> None:
        async with connect(f"{found[1]}/session", max_size=None, compression=None, proxy=None) as server:

            async def to_firefox() -> None:
                async for text in client:
                    message = json.loads(text)
                    if message["method"] == _UNKNOWN:
                        await client.send(json.dumps({"type": "success", "id": message["id"], "result": {}}))
                    else:
                        await server.send(text)

            async def from_firefox() -> None:
                async for text in server:
                    await client.send(text)

            both = [asyncio.ensure_future(to_firefox()), asyncio.ensure_future(from_firefox())]
            _, others = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for other in others:
                other.cancel()
        if firefox.returncode is None:
            firefox.terminate()

    async with serve(relay, "127.0.0.1", 0, max_size=None, compression=None) as own:
        port = next(iter(own.sockets)).getsockname()[1]
        print(f"WebDriver BiDi listening on ws://127.0.0.1:{port}", file=sys.stderr, flush=True)
        while await firefox.stderr.readline():  # or the pipe would fill
            pass
        await firefox.wait()


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1:]))

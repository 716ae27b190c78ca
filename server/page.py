"""The script that runs in Streamlit's page before its own: page.js."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headlight.plugins import declared

_FOLDER = Path(__file__).parent
PAGES = sorted(path.stem for path in (_FOLDER.parent / "pages").glob("*.py"))
PAGES += [page.name for page in declared("headlight.pages") if page.name not in PAGES]
SCRIPT = (_FOLDER / "page.js").read_text(encoding="utf-8").replace("(PAGES)", f"({'|'.join(PAGES)})")
_NOT_A_PAGE = re.compile(r"/(_stcore|static|media|component)/")


class ScriptInjection:
    """Inserts SCRIPT at the start of the <head> of each HTML page that the app behind it returns."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or _NOT_A_PAGE.search(scope["path"]):
            return await self.app(scope, receive, send)
        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]  # to read the body
        begun: Message | None = None
        body = b""

        async def with_script(message: Message) -> None:
            nonlocal begun, body
            if message["type"] == "http.response.start" and _is_page(message):
                begun = message
            elif begun is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    page = body.replace(b"<head>", f"<head>\n<script>{SCRIPT}</script>".encode(), 1)
                    headers = MutableHeaders(scope=begun)
                    headers["Content-Length"] = str(len(page))
                    del headers["ETag"], headers["Last-Modified"]  # they describe Streamlit's file without the script
                    await send(begun)
                    await send({"type": "http.response.body", "body": page})

        await self.app({**scope, "headers": plain}, receive, with_script)


def _is_page(message: Message) -> bool:
    headers = Headers(raw=message["headers"])
    return message["status"] == 200 and headers.get("content-type", "").startswith("text/html")

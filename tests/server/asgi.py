"""A request to a guard without a server: what it answers, and whether the app behind it was reached."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass
class Answer:
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str:
        return dict(self.headers).get(name, "")


async def behind(scope: Scope, receive: Receive, send: Send) -> None:
    """The app behind the guards: it answers 200 to everything."""
    kind = "websocket.http" if scope["type"] == "websocket" else "http"
    await send({"type": f"{kind}.response.start", "status": 200, "headers": []})
    await send({"type": f"{kind}.response.body", "body": b"the app"})


def ask(
    guard: ASGIApp,
    path: str = "/",
    headers: Iterable[tuple[str, str]] = (("host", "localhost"),),
    *,
    method: str = "GET",
    body: Iterable[bytes] = (b"",),
    client: str = "192.0.2.7",
    server: str = "127.0.0.1",
    websocket: bool = False,
    scheme: str = "http",
) -> Answer:
    path, _, query = path.partition("?")
    scope: dict[str, Any] = {
        "type": "websocket" if websocket else "http",
        "scheme": scheme,
        "method": method,
        "path": path,
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "client": (client, 1),
        "server": (server, 8501),
        "extensions": {"websocket.http.response": {}},
    }
    parts = list(body)
    answer = Answer()

    async def receive() -> Message:
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message: Message) -> None:
        if message["type"].endswith("response.start"):
            answer.status = message["status"]
            answer.headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
        else:
            answer.body += message["body"]

    asyncio.run(guard(scope, receive, send))
    return answer


def typed(guard: ASGIApp, password: str, path: str = "/", **more: Any) -> Answer:
    """The login form, filled in."""
    headers = [("host", "localhost"), ("content-type", "application/x-www-form-urlencoded"), ("accept", "text/html")]
    return ask(guard, path, headers, method="POST", body=[urlencode({"password": password}).encode()], **more)

"""What Streamlit answers at and has no switch for: closed to everybody where nobody asked for it."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Closed:
    """Answers 404 at a path and at all below it, with what it `said`; nothing that is sent there is read."""

    def __init__(self, app: ASGIApp, path: str, said: str):
        self.app, self.path, self.said = app, path, said

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"{scope['path']}/".startswith(f"{self.path}/"):
            return await PlainTextResponse(self.said, 404)(scope, receive, send)
        await self.app(scope, receive, send)

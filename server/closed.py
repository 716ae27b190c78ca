"""Closes routes of Streamlit that have no setting to switch them off."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Closed:
    """Answers 404, with the text `message`, at a path and everything below it; the body of a request is not read."""

    def __init__(self, app: ASGIApp, path: str, message: str):
        self.app, self.path, self.message = app, path, message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"{scope['path']}/".startswith(f"{self.path}/"):
            return await PlainTextResponse(self.message, 404)(scope, receive, send)
        await self.app(scope, receive, send)

"""How the server is does not concern visitors: Streamlit's own figures are told only where they were asked for."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Metrics:
    """Answers 404 at `_stcore/metrics`, which Streamlit has no switch for."""

    def __init__(self, app: ASGIApp, base: str, shown: bool):
        self.app, self.path, self.shown = app, f"{base}/_stcore/metrics", shown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.shown and scope["type"] == "http" and scope["path"].rstrip("/") == self.path:
            return await PlainTextResponse("There are no metrics here: HEADLIGHT_METRICS=1 shows them.", 404)(
                scope, receive, send
            )
        await self.app(scope, receive, send)

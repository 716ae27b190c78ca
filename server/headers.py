"""Response headers: what a page may load, and which sites may frame it."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util

from server.page import SCRIPT

_ANCESTOR = re.compile(r"https?://(\*\.)?[A-Za-z0-9.-]+(:(\d{1,5}|\*))?")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class Headers:
    """Adds the headers below to every response, refusals too."""

    def __init__(self, app: ASGIApp, ancestors: str = ""):
        self.app = app
        self.headers = {
            "Content-Security-Policy": policy(ancestors),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }
        if not ancestors:  # X-Frame-Options can't name other sites; browsers that know both headers heed the policy
            self.headers["X-Frame-Options"] = "SAMEORIGIN"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, with_headers)


def policy(ancestors: str = "") -> str:
    """Return the Content-Security-Policy.

    `ancestors` are the sites that may frame the app, "https://school.example ...". Raises ValueError where one of them
    is not the address of a site.
    """
    for site in ancestors.split():
        if not _ANCESTOR.fullmatch(site):
            raise ValueError(
                f"HEADLIGHT_FRAME_ANCESTORS holds {site[:100]!r}: give addresses of sites with spaces between them, "
                "as https://school.example https://*.class.example"
            )
    return "; ".join(
        [
            "default-src 'self'",
            # Streamlit imports components from blobs, and computes with 64-bit numbers in WebAssembly.
            f"script-src 'self' blob: 'wasm-unsafe-eval' {' '.join(_inline_scripts())}",
            "worker-src 'self' blob:",
            "style-src 'self' 'unsafe-inline'",  # scripts write Streamlit's styles and Plotly's
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' data: blob:",
            "connect-src 'self' data: blob:",  # data and blob: what the page made itself, such as pictures
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            f"frame-ancestors 'self' {' '.join(ancestors.split())}".strip(),
        ]
    )


def _inline_scripts() -> list[str]:
    """Return the hashes of the inline scripts of Streamlit's own page and of ours in it."""
    page = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    digests = (hashlib.sha256(script.encode()).digest() for script in (*_INLINE.findall(page), SCRIPT))
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]

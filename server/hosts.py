"""Protection from pages of other sites: from DNS rebinding, and from requests of another origin."""

from __future__ import annotations

import re

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from server.access import Access, as_ip, is_loopback

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/@\[\]]+))(?::\d{1,5})?")


class Hosts:
    """Refuses, with 403, requests whose Host is not a name of this server or whose Origin is another site.

    A browser sends the name that it connected to in `Host` and the site of the page in `Origin`. Pages, uploads,
    downloads and the websocket are all checked. A client that is not a browser sends no `Origin`.
    """

    def __init__(self, app: ASGIApp, access: Access):
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _two_lengths(scope):
            return await PlainTextResponse("A request has one length.", 400)(scope, receive, send)
        refused = self._refusal(scope) if scope["type"] in ("http", "websocket") else None
        if refused:
            return await PlainTextResponse(refused, 403)(scope, receive, send)
        await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> str | None:
        if self.access.is_local_only and not _arrived_here(scope):  # another launcher may listen elsewhere
            return "This server accepts connections from its own machine only: it was started without a password."
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        parts = _HOST.fullmatch(host)
        if not parts or not self.access.allows(parts[1] or parts[2]):
            return (
                f"This server does not answer to {_quoted(host)}; whoever runs it can add that name to HEADLIGHT_HOSTS."
            )
        for origin in headers.getlist("origin"):
            if origin.partition("://")[2].lower() != host.lower():
                return (
                    f"A page from {_quoted(origin)} may not use this server at {_quoted(host)}. A proxy in front of "
                    "it must pass the Host header on unchanged."
                )
        return None


def _two_lengths(scope: Scope) -> bool:
    """Return whether a request gives its length twice (RFC 9112, 6.3).

    A proxy in front might then cut the connection into other requests than this server does (request smuggling).
    """
    headers = Headers(scope=scope)
    lengths = headers.getlist("content-length")
    return len(lengths) > 1 or bool(lengths and "transfer-encoding" in headers)


def _arrived_here(scope: Scope) -> bool:
    """Return whether the connection came in at a loopback address."""
    name = (scope.get("server") or ("",))[0]
    ip = as_ip(name)
    return is_loopback(str(getattr(ip, "ipv4_mapped", None) or name))


def _quoted(host: str) -> str:
    return ascii(host[:100])

"""Password protection of everything: pages, the websocket, uploads, downloads and the files of components."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from string import Template
from urllib.parse import parse_qs

from itsdangerous import BadSignature, TimestampSigner
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from server.attempts import Attempts

COOKIE = "headlight_login"
SIGN_OUT = "sign-out"  # the path
SESSION_SECONDS = 7 * 24 * 3600  # until the password is asked for again
MAX_FORM_BYTES = 4096
PAGE_TEMPLATE = Template(Path(__file__).with_name("login.html").read_text(encoding="utf-8"))
ALERT = '<p id="alert" role="alert">{}</p>'


class Login:
    """Answers with the login page until the password is given, then lets requests through.

    The browser then holds a cookie that is signed with the password: changing the password signs everybody out, and
    replicas with the same password accept each other's cookies. Only the health check, `_stcore/health`, is open.
    """

    def __init__(self, app: ASGIApp, password: str, base: str = "", attempts: Attempts | None = None):
        self.app, self.base = app, base
        self.password, self.signer = _digest(password), _signer(password)
        self.attempts = attempts or Attempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == f"{self.base}/{SIGN_OUT}":
            return await self._signed_out()(scope, receive, send)
        if scope["type"] not in ("http", "websocket") or self._open(scope) or self._is_signed_in(scope):
            return await self.app(scope, receive, send)
        await (await self._form_or_answer(scope, receive))(scope, receive, send)

    def _signed_out(self) -> Response:
        """Redirect to the login page, and delete the cookie."""
        response = RedirectResponse(f"{self.base}/", 303)
        response.delete_cookie(COOKIE, path=self.base or "/", httponly=True, samesite="lax")
        return response

    def _open(self, scope: Scope) -> bool:
        return scope["type"] == "http" and scope["path"] == f"{self.base}/_stcore/health"

    def _is_signed_in(self, scope: Scope) -> bool:
        try:
            self.signer.unsign(HTTPConnection(scope).cookies.get(COOKIE, ""), max_age=SESSION_SECONDS)
        except BadSignature:
            return False
        return True

    async def _form_or_answer(self, scope: Scope, receive: Receive) -> Response:
        if scope["type"] == "http":
            request = Request(scope, receive)
            if request.method == "POST" and request.headers.get("content-type") == "application/x-www-form-urlencoded":
                return await self._try(request)
            if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
                return _page()
        return PlainTextResponse("This server requires a password: open it in a browser to sign in.", 401)

    async def _try(self, request: Request) -> Response:
        password = await _password(request)
        if password is None:
            return PlainTextResponse("The password is too long.", 413)
        # Nothing else runs between this check and the count, so two attempts cannot pass on one allowance.
        address = request.client.host if request.client else ""
        wait = self.attempts.wait(address)
        if wait:
            seconds = "second" if wait == 1 else "seconds"
            response = _page(f"Too many wrong passwords. Try again in {wait} {seconds}.", 429)
            response.headers["Retry-After"] = str(wait)
            return response
        if not hmac.compare_digest(_digest(password), self.password):
            self.attempts.wrong(address)
            return _page("Wrong password. Capital letters and spaces count.")
        # Back to the requested address: the target is only its query, so it cannot lead to another site.
        redirect = RedirectResponse(f"?{request.url.query}", 303)
        redirect.set_cookie(
            COOKIE,
            self.signer.sign("in").decode(),
            max_age=SESSION_SECONDS,
            path=self.base or "/",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="lax",  # with strict, following a link from another site would ask for the password again
        )
        return redirect


def cookie(password: str) -> str:
    """Return the Cookie header, "name=value", for a program that knows the password."""
    return f"{COOKIE}={_signer(password).sign('in').decode()}"


def _page(alert: str = "", status: int = 401) -> HTMLResponse:
    fields = {"alert": ALERT.format(alert) if alert else "", "invalid": 'aria-invalid="true"' if alert else ""}
    return HTMLResponse(PAGE_TEMPLATE.substitute(fields), status, {"Cache-Control": "no-store"})


async def _password(request: Request) -> str | None:
    """Return what was typed, or None if that is longer than any password."""
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > MAX_FORM_BYTES:
                return None
    except ClientDisconnect:
        return ""
    return parse_qs(body.decode("utf-8", "replace")).get("password", [""])[0]


def _digest(password: str) -> bytes:
    """Return a digest of the password.

    Digests have one length, so that comparing two does not reveal the length of either.
    """
    return hashlib.sha256(password.encode("utf-8", "surrogateescape")).digest()


def _signer(password: str) -> TimestampSigner:
    """Return a signer whose key is slow to derive, so that a stolen cookie does not make the password easy to guess."""
    key = hashlib.scrypt(password.encode("utf-8", "surrogateescape"), salt=b"headlight", n=2**14, r=8, p=1)
    return TimestampSigner(key, salt="headlight login", digest_method=hashlib.sha256)

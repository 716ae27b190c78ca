"""What runs in the page before Streamlit's own scripts, and that the policy lets it."""

import base64
import hashlib
import re
from typing import Any

import pytest
from starlette.responses import HTMLResponse, PlainTextResponse

from server.headers import policy
from server.page import PAGES, SCRIPT, ScriptInjection
from tests.server.asgi import ask

HTML = "<!DOCTYPE html><html><head><title>é</title></head></html>"


async def app(scope: Any, receive: Any, send: Any) -> None:
    answer = HTMLResponse(HTML, headers={"ETag": "theirs"}) if "text" not in scope["path"] else PlainTextResponse(HTML)
    await answer(scope, receive, send)


@pytest.mark.parametrize("path", ["/", "/heads", "/headlight/anatomy"])
def test_a_page_begins_with_the_script(path: str) -> None:
    answer = ask(ScriptInjection(app), path)
    assert answer.body.decode().startswith(f"<!DOCTYPE html><html><head>\n<script>{SCRIPT}</script><title>é")
    assert int(answer.header("content-length")) == len(answer.body)
    assert not answer.header("etag")


@pytest.mark.parametrize("path", ["/text", "/_stcore/health", "/static/index.html", "/headlight/static/a.html"])
def test_anything_else_stays_as_it_is(path: str) -> None:
    assert ask(ScriptInjection(app), path).body.decode() == HTML


def test_it_may_run_and_knows_the_pages() -> None:
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy()
    assert {"attention", "anatomy", "training"} <= set(PAGES) and all(map(re.compile(r"[a-z]+").fullmatch, PAGES))

"""What a page may load, and who may frame it."""

import pytest
from starlette.types import ASGIApp

from server import guards, owner
from server.endpoints import Closed
from server.headers import Headers, policy
from tests.server.asgi import ask, behind


def directives(text: str) -> dict[str, list[str]]:
    return {part.split()[0]: part.split()[1:] for part in text.split(";")}


def test_scripts_are_the_apps_own() -> None:
    sources = directives(policy())
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "data:", "https:"} & set(sources["script-src"])
    assert any(source.startswith("'sha256-") for source in sources["script-src"])
    assert sources["object-src"] == ["'none'"] and sources["connect-src"][0] == "'self'"


def test_who_may_frame_it() -> None:
    closed = ask(Headers(behind))
    assert directives(closed.header("content-security-policy"))["frame-ancestors"] == ["'self'"]
    assert closed.header("x-frame-options") == "SAMEORIGIN"
    sites = "https://moodle.school.example  https://*.class.example:8443 http://localhost:*"
    opened = ask(Headers(behind, sites))
    assert directives(opened.header("content-security-policy"))["frame-ancestors"] == ["'self'", *sites.split()]
    assert not opened.header("x-frame-options")  # which would still forbid them


@pytest.mark.parametrize("given", ["*", "moodle.example", "https://a.example;script-src", "https://a\r\nx: y", "//a"])
def test_what_is_no_site_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="HEADLIGHT_FRAME_ANCESTORS"):
        policy(given)


def test_what_is_closed_is_closed_with_all_below_it() -> None:
    guard = Closed(behind, "/headlight/_stcore/upload_file", "Nothing is uploaded.")
    for path in ("", "/", "/session/file", "?a=1"):
        answer = ask(guard, f"/headlight/_stcore/upload_file{path}", method="PUT")
        assert (answer.status, answer.body) == (404, b"Nothing is uploaded.")
    for path in ("/headlight/_stcore/upload_files", "/_stcore/upload_file", "/headlight/_stcore/health"):
        assert ask(guard, path).status == 200


def test_nothing_is_uploaded_to_a_public_server_however_it_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_METRICS", "1")
    monkeypatch.setattr(owner, "tells_owners", lambda: False)  # a request made here has no socket

    def answered(public: bool, path: str) -> int:
        guard: ASGIApp = behind
        for middleware in reversed(guards(public)):
            guard = middleware.cls(guard, *middleware.args, **middleware.kwargs)
        return ask(guard, path, method="PUT").status

    assert answered(True, "/_stcore/upload_file/session/file") == 404
    assert answered(False, "/_stcore/upload_file/session/file") == 200
    assert answered(True, "/_stcore/metrics") == 200  # which were asked for
    monkeypatch.setenv("HEADLIGHT_METRICS", "0")
    assert answered(True, "/_stcore/metrics") == answered(False, "/_stcore/metrics") == 404

"""What a page may load, and who may frame it."""

import pytest

from server.headers import Headers, policy
from server.metrics import Metrics
from tests.server.asgi import ask, behind


def directives(text: str) -> dict[str, list[str]]:
    return {part.split()[0]: part.split()[1:] for part in text.split(";")}


def test_scripts_are_the_apps_own() -> None:
    found = directives(policy())
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "data:", "https:"} & set(found["script-src"])
    assert any(source.startswith("'sha256-") for source in found["script-src"])
    assert found["object-src"] == ["'none'"] and found["connect-src"][0] == "'self'"


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


def test_metrics_are_told_where_they_were_asked_for() -> None:
    assert ask(Metrics(behind, "/headlight", shown=False), "/headlight/_stcore/metrics").status == 404
    assert ask(Metrics(behind, "/headlight", shown=True), "/headlight/_stcore/metrics").status == 200
    assert ask(Metrics(behind, "", shown=False), "/_stcore/health").status == 200

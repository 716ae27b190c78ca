"""Nothing is answered without the password."""

import re
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from itsdangerous import TimestampSigner

from server.login import COOKIE, SESSION_SECONDS, SIGN_OUT, Login, cookie
from tests.server.asgi import ask, behind, typed
from ui.widgets import presenting

PASSWORD = "köstlich & geheim"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def guard() -> Login:
    return Login(behind, PASSWORD)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path", ["/", "/training", "/_stcore/upload_file/a/b", "/media/a.csv", "/_stcore/host-config", "/app/static/x.js"]
)
def test_no_way_of_asking_leads_past_it(guard: Login, method: str, path: str) -> None:
    answer = ask(guard, path, method=method)
    assert answer.status == 401 and b"the app" not in answer.body


def test_nor_does_the_websocket(guard: Login) -> None:
    assert ask(guard, "/_stcore/stream", websocket=True).status == 401
    known = [("host", "localhost"), ("cookie", cookie(PASSWORD))]
    assert ask(guard, "/_stcore/stream", known, websocket=True).status == 200


def test_health_alone_is_open() -> None:
    guard = Login(behind, PASSWORD, base="/headlight")
    assert ask(guard, "/headlight/_stcore/health").body == b"the app"
    for path in ("/_stcore/health", "/headlight/_stcore/health/", "/headlight/_stcore/health/../stream"):
        assert ask(guard, path).status == 401
    assert ask(guard, "/headlight/_stcore/health", websocket=True).status == 401


def test_the_page_asks_and_the_password_opens(guard: Login) -> None:
    page = ask(guard, "/?text=Hi", [("host", "localhost"), ("accept", "text/html,*/*")])
    assert page.status == 401 and b'type="password"' in page.body and page.header("cache-control") == "no-store"
    wrong = typed(guard, "köstlich")
    assert wrong.status == 401 and b"Wrong password" in wrong.body and not wrong.header("set-cookie")
    right = typed(guard, PASSWORD, "/decoding?text=Hi%20you&layer=2")
    assert (right.status, right.header("location")) == (303, "?text=Hi%20you&layer=2")
    cookie = SimpleCookie(right.header("set-cookie"))[COOKIE]
    assert cookie["httponly"] and cookie["samesite"] == "lax" and cookie["path"] == "/" and not cookie["secure"]
    assert ask(guard, headers=[("host", "localhost"), ("cookie", f"a=b; {COOKIE}={cookie.value}")]).body == b"the app"


def test_over_tls_the_cookie_goes_nowhere_else() -> None:
    response = typed(Login(behind, PASSWORD, base="/headlight"), PASSWORD, "/headlight/", scheme="https")
    cookie = SimpleCookie(response.header("set-cookie"))[COOKIE]
    assert cookie["secure"] and cookie["path"] == "/headlight"


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "/https://evil.example", "//evil.example/?a"])
def test_it_leads_to_no_other_site(guard: Login, path: str) -> None:
    assert typed(guard, PASSWORD, path).header("location").startswith("?")


def test_a_cookie_is_worth_nothing_forged_old_or_of_another_password(
    guard: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = cookie(PASSWORD)

    def status(cookie: str) -> int:
        return ask(guard, headers=[("host", "localhost"), ("cookie", cookie)]).status

    assert status(fresh) == 200
    forged = cookie(PASSWORD + " "), fresh[:-2], f"{COOKIE}=in", f"{COOKIE}=", fresh.replace("=in.", "=im."), "é=;="
    for given in forged:
        assert status(given) == 401, given
    now = TimestampSigner("any").get_timestamp()
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: now + SESSION_SECONDS + 5)
    assert status(fresh) == 401


def test_guesses_run_out_and_the_page_says_when_to_come_back(guard: Login) -> None:
    answers = [typed(guard, f"guess {i}") for i in range(25)]
    assert [answer.status for answer in answers] == 20 * [401] + 5 * [429]
    assert b"Try again in" in answers[-1].body and 0 < int(answers[-1].header("retry-after")) <= 10
    assert typed(guard, PASSWORD).status == 429  # or guessing went on
    assert typed(guard, PASSWORD, client="192.0.2.8").status == 303
    known = [("host", "localhost"), ("cookie", cookie(PASSWORD))]
    assert ask(guard, headers=known).status == 200


def test_a_form_longer_than_any_password_is_refused(guard: Login) -> None:
    parts = [b"password=" + 5000 * b"x", *(b"x" for _ in range(10))]
    headers = [("host", "localhost"), ("content-type", "application/x-www-form-urlencoded")]
    assert ask(guard, headers=headers, method="POST", body=parts).status == 413
    assert ask(guard, headers=headers, method="POST", body=[b"\xff%ff&&&=;"]).status == 401


def test_the_page_has_the_colours_of_the_app() -> None:
    page = (ROOT / "server" / "login.html").read_text()
    config = (ROOT / ".streamlit" / "config.toml").read_text()
    for name in ("page", "field", "text", "accent"):
        for colour in re.findall(rf"--{name}: (#\w+)", page):
            assert f'"{colour}"' in config


def test_signing_out_takes_the_cookie_and_leads_to_the_login(guard: Login) -> None:
    known = [("host", "localhost"), ("cookie", cookie(PASSWORD))]
    answer = ask(guard, "/sign-out", headers=known)
    assert answer.status == 303 and answer.header("location") == "/"
    gone = answer.header("set-cookie")
    assert gone.startswith(f'{COOKIE}=""') and "Max-Age=0" in gone
    assert ask(guard, "/", headers=[("host", "localhost"), ("cookie", gone.split(";")[0])]).status == 401
    assert SIGN_OUT == presenting.SIGN_OUT

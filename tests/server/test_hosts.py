"""Another site's page is refused, whichever way it asks."""

import pytest

from server.access import Access
from server.hosts import Hosts
from tests.server.asgi import ask, behind

LOCAL = Hosts(behind, Access("127.0.0.1"))
OUT = Hosts(behind, Access("0.0.0.0", ("class.example",), open_to_all=True))


@pytest.mark.parametrize("websocket", [False, True])
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8501", 200), ("[::1]:8501", 200), ("127.0.0.1", 200), ("evil.example", 403),
        ("evil.example:8501", 403), ("localhost@evil.example", 403), ("localhost:8501@evil.example", 403),
        ("localhost/evil.example", 403), ("::1", 403), ("[localhost]", 403), ("localhost:", 403), ("", 403),
    ],
)  # fmt: skip
def test_host(host: str, status: int, websocket: bool) -> None:
    answer = ask(LOCAL, headers=[("host", host)], websocket=websocket)
    assert answer.status == status
    assert status == 200 or b"HEADLIGHT_HOSTS" in answer.body


def test_exactly_one_host_is_named() -> None:
    assert ask(LOCAL, headers=[]).status == 403
    assert ask(LOCAL, headers=[("host", "localhost"), ("host", "evil.example")]).status == 403


@pytest.mark.parametrize("websocket", [False, True])
@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:8501", "http://localhost:8501", 200),
        ("class.example", "https://class.example", 200),
        ("Class.Example", "https://class.example", 200),
        ("localhost:8501", "http://evil.example", 403),
        ("localhost:8501", "http://localhost:3000", 403),  # another program's page on this machine
        ("localhost:8501", "http://127.0.0.1:8501", 403),
        ("localhost:8501", "null", 403),
        ("localhost:8501", "", 403),
    ],
)
def test_origin(host: str, origin: str, status: int, websocket: bool) -> None:
    answer = ask(OUT, headers=[("host", host), ("origin", origin)], websocket=websocket)
    assert answer.status == status
    assert status == 200 or b"A page from" in answer.body


def test_without_a_password_only_the_machine_itself_is_answered() -> None:
    """However it was started: whoever is not a browser writes any Host that it likes."""
    assert ask(LOCAL, server="192.168.1.5").status == 403
    assert ask(LOCAL, server="::ffff:192.168.1.5").status == 403
    assert ask(LOCAL, server="::1").status == ask(LOCAL, server="::ffff:127.0.0.1").status == 200
    assert ask(OUT, server="192.168.1.5").status == 200


def test_a_refusal_quotes_little() -> None:
    body = ask(LOCAL, headers=[("host", "é\n" + 5000 * "x")]).body
    assert len(body) < 300 and b"\n" not in body and body.isascii()


@pytest.mark.parametrize(
    ("lengths", "status"),
    [
        ([("content-length", "1")], 200),
        ([("transfer-encoding", "chunked")], 200),
        ([("content-length", "1"), ("transfer-encoding", "chunked")], 400),
        ([("content-length", "1"), ("content-length", "2")], 400),
    ],
)
def test_a_request_has_one_length(lengths: list[tuple[str, str]], status: int) -> None:
    assert ask(LOCAL, headers=[("host", "localhost"), *lengths], method="POST", body=[b"a"]).status == status

"""On a server for this machine alone, another account is refused: HTTP and websocket, IPv4 and IPv6, a reused port."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from server import _guards, owner
from server.access import Access
from server.owner import Owner, owner_of
from tests.server.asgi import ask, behind

NOBODY = 65534
TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2135 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0
   1: 0100007F:C350 0100007F:2135 01 00000000:00000000 00:00000000 00000000  1234        0 12 1 0
   2: 0100007F:C351 0100007F:2135 06 00000000:00000000 00:00000000 00000000     0        0 0 1 0
"""
SERVER = ("127.0.0.1", 0x2135)
linux = pytest.mark.skipif(not owner.tells_owners(), reason="only Linux tells whose a socket is")
CLIENT = """
import json, os, socket, sys
family, address, uid, shut, request = json.loads(sys.argv[1])
os.setuid(uid)
with socket.socket(family) as s:
    s.connect(tuple(address)[:2])
    s.sendall(request.encode())
    if shut:
        s.shutdown(socket.SHUT_WR)
    s.settimeout(20)
    print(s.recv(200).split(b"\\r\\n")[0].decode())
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tcp").write_text(TABLE)
    monkeypatch.setattr(owner, "SOCKET_TABLES", {4: tmp_path / "tcp", 6: tmp_path / "none"})


def test_the_owner_is_that_of_the_clients_end(table: None) -> None:
    assert owner_of(("127.0.0.1", 0xC350), SERVER) == 1234
    assert owner_of(("::ffff:127.0.0.1", 0xC350), SERVER) == 1234
    assert owner_of(SERVER, ("127.0.0.1", 0xC350)) is None  # the server's own end is not listed


def test_a_closed_socket_is_nobodys(table: None) -> None:
    assert owner_of(("127.0.0.1", 0xC351), SERVER) is None
    assert owner_of(("127.0.0.1", 1), SERVER) is None
    assert owner_of(("unknown", 1), SERVER) is None


@linux
@pytest.mark.parametrize("websocket", [False, True])
def test_who_has_no_socket_here_is_refused(websocket: bool) -> None:
    answer = ask(Owner(behind), client="127.0.0.1", websocket=websocket)
    assert answer.status == 403 and b"HEADLIGHT_PASSWORD" in answer.body


def test_only_a_server_without_a_password_for_this_machine_asks() -> None:
    asks = [
        any(guard.cls is Owner for guard in _guards(access, public))
        for access, public in (
            (Access("127.0.0.1"), False),
            (Access("127.0.0.1", password="long enough"), False),
            (Access("0.0.0.0", open_to_all=True), True),
        )
    ]
    assert asks == [True, False, False]


@pytest.fixture(params=["127.0.0.1", "::1"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[int, list[object]]]:
    """A server at a free port of the loopback: the family and the address."""
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    with socket.socket(family) as listening:
        try:
            listening.bind((request.param, 0))
        except OSError:
            pytest.skip("this machine has no such address")
        server = uvicorn.Server(uvicorn.Config(Owner(behind), log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.02)
        yield int(family), list(listening.getsockname()[:2])
        server.should_exit = True
        thread.join(20)


def answered(served: tuple[int, list[object]], uid: int, more: str = "", shut: bool = False) -> str:
    request = f"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}\r\n"
    arguments = json.dumps([*served, uid, shut, request])
    return subprocess.run([sys.executable, "-c", CLIENT, arguments], capture_output=True, text=True, check=True).stdout


UPGRADE = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"


@linux
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may become another user")
@pytest.mark.parametrize("shut", [False, True])
def test_another_account_is_refused(served: tuple[int, list[object]], shut: bool) -> None:
    assert "200" in answered(served, os.getuid(), shut=shut)
    assert "403" in answered(served, NOBODY, shut=shut)
    assert "403" in answered(served, NOBODY, "X-Forwarded-For: 127.0.0.1\r\n", shut)
    websocket = UPGRADE.replace("Connection: close\r\n", "") + "Connection: Upgrade\r\n"
    assert "403" in answered(served, NOBODY, websocket, shut)


@linux
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may become another user")
def test_a_port_that_another_account_had_before_is_asked_anew(served: tuple[int, list[object]]) -> None:
    family, address = served
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    def from_port(port: int) -> tuple[bytes, int]:
        with socket.socket(family) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            client.bind((str(address[0]), port))
            client.connect((str(address[0]), int(str(address[1]))))
            client.sendall(request)
            client.settimeout(20)
            return client.recv(100).split(b"\r\n")[0], client.getsockname()[1]

    first, port = from_port(0)
    assert b"200" in first
    pid = os.fork()
    if pid == 0:
        os.setuid(NOBODY)
        try:
            status = int(from_port(port)[0].split()[1]) // 10
        except OSError:
            status = 1  # the kernel does not give the port again yet
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) in (40, 1)

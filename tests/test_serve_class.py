"""`headlight class`: the app for a teacher and, on the network, for pupils' phones."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from server.access import MIN_PASSWORD_CHARACTERS, is_loopback
from tools import serve_class
from tools.serving import free_port

ROOT = Path(__file__).resolve().parents[1]


def test_a_password_is_long_enough_and_new_each_time() -> None:
    passwords = {serve_class.new_password() for _ in range(50)}
    assert len(passwords) == 50 and all(re.fullmatch(r"[a-z2-9]{4}(-[a-z2-9]{4}){2}", one) for one in passwords)
    assert all(len(one) >= MIN_PASSWORD_CHARACTERS and not set(one) & set("ilo01") for one in passwords)


def test_without_a_network_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_class, "_UNUSED_ADDRESS", "127.0.0.1")  # as if no route led elsewhere
    with pytest.raises(ValueError, match="in no network"):
        serve_class.lan_address()


def test_the_qr_code_is_the_address_of_the_join_page() -> None:
    import segno

    link = "http://192.168.1.5:8502/join"
    rows = [[int(module) for module in row] for row in segno.make(link, error="m").matrix_iter(border=4)]
    blocks = {" ": (1, 1), "▀": (0, 1), "▄": (1, 0), "█": (0, 0)}
    lines = [[blocks[sign] for sign in line] for line in serve_class._qr(link).splitlines()]
    read = [[halves[at] for halves in line] for line in lines for at in (0, 1)]
    assert read[: len(rows)] == rows
    assert link in serve_class.welcome(link, "http://localhost:8502/lessons", "abcd-efgh")


@pytest.mark.slow
def test_phones_join_without_the_password_that_the_teacher_gives(tmp_path: Path, reverse_only: str) -> None:
    port = free_port()
    given = {name: value for name, value in os.environ.items() if name != "HEADLIGHT_PASSWORD"}
    given |= {"PORT": str(port), "HEADLIGHT_CLASSES": str(tmp_path), "HEADLIGHT_CHECKPOINTS": reverse_only}
    log = tmp_path / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tools.serve_class"], cwd=ROOT, env=given, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        host = serve_class.lan_address()
        assert not is_loopback(host)
        deadline = time.monotonic() + 90
        while status(host, port, "/_stcore/health") != 200:
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        assert status(host, port, "/join") == 200 and status(host, port, "/join/pupil.js") == 200
        assert status(host, port, "/lessons") == 401 and status("127.0.0.1", port, "/lessons") == 401
        said = log.read_text()
        assert f"http://{host}:{port}/join" in said
        (password,) = re.findall(r"password (\S+):", said)
        assert status(host, port, "/lessons", password) == 303
    finally:
        process.terminate()
        process.wait(20)


def status(host: str, port: int, path: str, password: str = "") -> int:
    connection = http.client.HTTPConnection(host, port, timeout=10)
    try:
        if password:
            form = {"content-type": "application/x-www-form-urlencoded"}
            connection.request("POST", path, f"password={password}", form)
        else:
            connection.request("GET", path, headers={"accept": "text/html"})
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()

"""A process that has too few files, or is told things too long to be logged."""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from uvicorn.logging import AccessFormatter

from server import process
from server.endpoints import HealthEndpoint
from tests.server.asgi import ask, behind

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    factory = logging.getLogRecordFactory()
    logging.setLogRecordFactory(process.bounded_record)
    try:
        yield caplog
    finally:
        logging.setLogRecordFactory(factory)


@pytest.mark.parametrize("given", [("%s", "x" * 20_000_000), ("x" * 20_000_000,), ("%s", ["x" * 20_000_000])])
def test_a_log_line_has_a_length(lines: pytest.LogCaptureFixture, given: tuple[str, object]) -> None:
    logging.getLogger("streamlit").warning(*given)
    (record,) = lines.records
    assert 900 < len(record.getMessage()) <= process.MESSAGE_CHARACTERS + 50
    assert "characters …" in record.getMessage()


def test_short_lines_and_wrong_ones_are_as_they_were(lines: pytest.LogCaptureFixture) -> None:
    logging.getLogger("a").warning("%s is %d", "this", 1)
    logging.getLogger("a").warning("%(b)s", {"b": 2})
    assert [record.getMessage() for record in lines.records] == ["this is 1", "2"]


def test_a_traceback_has_a_length(lines: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("x" * 20_000_000)
    except ValueError:
        logging.getLogger("a").exception("It failed.")
    text = logging.Formatter().format(lines.records[0])
    assert len(text) < 2 * process.TRACEBACK_CHARACTERS and text.startswith("It failed.\nTraceback")


def test_the_server_s_own_formatter_still_reads_long_addresses(lines: pytest.LogCaptureFixture) -> None:
    arguments = ("127.0.0.1:1", "GET", "/" + "x" * 60_000, "1.1", 200)
    logging.getLogger("uvicorn.access").warning('%s - "%s %s HTTP/%s" %d', *arguments)
    record = process.bounded_record("uvicorn.access", 20, "", 1, '%s - "%s %s HTTP/%s" %d', arguments, None)
    assert len(AccessFormatter("%(request_line)s %(status_code)s", use_colors=False).format(record)) < 2_000


@pytest.mark.slow
def test_the_soft_limit_of_files_is_raised() -> None:
    code = (
        "import resource; from server.process import prepare_process\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
        "prepare_process(); print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    soft, hard = map(int, done.stdout.split())
    assert soft == (process.OPEN_FILES if hard == resource.RLIM_INFINITY else min(process.OPEN_FILES, hard))


@pytest.mark.slow
def test_idle_threads_of_openmp_sleep() -> None:
    """OpenMP itself says what it uses, when it is loaded, as torch does when it is imported."""
    (folder,) = find_spec("torch").submodule_search_locations or ()  # type: ignore[union-attr]
    libraries = [str(path) for path in Path(folder, "lib").glob("libgomp*")]
    code = "from server.process import prepare_process; prepare_process()\n"
    code += f"import ctypes; print(*map(ctypes.CDLL, {libraries!r}))"
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**environment, "OMP_DISPLAY_ENV": "true"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert libraries and "OMP_WAIT_POLICY = 'PASSIVE'" in done.stderr


def test_health_says_where_no_page_can_be_opened() -> None:
    guard = HealthEndpoint(behind, "/_stcore/health")
    assert ask(guard, "/_stcore/health").body == b"the app"
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 20, before[1]))
    files = []
    with contextlib.suppress(OSError):
        while True:
            files.append(os.open(os.devnull, os.O_RDONLY))
    for _ in range(10):  # the test's own event loop needs a few
        os.close(files.pop())
    try:
        answer = ask(guard, "/_stcore/health")
        other = ask(guard, "/")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for file in files:
            os.close(file)
    assert answer.status == 503 and b"files are open" in answer.body and other.status == 200
    assert ask(guard, "/_stcore/health").status == 200

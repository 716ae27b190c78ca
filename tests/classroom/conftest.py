"""Both stores: every test of a class's rules runs on each."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from server.classroom.classes import Classes
from server.classroom.shared import RedisStore
from server.classroom.sqlite import Sqlite
from server.classroom.store import Store
from tools.serving import free_port


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis server of the tests' own, which writes nothing down."""
    program, port = shutil.which("redis-server"), free_port()
    if program is None:
        pytest.fail("No Redis found: run `make redis`, or `apt-get install redis-server`.", pytrace=False)
    folder = tmp_path_factory.mktemp("redis")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    url = f"redis://127.0.0.1:{port}/0"
    try:
        answers = RedisStore(url).redis.ping
        for _ in range(200):
            try:
                answers()
                break
            except OSError:
                time.sleep(0.05)
            except Exception as error:  # redis.ConnectionError, until it listens
                if process.poll() is not None:
                    raise RuntimeError("The Redis server stopped.") from error
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(params=["sqlite", "redis"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Opens the same store again and again, as each process of a server does."""
    if request.param == "sqlite":
        return lambda: Sqlite(tmp_path / "classes" / "classes.sqlite3")
    url = request.getfixturevalue("redis_url")
    RedisStore(url).redis.flushall()
    return lambda: RedisStore(url)


@pytest.fixture
def classes(opened: Callable[[], Store]) -> Classes:
    return Classes(opened())

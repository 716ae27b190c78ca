"""A small class in real processes: the server is killed while answers come, and what was acknowledged is not lost."""

import asyncio
from importlib import import_module
from pathlib import Path

import pytest

from tests.classroom.alone import serve
from tests.forked import forked
from tools.serving import free_port

pytestmark = pytest.mark.slow  # starts a server for real, twice
bench = import_module("benchmarks.class")


class Alone(bench.RestartableServer):
    def launch(self) -> None:
        self.child = forked(serve, self.port, str(self.folder / "classes"))

    def kill(self) -> None:
        self.child.kill()
        self.child.join()


def test_a_class_outlives_its_server_and_five_do_not_mix(tmp_path: Path) -> None:
    server = Alone(free_port(), tmp_path)
    result = asyncio.run(bench.measured(server, tmp_path, pupils=6, steps=2, within=0.6))
    assert result["acknowledged"] == result["kept"] == result["tallied"] == 6 * (2 + 1)
    assert (result["wrong_rounds"], result["refused"]) == (0, 0)
    assert result["reconnected"] >= 6  # all, when it was killed
    assert result["mixed"]["wrong_screens"] == result["mixed"]["wrong_rounds"] == 0
    assert result["mixed"]["answers"] == 10
    bench.report(result | {"pupils": 6, "steps": 2, "within": 0.6, "training": False})

"""A small class in real processes: the server is killed while answers come, and what was acknowledged is not lost."""

import asyncio
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tools.serving import free_port

pytestmark = pytest.mark.slow  # starts a server for real, twice
bench = import_module("benchmarks.class")

# The service alone: what stands around it takes long to start, and tests/server has it.
ALONE = """
import uvicorn
from classroom.routes import Classroom
from server.attempts import Attempts
from starlette.responses import PlainTextResponse
uvicorn.run(Classroom(PlainTextResponse("the app"), Attempts()), host="127.0.0.1", port={port}, log_level="error")
"""


def test_a_class_outlives_its_server_and_five_do_not_mix(tmp_path: Path) -> None:
    port = free_port()
    server = bench.Server([sys.executable, "-c", ALONE.format(port=port)], port, tmp_path)
    result = asyncio.run(bench.measured(server, tmp_path, pupils=10, steps=3, within=1.0))
    assert result["acknowledged"] == result["kept"] == result["tallied"] == 10 * (3 + 1)
    assert (result["wrong_rounds"], result["refused"]) == (0, 0)
    assert result["reconnected"] >= 10  # all, when it was killed
    assert result["mixed"]["wrong_screens"] == result["mixed"]["wrong_rounds"] == 0
    assert result["mixed"]["answers"] == 10
    bench.report(result | {"pupils": 10, "steps": 3, "within": 1.0, "training": False, "load_after": [0]})

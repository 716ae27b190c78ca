"""A seed that failed is tried again, first, whatever the others are; one that ends the process is kept as well."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests import fuzzing
from tests.fuzzing import fuzz

ROOT = Path(__file__).resolve().parents[1]


def drawn(chance: random.Random) -> float:
    return chance.random()


def test_a_seed_that_fails_is_kept_and_tried_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def attempt(chance: random.Random) -> bool:
        seen.append(drawn(chance))
        assert len(seen) != 5, "mend me"
        return True

    monkeypatch.setattr(fuzzing, "FUZZ_SECONDS", 60.0)
    with pytest.raises(AssertionError, match="mend me"):
        fuzz("a name/b", 0, attempt, tmp_path)
    (path,) = tmp_path.iterdir()
    assert len(path.read_text().splitlines()) == 1
    monkeypatch.setattr(fuzzing, "FUZZ_SECONDS", 0.0)
    seen, bad = [], seen[4]
    assert fuzz("a name/b", 3, lambda chance: not seen.append(drawn(chance)), tmp_path) == 1
    assert seen[0] == bad and len(seen) == 4


def test_a_seed_that_ends_the_process_is_kept(tmp_path: Path) -> None:
    code = (
        "import os, sys, pathlib, tests.fuzzing as f; f.fuzz('end', 0, lambda _: os.abort(), pathlib.Path(sys.argv[1]))"
    )
    environment = {**os.environ, "HEADLIGHT_FUZZ_SECONDS": "9"}
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, env=environment, timeout=60)
    assert len((tmp_path / "end").read_text().splitlines()) == 1

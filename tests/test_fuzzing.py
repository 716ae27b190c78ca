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


def test_the_same_seeds_each_time_and_the_share_that_went_well(tmp_path: Path) -> None:
    seen = [list[float](), list[float]()]
    for draws in seen:
        share = fuzz(
            "some", 9, lambda chance, draws=draws: draws.append(drawn(chance)) or len(draws) % 3 == 0, tmp_path
        )
        assert share == pytest.approx(1 / 3)
    assert seen[0] == seen[1] and len(set(seen[0])) == 9
    assert not list(tmp_path.iterdir())


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


def test_new_seeds_until_the_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "FUZZ_SECONDS", 0.1)
    seen: list[float] = []
    for _ in range(2):
        fuzz("some", 0, lambda chance: not seen.append(drawn(chance)), tmp_path)
    assert len(set(seen)) == len(seen) > 2 and not list(tmp_path.iterdir())


def test_a_seed_that_ends_the_process_is_kept(tmp_path: Path) -> None:
    code = (
        "import os, sys, pathlib, tests.fuzzing as f; f.fuzz('end', 0, lambda _: os.abort(), pathlib.Path(sys.argv[1]))"
    )
    environment = {**os.environ, "HEADLIGHT_FUZZ_SECONDS": "9"}
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, env=environment, timeout=60)
    assert len((tmp_path / "end").read_text().splitlines()) == 1

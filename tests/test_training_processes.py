"""Several processes, as torchrun and `accelerate launch` start them, make the updates of one with the whole batch."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file

from headlight.runs import Recipe, RunFolder, status, work
from tests.small_run import MODEL, finished_run, lines, small_recipe
from transformer.files import write_json

pytestmark = pytest.mark.slow  # starts other processes for real


def launch(kind: str, *arguments: str) -> None:
    """Start the command line in two processes of this machine: by torchrun, or by `accelerate launch` of this kind."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    if kind != "torchrun":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        launcher = [sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "2", "--num_machines", "1"]
        launcher += ["--main_process_port", port, kind]
    # No GPU on a machine that tests: torch.distributed's "gloo" on the loopback.
    env = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    command = [*launcher, "-m", "headlight", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """Keys without a bias: its gradient is zero but for rounding, of which Adam makes a step of full size."""
    settings = {"steps": 3, "evaluate_every": 2, "accumulate": 2, "learning_rate": 0.001, "warmup": 1}
    return replace(small_recipe(tmp_path, **settings), model=replace(MODEL, qkv_bias=False, dropout=0.0))


def assert_same_updates(alone: RunFolder, both: RunFolder) -> None:
    assert status(both.path).state == "finished"
    for one, other in zip(lines(alone), lines(both), strict=True):
        assert one["loss"] == pytest.approx(other["loss"], abs=1e-6)
        assert one["gradient_norm"] == pytest.approx(other["gradient_norm"], rel=1e-5)
        assert one["tokens"] == other["tokens"]
    for file in ("model.safetensors", "optimizer.safetensors"):
        a, b = (load_file(run.checkpoints / "last" / file) for run in (alone, both))
        assert set(a) == set(b)
        for name, tensor in a.items():
            assert (tensor - b[name]).abs().max() < 1e-6, name


def test_two_processes_with_half_the_batch_each_make_the_updates_of_one(recipe: Recipe, tmp_path: Path) -> None:
    """By torchrun; `accelerate launch --multi_gpu` starts two processes in test_heads_command.py."""
    alone, both = finished_run(tmp_path, "alone", recipe), RunFolder(tmp_path / "both")
    launch("torchrun", *shlex.split(recipe.command(str(both.path)))[3:])
    assert_same_updates(alone, both)


def test_two_processes_with_half_of_the_model_each_do_so_too_from_a_checkpoint_on(
    recipe: Recipe, tmp_path: Path
) -> None:
    alone, both = finished_run(tmp_path, "alone", recipe), finished_run(tmp_path, "both", recipe)
    lengthened = replace(recipe, model=alone.recipe().model, training=replace(recipe.training, steps=6))
    write_json(alone.config, lengthened.to_dict())
    assert work(alone.path) == "finished"
    launch("--use_fsdp", "resume", str(both.path), "--steps", "6")
    assert_same_updates(alone, both)
    assert "sharded" in both.log.read_text()


def test_one_process_in_place_of_two_is_refused(tmp_path: Path) -> None:
    """`accelerate launch --cpu --num_processes 2` silently starts a single process on one machine."""
    launcher = [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2"]
    train = ["-m", "headlight", "train", "--data", "reverse", "--steps", "1", "--out", str(tmp_path / "run")]
    done = subprocess.run([*launcher, *train], capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "asked for 2 processes and started one" in done.stderr
    assert not (tmp_path / "run").exists()

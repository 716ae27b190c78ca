"""Unexpected values in the files of a run."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headlight.cli.verbs import main
from headlight.runs import RunFolder, state, status
from headlight.runs.metrics import parse_line
from tests.damage import PAUSED_STEP
from transformer.files import write_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
bounded = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


@pytest.mark.slow
@bounded
@given(data=st.data())
def test_no_value_in_a_status_is_a_traceback(run: RunFolder, data: st.DataObject) -> None:
    values = json.loads(run.status.read_text())
    keys = st.sampled_from(["state", "pid", "created", "host", "due", "heartbeat", "mended", "step", "steps"])
    for name in data.draw(st.lists(keys, max_size=3, unique=True)):
        values[name] = data.draw(json_values | st.sampled_from(["running", "queued", os.uname().nodename]))
    kept = run.status.read_bytes()
    write_json(run.status, values)
    run_status = status(run.path)
    assert run_status.steps >= run_status.step >= 0 or "step" in values
    assert main(["runs", str(run.path.parent)]) == 0
    run.status.write_bytes(kept)


@bounded
@given(data=st.data())
def test_no_value_in_a_training_json_is_a_traceback(run: RunFolder, data: st.DataObject) -> None:
    path = run.checkpoint(PAUSED_STEP) / "training.json"
    (path.parent / "files.json").unlink(missing_ok=True)
    kept = path.read_bytes()
    values = json.loads(kept)
    for name in data.draw(st.lists(st.sampled_from(sorted(values)), max_size=3, unique=True)):
        values[name] = data.draw(json_values)
    write_json(path, values)
    with suppress(ValueError):
        state.check(path.parent)
        assert values["step"] == PAUSED_STEP and 0 <= values["best"] <= PAUSED_STEP
    path.write_bytes(kept)


@bounded
@given(values=json_values, name=st.sampled_from(["step", "loss", "tokens", "seconds", "gradient_norm", "evaluation"]))
def test_no_value_in_a_line_of_metrics_is_a_traceback(values: Any, name: str) -> None:
    line = {"step": 3, "loss": 1.0, "tokens": 5, "seconds": 0.1, "gradient_norm": None, name: values}
    sound = parse_line(json.dumps(line).encode())
    if sound is not None:
        assert float(sound["loss"]) < 1e101 and isinstance(sound.get("evaluation", {}), dict)

"""The workflows of the host: pinned actions, few permissions, and commands that exist.

The host alone can run a workflow. What its steps name is checked here: targets, modules and files.
"""

import importlib.util
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import headlight

ROOT = Path(__file__).resolve().parents[1]
PATHS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS: dict[str, dict[Any, Any]] = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in PATHS}
JOBS = [(name, key, job) for name, workflow in WORKFLOWS.items() for key, job in workflow["jobs"].items()]
STEPS = [(f"{name}.{key}", step) for name, key, job in JOBS for step in job["steps"]]
COMMANDS = [(job, step["run"]) for job, step in STEPS if "run" in step]
TARGETS = set(re.findall(r"^([a-z]+)(?: [a-z]+)*:", (ROOT / "Makefile").read_text("utf-8"), re.M))

every_command = pytest.mark.parametrize(("job", "command"), COMMANDS)


def test_the_workflows_are_those_of_the_document() -> None:
    assert WORKFLOWS.keys() == {"audit", "container", "docs", "release", "tests"}
    described = (ROOT / "docs" / "releasing.md").read_text("utf-8")
    assert all(f"`{name}.yml`" in described for name in WORKFLOWS)


def test_each_action_is_pinned_by_its_commit_and_has_one_version() -> None:
    versions: dict[str, set[tuple[str, str]]] = {}
    for path in PATHS:
        for line in path.read_text("utf-8").splitlines():
            if "uses:" in line:
                pinned = re.fullmatch(r"\s*(?:- )?uses: ([\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)", line)
                assert pinned, f"{path.name}: {line}"
                versions.setdefault(pinned[1], set()).add((pinned[2], pinned[3]))
    assert versions and all(len(pins) == 1 for pins in versions.values()), versions


def test_a_job_may_only_read_except_where_it_publishes() -> None:
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in WORKFLOWS.values())
    wider = {f"{name}.{key}": job["permissions"] for name, key, job in JOBS if "permissions" in job}
    written = {job: {scope for scope, access in scopes.items() if access == "write"} for job, scopes in wider.items()}
    assert written == {
        "container.image": {"packages", "id-token", "attestations"},
        "docs.publish": {"pages", "id-token"},
        "release.attest": {"id-token", "attestations"},
        "release.publish": {"id-token"},
        "release.page": {"contents"},
    }
    for job, step in STEPS:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False, job
    assert "secrets." not in "".join(path.read_text("utf-8") for path in PATHS)
    assert all(job["timeout-minutes"] <= 120 for _, _, job in JOBS)


def test_no_step_pastes_an_expression_into_a_command() -> None:
    """Text of a branch or tag would become code; environment variables carry it instead."""
    assert not [command for _, command in COMMANDS if "${{" in command]


@every_command
def test_what_a_step_runs_is_here(job: str, command: str) -> None:
    for targets in re.findall(r"\bmake ((?:[a-z]+ ?)+)", command):
        assert set(targets.split()) <= TARGETS, job
    for module in re.findall(r"\bpython -m ([\w.]+)", command):
        assert importlib.util.find_spec(module), f"{job}: {module}"
    for path in re.findall(r"(?<=[ =])(?:requirements|tests|headlight|docs|deploy)[\w./-]*[\w]", command):
        assert (ROOT / path).exists(), f"{job}: {path}"
    subprocess.run(["bash", "-n"], input=command, text=True, check=True)


def test_the_matrix_is_what_the_package_promises() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    jobs = WORKFLOWS["tests"]["jobs"]
    pythons = jobs["linux"]["strategy"]["matrix"]["python"]
    assert jobs["other"]["strategy"]["matrix"]["python"] == pythons
    supported = SpecifierSet(project["requires-python"])
    assert all(version in supported for version in pythons) and pythons[0] in project["requires-python"]
    assert {name.partition("-")[0] for name in jobs["other"]["strategy"]["matrix"]["system"]} == {"macos", "windows"}


def test_a_release_refuses_a_tag_that_is_not_the_version() -> None:
    (check,) = (command for job, command in COMMANDS if job == "release.build" and "GITHUB_REF_NAME" in command)
    for tag, status in ((f"v{headlight.__version__}", 0), ("v0.0.1", 1), (headlight.__version__, 1)):
        done = subprocess.run(["bash", "-e", "-c", check], cwd=ROOT, env={**os.environ, "GITHUB_REF_NAME": tag})
        assert done.returncode == status, tag


def test_only_what_was_built_and_tried_is_published() -> None:
    jobs = WORKFLOWS["release"]["jobs"]
    assert "make installed" in "".join(step.get("run", "") for step in jobs["build"]["steps"])
    assert jobs["publish"]["needs"] == ["build", "attest"] and jobs["page"]["needs"] == "publish"
    assert jobs["publish"]["environment"] == "pypi"
    uploads = [step["with"] for step in jobs["build"]["steps"] if "upload-artifact@" in step.get("uses", "")]
    assert {upload["name"] for upload in uploads} == {"dist", "sbom"}
    for upload in uploads:  # `dist` is made by the steps before
        assert upload["path"] == "dist/" or (ROOT / upload["path"]).is_file()

"""Installed packages match the locks: every version is pinned, and every file except torch's has a hash."""

import json
import re
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LISTS = ROOT / "requirements"
LOCKS = sorted(LISTS.glob("*.lock"))
APP_LOCK = LISTS / "app.lock"
# Parts of the list of the tests.
BESIDE = {"train.txt", "import.txt", "notebook.txt"}
TORCH = "torch"  # has other files on other indexes
FOR_CARDS = ("nvidia-", "cuda-", "triton")  # what its builds for graphics cards ask for, and pin themselves

name = pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)


def listed(path: Path) -> list[Requirement]:
    """Return the requirements of a list, with those of the lists that it includes."""
    lines = [line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines()]
    included = [listed(path.parent / line.removeprefix("-r ")) for line in lines if line.startswith("-r ")]
    return [*map(Requirement, (line for line in lines if line and not line.startswith("-r "))), *chain(*included)]


def locked(path: Path) -> list[tuple[Requirement, list[str]]]:
    """Return each package of a lock with its hashes; the lock may contain nothing else."""
    text = "\n".join(line for line in path.read_text("utf-8").splitlines() if not line.lstrip().startswith("#"))
    pins = []
    for entry in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = re.split(r"\s+--hash=sha256:", entry.strip())
        assert all(re.fullmatch("[0-9a-f]{64}", one) for one in hashes), entry
        pins.append((Requirement(requirement), hashes))
    return pins


def list_of(lock: Path) -> Path:
    """The list that a lock was made of; the app's has the name that every tool looks for."""
    return ROOT / "requirements.txt" if lock.stem == "app" else lock.with_suffix(".txt")


def key(requirement: Requirement) -> str:
    return canonicalize_name(requirement.name)


def exact(requirement: Requirement) -> bool:
    pins = list(requirement.specifier)
    return len(pins) == 1 and pins[0].operator == "==" and "*" not in pins[0].version and requirement.url is None


def versions(path: Path) -> dict[str, set[str]]:
    """The versions of each package: more than one where a system or a Python needs another."""
    specifiers: dict[str, set[str]] = {}
    for requirement, _ in locked(path):
        specifiers.setdefault(key(requirement), set()).add(str(requirement.specifier))
    return specifiers


def test_each_list_has_its_lock() -> None:
    assert (ROOT / "requirements.txt").is_file()  # the list of requirements/app.lock, where every tool looks for it
    assert {path.stem for path in LOCKS} - {"app"} == {
        path.stem for path in LISTS.glob("*.txt") if path.name not in BESIDE
    }
    assert {key(one) for path in BESIDE for one in listed(LISTS / path)} <= {
        key(one) for one in listed(LISTS / "dev.txt")
    }


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def of_extra(extra: str) -> dict[str, Requirement]:
    """Return the requirements that an extra adds, with those of the extras that it includes."""
    own = {key(one): one for one in map(Requirement, EXTRAS[extra])}
    for other in (included.extras if (included := own.pop(PROJECT["name"], None)) else ()):
        own |= of_extra(other)
    return own


def test_the_project_asks_for_what_the_lists_pin() -> None:
    """The ranges of pyproject.toml hold what is tested: those of the library and the app together that of the app and
    of the notebook, those of another extra what its list adds to the app's."""
    app, notebook = ({key(one): one for one in listed(path)} for path in (list_of(APP_LOCK), LISTS / "notebook.txt"))
    asked = {key(one): one for one in map(Requirement, PROJECT["dependencies"])}
    assert not asked.keys() & of_extra("app").keys()
    asked |= of_extra("app")
    pinned = app | notebook
    assert asked.keys() == pinned.keys()
    for extra in ("train", "import"):
        added = {key(one): one for one in listed(LISTS / f"{extra}.txt") if key(one) not in app}
        assert of_extra(extra).keys() == added.keys()
        asked |= of_extra(extra)
        pinned |= added
    assert of_extra("all").items() == dict(chain(*(of_extra(extra).items() for extra in EXTRAS))).items()
    for name, one in pinned.items():
        (pin,) = one.specifier
        assert asked[name].specifier.contains(pin.version) and asked[name].marker == one.marker, name
        assert {"<"} < {bound.operator for bound in asked[name].specifier}, name  # of a range, with an end


@name
def test_a_list_is_pinned_and_its_lock_is_of_it(lock: Path) -> None:
    """`make lock` remakes one that is not."""
    wanted, pinned = listed(list_of(lock)), versions(lock)
    assert all(map(exact, wanted))
    assert {key(one): {str(one.specifier)} for one in wanted if key(one) != TORCH}.items() <= pinned.items()


@name
def test_everything_in_a_lock_has_one_version_and_hashes(lock: Path) -> None:
    for requirement, hashes in locked(lock):
        assert exact(requirement) and not requirement.extras and hashes, requirement
        assert len(set(hashes)) == len(hashes)
    assert not [package for package in versions(lock) if package == TORCH or package.startswith(FOR_CARDS)]


@name
def test_a_lock_names_no_index(lock: Path) -> None:
    assert not re.search(r"://|index|find-links", re.sub(r"#.*", "", lock.read_text("utf-8")))


@pytest.mark.parametrize("other", ["requirements/dev.lock", "requirements/bench.lock"])
def test_who_shares_an_environment_agrees(other: str) -> None:
    assert versions(ROOT / "requirements/app.lock").items() <= versions(ROOT / other).items()


def asked_by(package: str) -> list[Requirement]:
    """Return the requirements of an installed package on this machine, without its extras."""
    asked = map(Requirement, metadata.requires(package) or ())
    return [one for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})]


@pytest.mark.parametrize("name", ["requirements/app.lock", "requirements/dev.lock"])
def test_here_is_installed_what_is_locked_and_it_asks_for_nothing_else(name: str) -> None:
    """`make` installs it; what its packages and torch ask for on this machine is in the lock."""
    requirements = (one for one, _ in locked(ROOT / name) if one.marker is None or one.marker.evaluate())
    here = {key(one): next(iter(one.specifier)).version for one in requirements}
    assert {package: metadata.version(package) for package in here} == here
    for package in (*here, TORCH):
        for one in asked_by(package):
            if key(one) != TORCH and not (package == TORCH and key(one).startswith(FOR_CARDS)):
                assert one.specifier.contains(here[key(one)], prereleases=True), f"{package} asks for {one}"


def test_the_compiler_of_the_scripts_types_is_pinned_and_known_by_its_hash() -> None:
    folder = ROOT / "headlight/viewer/js"
    wanted, lock = (json.loads((folder / name).read_text("utf-8")) for name in ("package.json", "package-lock.json"))
    own, packages = lock["packages"].pop(""), lock["packages"]
    assert own["devDependencies"] == wanted["devDependencies"] and "dependencies" not in wanted
    for name, version in wanted["devDependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version) and packages[f"node_modules/{name}"]["version"] == version
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    assert "://" not in json.dumps(packages), "A lock that names a registry binds everybody to it."


def test_what_is_described_to_the_resolver_is_of_the_versions_that_are_installed() -> None:
    """Written down is what torch asks for, which is left out of the locks, and Inseq; check that again for others."""
    every = tomllib.loads((ROOT / "tools/lock.toml").read_text("utf-8"))["dependency-metadata"]
    assert [one["name"] for one in every] == [TORCH, "inseq"]
    for one in every:
        lists = [
            requirement for path in [ROOT / "requirements.txt", *LISTS.glob("*.txt")] for requirement in listed(path)
        ]
        pins = {str(requirement.specifier) for requirement in lists if key(requirement) == one["name"]}
        assert pins == {f"=={one['version']}"}
    described = every[0]
    asked = {str(one) for one in asked_by(TORCH) if not key(one).startswith(FOR_CARDS)}
    assert asked == set(described["requires-dist"])


def test_what_installs_uses_the_locks_and_one_index_at_a_time() -> None:
    make, container = ((ROOT / path).read_text("utf-8") for path in ("Makefile", "deploy/Dockerfile"))
    assert all(len(re.findall(rf"\$\(LOCKED\) requirements/{lock.name}\b", make)) == 1 for lock in LOCKS)
    for text in (make, container):
        assert "extra-index-url" not in text
        assert "--require-hashes --no-deps --only-binary :all:" in text
    assert re.search(r"^FROM \S+:\S+@sha256:[0-9a-f]{64}$", container, re.M)
    assert len(re.findall(r"^FROM ", container, re.M)) == 1


def test_the_wheel_says_that_both_packages_have_types() -> None:
    files = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {"headlight/py.typed", "transformer/py.typed", "headlight/__init__.py"} <= files

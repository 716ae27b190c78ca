"""The wheel as a user installs it, without an extra and with the app, started in another folder, without a network.

`make installed` builds it, installs it in two empty environments, and runs this in a network namespace that has nothing
but the loopback.
"""

import fcntl
import os
import re
import socket
import struct
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tools.serving import launch, wait_until_idle

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK, APP = (ROOT / "build" / "installed" / name / "bin" for name in ("notebook", "app"))
SHIPPED = sorted(path.name for path in (ROOT / "checkpoints").iterdir() if path.is_dir())
MAX_WHEEL_BYTES = 100_000_000  # bytes of the wheel


@pytest.fixture(scope="module", autouse=True)
def network() -> None:
    """A new namespace has its loopback switched off, and nothing else to switch on."""
    if [name for _, name in socket.if_nameindex()] != ["lo"]:
        return  # there was none to have
    set_flags, up = 0x8914, 0x1  # SIOCSIFFLAGS and IFF_UP of linux/sockios.h and net/if.h
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", up))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def environment(home: Path) -> dict[str, str]:
    """A user's: nothing points to the repository."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}
    return {**kept, "HOME": str(home)}


@pytest.fixture(params=[NOTEBOOK, APP], ids=["notebook", "app"])
def bin_(request: pytest.FixtureRequest) -> Path:
    """The commands of either installation."""
    path: Path = request.param
    return path


def run(home: Path, environment: dict[str, str], program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [program, *arguments]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=120)


def test_the_wheel_has_two_modules_and_a_bearable_size() -> None:
    (wheel,) = (ROOT / "dist").glob("headlight_attention-*.whl")
    assert wheel.stat().st_size <= MAX_WHEEL_BYTES
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"headlight", "transformer"}
    assert {"headlight/py.typed", "transformer/py.typed"} <= set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_has_its_list_of_components() -> None:
    (wheel,) = (ROOT / "dist").glob("headlight_attention-*.whl")
    (name,) = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/sboms/" in name]
    assert name.endswith("/headlight.cdx.json")
    assert zipfile.ZipFile(wheel).read(name) == (ROOT / "requirements" / "headlight.cdx.json").read_bytes()


def test_the_library_has_an_unambiguous_name(bin_: Path, home: Path, environment: dict[str, str]) -> None:
    code = "import headlight, transformer; assert headlight.load and transformer.load; print(headlight.__file__)"
    done = run(home, environment, bin_ / "python", "-c", code)
    assert done.returncode == 0 and str(bin_.parent) in done.stdout, done.stderr
    for module in ("ui", "pages", "app", "tools", "server"):
        assert "ModuleNotFoundError" in run(home, environment, bin_ / "python", "-c", f"import {module}").stderr


def test_a_notebook_needs_no_extra_and_the_app_names_its_own(home: Path, environment: dict[str, str]) -> None:
    code = "import headlight; view = headlight.show(headlight.load('en-fr').trace('A dog runs.'))\n"
    code += "print(view, len(view._repr_mimebundle_()[0]))"
    done = run(home, environment, NOTEBOOK / "python", "-c", code)
    assert done.returncode == 0 and done.stdout.startswith("View(encoder "), done.stderr
    for module in ("streamlit", "redis", "typst", "plotly", "pandas", "pyarrow", "datasets"):
        assert "ModuleNotFoundError" in run(home, environment, NOTEBOOK / "python", "-c", f"import {module}").stderr
    done = run(home, environment, NOTEBOOK / "headlight")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'headlight: The app needs streamlit: pip install "headlight-attention[app]"\n'


def test_the_doctor_finds_every_model_well(bin_: Path, home: Path, environment: dict[str, str]) -> None:
    done = run(home, environment, bin_ / "headlight", "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"\n{name}: " in done.stdout for name in SHIPPED)
    assert "runs: ~/.local/share/headlight/runs" in done.stdout


def test_a_model_goes_by_its_name(bin_: Path, home: Path, environment: dict[str, str]) -> None:
    done = run(home, environment, bin_ / "headlight", "translate", "reverse", "headlight")
    assert (done.returncode, done.stdout) == (0, "thgildaeh\n"), done.stderr


@pytest.fixture(scope="module")
def address(home: Path, environment: dict[str, str]) -> Iterator[str]:
    with (home / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [APP / "headlight", "app", "--no-browser"], cwd=home, env=environment, stdout=subprocess.PIPE, stderr=log
        )
    assert process.stdout is not None
    try:
        said = iter(process.stdout.readline, b"")
        yield next(found[0] for line in said if (found := re.search(r"http://localhost:\d+", line.decode())))
    finally:
        process.terminate()
        process.wait(20)


def test_the_first_picture(address: str, home: Path) -> None:
    errors: list[str] = []
    with sync_playwright() as playwright:
        page = launch(playwright).new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(address)
        wait_until_idle(page)
        assert page.locator(".st-key-overview canvas").count() > 0, page.inner_text("body")
        page.goto(f"{address}/positions")  # Plotly's script, from its own package
        wait_until_idle(page)
        assert page.locator(".js-plotly-plot").count() > 0
    assert errors == []
    written = {path.relative_to(home).parts[0] for path in home.rglob("*")}
    assert written <= {".cache", ".config", ".local", ".streamlit", "log.txt", ".pki"}, written

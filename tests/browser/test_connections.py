"""Every page and what is done on some: whole, accessible, and no server or child process connects to anything but the
loopback.

The server runs under strace, which sees the connections of every thread and child, those of native libraries too, and
those that fail. The settings that keep the tests from the Hub are taken away, so that the app is as a user starts it.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_accessibility import faults
from tests.browser.test_deep_links import is_whole, nothing_refused
from tests.browser.test_login import WATCH
from tests.links import LINKS
from tests.small_run import pairs_file, wait_until
from tools.serving import Process, serve, wait_until_idle

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "tests/fixtures/joeynmt-post"
CALLS = ["connect", "sendto", "sendmsg", "sendmmsg"]
STRACE = ["strace", "-f", "--daemonize", "--seccomp-bpf", "-s", "0", "-e", f"trace={','.join(CALLS)}", "-o"]
# An address in a line of strace, of the internet or of the service that looks names up.
ADDRESS = re.compile(r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)"')
RESOLVER = re.compile(r'sun_path="([^"]*(?:resolve|nss|dns)[^"]*)"')


def foreign(log: Path) -> set[str]:
    """Return the addresses in a log of strace that are not this machine's, and the name servers, wherever they are."""
    text = log.read_text(errors="replace")
    found = {f"{name}, port {port}" for port, name in ADDRESS.findall(text) if port == "53" or not is_loopback(name)}
    return found | set(RESOLVER.findall(text))


def is_loopback(name: str) -> bool:
    address = ip_address(name)
    mapped = getattr(address, "ipv4_mapped", None)  # the loopback of IPv4, written as an address of IPv6
    return (mapped or address).is_loopback


@pytest.fixture
def traced(tmp_path: Path) -> Callable[[list[str], Path, Path], Process] | None:
    """Start Streamlit under strace, whose log is tmp_path/strace.txt, with its output in a file.

    None where there is no strace, or where it may not follow a process.
    """
    if not shutil.which("strace"):
        return None

    def python(arguments: list[str], folder: Path, log: Path) -> Process:
        command = [*STRACE, str(tmp_path / "strace.txt"), sys.executable, *arguments]
        with log.open("wb") as output:
            return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    # 192.0.2.1 is in a block for documentation, which nobody has; a datagram's `connect` sends nothing.
    probe = "import socket; socket.socket(type=socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"
    python(["-c", probe], tmp_path, tmp_path / "probe.txt").wait(60)
    if "ptrace" in (tmp_path / "probe.txt").read_text():
        return None
    wait_until(lambda: "exited" in (tmp_path / "strace.txt").read_text())
    assert foreign(tmp_path / "strace.txt") == {"192.0.2.1, port 9"}  # or it would find nothing ever
    return lambda arguments, *to: python(["-m", "streamlit", *arguments], *to)


@pytest.fixture
def app(traced: Callable[..., Process] | None, tmp_path: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_RUNS", str(tmp_path / "runs"))
        patch.setenv("HEADLIGHT_MODELS", str(tmp_path / "models"))
        patch.delenv("HF_HUB_OFFLINE")
        patch.delenv("HF_DATASETS_OFFLINE")
        log = tmp_path / "log.txt"
        # The app's own .streamlit/config.toml is to keep Streamlit from sending what it would.
        more = {"browser.gatherUsageStats": ""}
        with serve(ROOT / "app.py", log, more=more, start=traced) as url:
            yield url


def test_every_page_training_and_an_import_are_accessible_and_connect_to_the_loopback_alone(
    fresh_page: Page, app: str, traced: Callable[..., Process] | None, tmp_path: Path
) -> None:
    """From the first request of a server to a model that was trained on its pages, and to one that was imported.

    The policy (server/headers.py) is the same with a password and without.
    """
    page, asked, refused, wrong = fresh_page, set[str](), set[str](), {}
    page.add_init_script(WATCH)  # what the policy of the server refuses need not become a request
    page.on("request", lambda request: asked.add(request.url))
    page.on("websocket", lambda socket: asked.add(socket.url))
    for link, title in LINKS.items():
        if link.startswith("/attention"):  # the same page as /
            continue
        with nothing_refused(page):
            page.goto(app + link, wait_until="commit")
            expect(page.get_by_role("heading", level=1)).to_have_text(title)
            wait_until_idle(page)
        is_whole(page, app, link)
        assert page.get_by_test_id("stException").count() == 0, title
        if found := faults(page):
            wrong[title] = found
        refused |= set(page.evaluate("refused"))
    assert not wrong, json.dumps(wrong, indent=1)

    page.goto(f"{app}/training?data=file&size=mini")
    place = page.get_by_role("textbox", name="File or files")
    place.fill(pairs_file(tmp_path))
    place.press("Enter")
    expect(page.get_by_text("100 pairs")).to_be_visible()
    page.get_by_label("Steps", exact=True).fill("3")
    page.get_by_label("Name", exact=True).fill("letters")
    page.wait_for_timeout(1000)
    page.get_by_role("button", name="Start training").dblclick()
    expect(page.locator(".facts")).to_be_visible()
    expect(page).to_have_url(re.compile("run=letters"))
    page.reload()  # in the middle
    expect(page.locator(".run[aria-current]")).to_contain_text("letters")
    expect(page.locator(".run[aria-current]")).to_contain_text("Finished", timeout=600_000)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["letters"]
    expect(page.locator(".writes tr[data-step]")).to_have_count(1)
    page.get_by_role("button", name="Attention", exact=True).click()
    expect(page.locator(".thumb").first).to_be_visible()
    wait_until_idle(page)
    expect(page).to_have_url(re.compile("model=runs%2Fletters"))
    expect(page.locator(".translation")).to_be_visible()

    page.goto(f"{app}/checkpoints?importing=1")
    place = page.get_by_role("textbox", name="Hub model ID")
    place.fill(str(MODEL))
    place.press("Enter")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page).to_have_url(re.compile(r"model=models%2F"))
    wait_until_idle(page)
    refused |= set(page.evaluate("refused"))

    own = (app, app.replace("http", "ws", 1), "data:", "blob:", "about:")
    assert {url for url in asked if not url.startswith(own)} | refused == set()
    assert any(url.startswith("ws") for url in asked) and len(asked) > 20
    assert list((tmp_path / "models").iterdir())
    if traced is None:
        pytest.skip("no strace can follow the server here: `apt-get install strace`")
    assert foreign(tmp_path / "strace.txt") == set()

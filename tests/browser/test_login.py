"""The password page in a real browser, and what the policy that the server sends keeps out."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest
from playwright.sync_api import Page, expect

from tests.forked import serve_forked
from tools import production
from tools.serving import wait_until_idle

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a good long password"
NARROW = {"width": 390, "height": 844}
# What the browser refused because of the policy, wherever on the page it was asked for.
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", e => refused.push(`${e.effectiveDirective}: ${e.blockedURI}`));
"""

# The contrast of a text with what is behind it, as WCAG reckons it.
CONTRAST = """element => {
  const channels = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = text => {
    const [r, g, b] = channels(text).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const below = e => {
    const colour = getComputedStyle(e).backgroundColor;
    return colour === "rgba(0, 0, 0, 0)" && e.parentElement ? below(e.parentElement) : colour;
  };
  const [a, b] = [light(getComputedStyle(element).color), light(below(element))].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}"""


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app with a password, in the settings of `make serve`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_PASSWORD", PASSWORD)
        log = tmp_path_factory.mktemp("locked") / "log.txt"
        with serve_forked(ROOT / "app.py", log, more=production.options()) as address:
            yield address


@pytest.fixture
def asked(page: Page, errors: list[str]) -> Iterator[Page]:
    """A page that is asked for the password: that its answer is 401 is what the browser logs as an error."""
    yield page
    errors[:] = [error for error in errors if "401" not in error and "429" not in error]


def enter(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Open").click()
    wait_until_idle(page)


def test_the_keyboard_is_enough(asked: Page, locked: str) -> None:
    asked.goto(f"{locked}/?text=A+man+sleeps.")
    field = asked.get_by_label("Password")
    expect(field).to_be_focused()
    asked.keyboard.type("no idea at all")
    asked.keyboard.press("Enter")
    expect(asked.get_by_role("alert")).to_have_text("Wrong password. Capital letters and spaces count.")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    asked.keyboard.type(PASSWORD)
    asked.keyboard.press("Tab")
    expect(asked.get_by_role("button", name="Open")).to_be_focused()
    asked.keyboard.press("Enter")
    wait_until_idle(asked)
    # Where one was going, without the password in the address.
    assert "A+man+sleeps." in asked.url and "password" not in asked.url
    asked.reload()
    wait_until_idle(asked)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(
    new_page: Callable[..., Page], errors: list[str], locked: str, theme: str
) -> None:
    page = new_page(color_scheme=theme, viewport=NARROW)
    page.goto(locked)
    page.get_by_label("Password").fill("no idea at all")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    for part in (page.get_by_label("Password"), page.get_by_role("button")):
        box = part.bounding_box()
        assert box and box["height"] >= 44 and box["x"] >= 0 and box["x"] + box["width"] <= NARROW["width"]
    for part in ("h1", "p", "label", "#alert", "button"):
        assert page.locator(part).first.evaluate(CONTRAST) >= 4.5, part
    errors[:] = [error for error in errors if "401" not in error]


def test_a_download_is_for_who_signed_in_and_the_policy_stops_what_is_not_the_apps(
    asked: Page, errors: list[str], locked: str
) -> None:
    """A script, and one and a picture from elsewhere; test_connections.py lets every page do its work."""
    enter(asked, locked)
    asked.get_by_test_id("stPopover").filter(has_text="Export").get_by_role("button").first.click()
    with asked.expect_download() as wanted:
        asked.get_by_text("CSV, the exact weights").click()
    assert Path(wanted.value.path()).read_text().count("\n") > 3
    outside = build_opener(ProxyHandler({}))
    with pytest.raises(OSError, match="401"):
        outside.open(wanted.value.url)
    assert not [error for error in errors if "Content Security Policy" in error]
    asked.evaluate(WATCH)
    asked.evaluate("""() => {
      const add = (tag, given) => document.body.append(Object.assign(document.createElement(tag), given));
      add("script", {textContent: "window.intruder = 1"});
      add("script", {src: "https://evil.example/x.js"});
      add("img", {src: "https://evil.example/x.png"});
    }""")
    asked.wait_for_function("refused.length >= 3")
    assert not asked.evaluate("'intruder' in window")
    errors[:] = [error for error in errors if "Content Security Policy" not in error]


def test_another_site_cannot_frame_it(asked: Page, errors: list[str], locked: str) -> None:
    # The same server by its other name is another site to a browser.
    asked.goto(locked)
    asked.evaluate(f"""() => document.body.append(Object.assign(document.createElement("iframe"), {{
      src: "{locked.replace("127.0.0.1", "localhost")}/_stcore/health"
    }}))""")
    asked.wait_for_timeout(1000)
    (_, frame) = asked.frames
    assert "chrome-error" in frame.url or not frame.locator("body").inner_text()
    errors.clear()

"""One app and one Chromium for all browser tests; a fresh page for each.

A missing Chromium fails these tests rather than skipping them: `make test` installs one.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tools.serving import VIEWPORT, launch, serve, wait_until_idle

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

Opener = Callable[..., Page]

# On a busy machine a chart takes its time; a failure takes this long to show, a success does not.
expect.set_options(timeout=60_000)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark this folder's tests and run them last: quick failures first, and Playwright's event loop, once
    started, stays with its thread."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: HERE in item.path.parents)


@pytest.fixture(scope="session", autouse=True)
def no_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The runs and imported models of whoever tests here are no models of the app under test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_RUNS", str(tmp_path_factory.mktemp("runs")))
        patch.setenv("HEADLIGHT_MODELS", str(tmp_path_factory.mktemp("models")))
        yield


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the real app, run as a user runs it."""
    with serve(ROOT / "app.py", tmp_path_factory.mktemp("app") / "log.txt") as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            chromium = launch(playwright)
        except RuntimeError as error:
            pytest.fail(str(error), pytrace=False)
        yield chromium
        chromium.close()


@pytest.fixture
def errors() -> list[str]:
    """What the page's scripts complained about; the test fails if anything is in here at its end."""
    return []


@pytest.fixture
def new_page(browser: Browser, errors: list[str]) -> Iterator[Opener]:
    """Open pages of 1280 x 720: `new_page(color_scheme="dark")`, `new_page(viewport=...)`.

    At the end of the test each page must show no exception and have logged no error.
    """
    contexts, pages = [], []

    def opener(**options: object) -> Page:
        context = browser.new_context(
            **{"viewport": VIEWPORT, "reduced_motion": "reduce", "accept_downloads": True, **options}
        )
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(f"page error: {error}"))
        page.on("console", lambda message: errors.extend(_own_errors(message)))
        contexts.append(context)
        pages.append(page)
        return page

    yield opener
    for page in pages:
        errors += [f"on the page: {text}" for text in page.get_by_test_id("stException").all_inner_texts()]
    for context in contexts:
        context.close()
    assert not errors, "\n".join(errors)


@pytest.fixture
def page(new_page: Opener) -> Page:
    """One page in the light theme."""
    return new_page(color_scheme="light")


@pytest.fixture
def dark_page(new_page: Opener) -> Page:
    """One page in the dark theme: Streamlit follows the browser's preference."""
    return new_page(color_scheme="dark")


@pytest.fixture
def idle() -> Callable[[Page], None]:
    """Wait until the page has nothing more to run or to draw."""
    return wait_until_idle


def _own_errors(message: ConsoleMessage) -> list[str]:
    """The message if it is an error of the app; Streamlit's own look-ups on the internet are not.

    Nor are those for its server below the address of a page, where it looks first.
    """
    source = message.location.get("url", "")
    own = not source or source.startswith(("http://127.0.0.1", "file:", "blob:"))
    own = own and "/_stcore/" not in source
    return [f"console: {message.text}"] if message.type == "error" and own else []

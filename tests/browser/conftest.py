"""One app and one Chromium for all browser tests; an empty page for each.

A missing Chromium fails these tests rather than skipping them: `make test` installs one.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from playwright.sync_api import Browser, Page, Playwright, Request, expect, sync_playwright

from headlight import checkpoints
from headlight.cli.verbs import main
from headlight.web.model_file import round_weights
from tests.browser.tabs import Tabs, listen, new_context
from tests.forked import serve_forked
from tools.serving import launch, serve, wait_until_idle
from transformer import Translator

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
def own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The runs and imported models of whoever tests here are no models of the app under test."""
    with pytest.MonkeyPatch.context() as set_:
        set_.setenv("HEADLIGHT_RUNS", str(tmp_path_factory.mktemp("runs")))
        set_.setenv("HEADLIGHT_MODELS", str(tmp_path_factory.mktemp("models")))
        yield dict(os.environ)


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory, own_environment: dict[str, str]) -> Iterator[str]:
    """The address of the real app, run as a user runs it, with none of the folders that a module has set for itself."""
    with ExitStack() as stack:
        with patch.dict(os.environ, own_environment, clear=True):
            address = stack.enter_context(serve(ROOT / "app.py", tmp_path_factory.mktemp("app") / "log.txt"))
        yield address


@pytest.fixture(scope="session")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the models of `small_url`, to which modules add their own; pages open with the model "odd"."""
    from tests.browser.odd import save_odd

    folder = tmp_path_factory.mktemp("small-models")
    save_odd(folder / "odd")
    return folder


@pytest.fixture(scope="session")
def small_url(small_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ExitStack() as serving:
        with pytest.MonkeyPatch.context() as set_:  # over before the tests of other files
            set_.setenv("HEADLIGHT_CHECKPOINTS", str(small_models))
            log = tmp_path_factory.mktemp("small-app") / "log.txt"
            address = serving.enter_context(serve_forked(ROOT / "app.py", log))
        yield address


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published page of english-french, in one file."""
    path = tmp_path_factory.mktemp("published") / "page.html"
    assert main(["publish", "english-french", "--single", str(path)]) == 0
    return path


@pytest.fixture(scope="session")
def published_model() -> Translator:
    """The model of that page, with its rounded weights."""
    checkpoint = checkpoints.load("english-french")
    round_weights(checkpoint.model)
    return Translator(checkpoint)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    try:
        chromium = launch(playwright)
    except RuntimeError as error:
        pytest.fail(str(error), pytrace=False)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Tabs:
    return Tabs(browser)


@pytest.fixture
def errors(tabs: Tabs) -> list[str]:
    """Return the list of script errors of the page; a test fails if the list is not empty at its end."""
    tabs.errors = []
    return tabs.errors


@pytest.fixture
def new_page(browser: Browser, tabs: Tabs, errors: list[str]) -> Iterator[Opener]:
    """Open pages of 1280 x 720: `new_page(color_scheme="dark")`, `new_page(viewport=...)`.

    `new_page(fresh=True)` is for a test that adds listeners, routes or scripts to its page, or that asks what a browser
    does which has never been here; with `first_visit=True` the first page then shows its tour. At the end of the test
    each page must show no exception and have logged no error.
    """
    taken: list[Page] = []
    fresh_pages: list[Page] = []

    def opener(fresh: bool = False, **options: Any) -> Page:
        if not fresh:
            taken.append(tabs.take(**options))
            return taken[-1]
        page = new_context(browser, **options).new_page()
        listen(page, tabs)
        fresh_pages.append(page)
        return page

    yield opener
    for page in taken + fresh_pages:
        errors += [f"on the page: {text}" for text in page.get_by_test_id("stException").all_inner_texts()]
    for page in fresh_pages:
        page.context.close()
    for page in taken:
        tabs.give_back(page)
    assert not errors, "\n".join(errors)


@pytest.fixture
def page(new_page: Opener) -> Page:
    """Open a page in the light theme."""
    return new_page()


@pytest.fixture
def fresh_page(new_page: Opener) -> Page:
    """A page of a browser that has never been here, for the test alone."""
    return new_page(fresh=True, color_scheme="light")


@pytest.fixture
def dark_page(new_page: Opener) -> Page:
    """Open a page in the dark theme: Streamlit follows the browser's preference."""
    return new_page(color_scheme="dark")


@pytest.fixture
def idle() -> Callable[[Page], None]:
    """Wait until the page has nothing more to run or to draw."""
    return wait_until_idle


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A page without a network, for published files, that may complain of nothing."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page, complaints = context.new_page(), list[str]()

    def note_network(request: Request) -> None:
        if not request.url.startswith(("file:", "blob:")):
            complaints.append(request.url)

    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", note_network)
    yield page
    assert complaints == []
    context.close()

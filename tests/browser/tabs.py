"""Tabs that outlive a test.

Streamlit's scripts are several megabytes, and a tab that has run them keeps them compiled: a page that is opened in it
costs half of the processor's time of one in a new tab. Nothing else is to outlive a test. Each has a window of its own:
a tab behind another is painted late and not given the whole screen.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Error, Page

from tools.serving import VIEWPORT, skip_tour

DEFAULT_TIMEOUT_MS = 30_000  # Playwright's own default


class Tabs:
    """`errors` is where a page's errors go: the list of the test that has the page."""

    def __init__(self, browser: Browser) -> None:
        self.errors: list[str] = []
        self._browser = browser
        self._free: list[Page] = []

    def take(self, color_scheme: Any = "light", viewport: Any = VIEWPORT) -> Page:
        if not self._free:
            page = new_context(self._browser).new_page()
            listen(page, self)
            self._free.append(page)
        page = self._free.pop()
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme, reduced_motion="reduce")
        return page

    def give_back(self, page: Page) -> None:
        """Leave nothing behind: of the page, what it stored, where the pointer was, what Back leads to, other tabs."""
        try:
            if page.url.startswith("http"):
                page.evaluate("localStorage.clear(); sessionStorage.clear()")
            page.goto("about:blank")
            page.mouse.move(0, 0)
            page.set_default_timeout(DEFAULT_TIMEOUT_MS)
            session = page.context.new_cdp_session(page)
            session.send("Page.resetNavigationHistory")
            session.detach()
            for other in page.context.pages:
                if other is not page:
                    other.close()
            page.context.clear_cookies()
            page.context.set_offline(False)
        except Error:  # it was closed, or has crashed
            page.context.close()
        else:
            self._free.append(page)


def new_context(browser: Browser, first_visit: bool = False, **options: Any) -> BrowserContext:
    """Open a context; without `first_visit` it belongs to somebody who has already seen the tour of the first page."""
    context = browser.new_context(
        **{"viewport": VIEWPORT, "reduced_motion": "reduce", "accept_downloads": True, **options}
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    return context if first_visit else skip_tour(context)


def listen(page: Page, to: Tabs) -> None:
    """Record the errors of a page. A dialog counts as one: only the script of a hostile token would open it."""

    def refuse(dialog: Dialog) -> None:
        to.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("pageerror", lambda error: to.errors.append(f"page error: {error}"))
    page.on("console", lambda message: to.errors.extend(_own_errors(message)))
    page.on("dialog", refuse)


def _own_errors(message: ConsoleMessage) -> list[str]:
    """The message if it is an error of the app; Streamlit's own look-ups on the internet are not.

    Nor are those for its server below the address of a page, where it looks first.
    """
    source = message.location.get("url", "")
    own = not source or source.startswith(("http://127.0.0.1", "file:", "blob:"))
    own = own and "/_stcore/" not in source
    return [f"console: {message.text}"] if message.type == "error" and own else []

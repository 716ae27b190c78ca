"""Draw every page of the app in both themes, as docs/images/<page>-<theme>.png.

Run it from the repository's root: `make screenshots`, or `python -m tools.screenshots [folder]`.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tools.serving import VIEWPORT, launch, serve, skip_tour, wait_until_idle

ROOT = Path(__file__).resolve().parents[1]
QUERIES = {"heads": "?model=english-french"}  # where another model than the app's first shows a page best
# An icon stands before the label as text of its own line, so the last line is the label.
_LINKS = "links => links.map(link => [link.innerText.split('\\n').pop(), link.pathname])"


def page_paths(page: Page) -> dict[str, str]:
    """Return the pages of the navigation that `page` shows, {"attention": "/", "decoding": "/decoding", ...}."""
    links = page.get_by_test_id("stSidebarNavLink").evaluate_all(_LINKS)
    return {label.strip().lower().replace(" ", "-"): path for label, path in links}


def shoot(folder: Path) -> None:
    """Write one PNG for each page and theme, and print their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as logs, sync_playwright() as playwright:
        browser = launch(playwright)
        with serve(ROOT / "app.py", Path(logs) / "log.txt") as address:
            for theme in ("light", "dark"):
                context = browser.new_context(viewport=VIEWPORT, color_scheme=theme, reduced_motion="reduce")
                page = skip_tour(context).new_page()
                page.goto(address)
                wait_until_idle(page)
                for name, path in page_paths(page).items():
                    page.goto(address + path + QUERIES.get(name, ""))
                    wait_until_idle(page)
                    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=300_000)  # what is measured
                    wait_until_idle(page)
                    page.mouse.move(0, 0)
                    picture = folder / f"{name}-{theme}.png"
                    page.screenshot(path=picture)
                    print(picture)
                context.close()
        browser.close()


if __name__ == "__main__":
    shoot(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images")

"""Draw every page of the app in both themes, as docs/images/<page>-<theme>.png.

Run it from the repository's root: `make screenshots`, or `python -m tools.screenshots [app.py [folder]]`.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tools.serving import VIEWPORT, launch, serve, skip_tour, wait_until_idle

ROOT = Path(__file__).resolve().parents[1]
# An icon stands before the label as text of its own line, so the last line is the label.
_LINKS = "links => links.map(link => [link.innerText.split('\\n').pop(), link.pathname])"


def query(page: str) -> str:
    """Return the parameters that a page is opened with, where another model than the app's first shows it best."""
    model = {"heads": "english-french"}.get(page, "")
    return f"?model={model}" if model and (ROOT / "checkpoints" / model).is_dir() else ""


def page_paths(page: Page, app: Path) -> dict[str, str]:
    """Return the pages of the navigation that `page` shows, {"attention": "/", "decoding": "/decoding", ...}."""
    links = page.get_by_test_id("stSidebarNavLink").evaluate_all(_LINKS)
    if links:
        return {label.strip().lower().replace(" ", "-"): path for label, path in links}
    # Streamlit draws no navigation for a single page.
    return {script.stem: "/" for script in sorted(app.parent.glob("pages/*.py"))[:1]}


def shoot(app: Path, folder: Path) -> list[Path]:
    """Write one PNG for each page and theme and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    with tempfile.TemporaryDirectory() as logs, sync_playwright() as playwright:
        browser = launch(playwright)
        with serve(app, Path(logs) / "log.txt") as address:
            for theme in ("light", "dark"):
                context = browser.new_context(viewport=VIEWPORT, color_scheme=theme, reduced_motion="reduce")
                page = skip_tour(context).new_page()
                page.goto(address)
                wait_until_idle(page)
                for name, path in page_paths(page, app).items():
                    page.goto(address + path + query(name))
                    wait_until_idle(page)
                    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=300_000)  # what is measured
                    wait_until_idle(page)
                    page.mouse.move(0, 0)
                    pictures.append(folder / f"{name}-{theme}.png")
                    page.screenshot(path=pictures[-1])
                context.close()
        browser.close()
    return pictures


def main() -> None:
    app = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "app.py").resolve()
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "images"
    for path in shoot(app, folder):
        print(path)


if __name__ == "__main__":
    main()

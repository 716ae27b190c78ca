"""Pages run without a browser."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

PAGES = Path(__file__).resolve().parents[2] / "pages"


def page_at(page: str, **query: str) -> AppTest:
    """Return the page at an address, not yet run."""
    app = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=300)
    for name, value in query.items():
        app.query_params[name] = value
    return app


def open_page(page: str, **query: str) -> AppTest:
    """Return the page at an address, run without an error."""
    return ran(page_at(page, **query))


def ran(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception and not app.error, (app.exception, app.error)
    return app

"""A link to a page, followed as the very first request of a server: whatever is imported first, the page is whole.

tests/browser/test_connections.py and test_deep_links.py follow the others in a browser.
"""

import asyncio
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.proto.Alert_pb2 import Alert

from tests.forked import serve_forked
from tests.links import FIRST, LINKS
from tools.streamlit_client import open_session

pytestmark = pytest.mark.slow  # starts a server for each
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("link", [link for link in LINKS if link not in FIRST])
def test_the_first_request_of_a_server_runs_the_page(tmp_path: Path, link: str) -> None:
    parts = urlsplit(link)
    page, query = parts.path.strip("/"), dict(parse_qsl(parts.query))

    async def follow(url: str) -> None:
        async with open_session(url, page, **query) as session:
            await session.run()
            elements = [delta.new_element for delta in session.elements.values()]
            assert [element.heading.body for element in elements if element.heading.tag == "h1"] == [LINKS[link]]
            assert [
                element.exception.message for element in elements if element.WhichOneof("type") == "exception"
            ] == []
            assert [element.alert.body for element in elements if element.alert.format == Alert.ERROR] == []
            assert session.query == parts.query

    with serve_forked(ROOT / "app.py", tmp_path / "log.txt") as url:
        asyncio.run(follow(url))


def test_every_page_has_a_link() -> None:
    assert {title.lower() for title in LINKS.values()} == {path.stem for path in (ROOT / "pages").glob("*.py")}


def test_the_server_answers_before_torch_is_imported() -> None:
    script = "import sys, app; print([name for name in ('app', 'torch') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "['app']\n"

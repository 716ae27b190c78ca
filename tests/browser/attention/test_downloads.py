"""What is downloaded holds what is shown."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pypdf
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.attention.looking import go
from tests.browser.odd import HOSTILE
from tools.serving import wait_until_idle
from transformer import Trace

LABELS = {
    "PNG": "PNG, for slides",
    "PDF": "PDF, for a paper",
    "SVG": "SVG, for print",
    "CSV": "CSV, the exact weights",
    "NPZ": "NPZ, all attention weights",
    "HTML": "HTML, this view offline",
}


def download(page: Page, label: str, tmp_path: Path) -> Path:
    with page.expect_download(timeout=30_000) as waiting:
        page.get_by_role("button", name=LABELS[label], exact=True).click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_each_download_holds_what_is_shown(
    page: Page, new_page: Callable[..., Page], odd_url: str, odd_trace: Trace, tmp_path: Path
) -> None:
    go(page, f"{odd_url}/?kind=decoder&layer=2&head=1")
    page.get_by_role("button", name="Export").click()
    weights = odd_trace.decoder[1, 0]

    saved = Trace.load(download(page, "NPZ", tmp_path))
    assert all(np.array_equal(saved.pattern(k), odd_trace.pattern(k)) for k in ("encoder", "decoder", "cross"))
    assert saved.source.labels == odd_trace.source.labels

    rows = list(csv.reader(io.StringIO(download(page, "CSV", tmp_path).read_text())))
    rows = rows[rows.index([]) + 1 :]
    cells = [[float(cell) if cell else 0.0 for cell in row[1:]] for row in rows[1:]]
    assert np.array_equal(np.array(cells, dtype=np.float32), weights)

    root = ElementTree.parse(download(page, "SVG", tmp_path)).getroot()
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert all(token in texts for token in odd_trace.reads.labels)

    image = np.asarray(Image.open(download(page, "PNG", tmp_path)).convert("RGB"))
    width, height = (round(2 * float(root.get(side, "0"))) for side in ("width", "height"))
    assert image.shape[:2] == (height, width)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 10

    page.get_by_text("Every head of decoder self-attention").click()
    for _ in range(20):  # until the rerun has come, of which the page shows nothing, a button writes the head
        wait_until_idle(page)
        path = download(page, "PDF", tmp_path)
        if "every-head" in path.name:
            break
    assert path.name.startswith("odd-decoder-every-head-img-src-x")
    assert "decoder self-attention, every head" in pypdf.PdfReader(path).pages[0].extract_text().lower()

    path = download(page, "HTML", tmp_path)
    requests: list[str] = []
    offline = new_page(fresh=True)
    offline.context.set_offline(True)
    offline.on("request", lambda request: requests.append(request.url))
    offline.goto(path.as_uri())
    offline.locator(".thumb").first.wait_for()
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    expect(offline.get_by_text(HOSTILE[0]).first).to_be_visible()

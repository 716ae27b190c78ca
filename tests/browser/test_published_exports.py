"""What is taken away of the published page, made in Chromium without a network, holds what Python computes."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, expect

from headlight.analysis.layout import sharpest
from headlight.charts.colours import THEMES, lookup
from tests.browser.test_published import TEXT, show
from transformer import Translator
from transformer.trace import KINDS, Kind, Trace

SVG = "{http://www.w3.org/2000/svg}"
HEAD, EVERY, LINES = "This head", "Every head of this kind", "Its lines"
HOSTILE = '=1+1 <img src=x onerror="alert(1)"> The girl & the dog'


@pytest.fixture(scope="module")
def trace(published_model: Translator) -> Trace:
    return published_model.trace(TEXT)


def export(page: Page, what: str, form: str, folder: Path) -> Path:
    if not page.locator(".export-panel").is_visible():
        page.get_by_text("Export", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"{what} as {form}", exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    expect(page.get_by_text(f"Saved: {path.name}")).to_be_visible()
    return path


def rows_of(path: Path) -> tuple[dict[str, str], list[list[str]]]:
    """Return the facts at the top of a CSV file, and the table below them."""
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8"), newline="")))
    end = rows.index([])
    return {row[0]: row[1] for row in rows[:end]}, rows[end + 1 :]


def numbers(cells: list[list[str]]) -> NDArray[np.float64]:
    return np.array([[float(cell) if cell else np.nan for cell in row] for row in cells])


def expected(trace: Trace, kind: Kind) -> NDArray[np.float64]:
    """The patterns [L, H, Q, K], NaN where masked."""
    masked = trace.masked(kind)
    return np.where(masked, np.nan, trace.pattern(kind).astype(float))


@pytest.mark.parametrize("kind", KINDS)
def test_the_csv_holds_the_weights(tab: Page, published: Path, trace: Trace, kind: Kind, tmp_path: Path) -> None:
    show(tab, published, f"text={TEXT}&kind={kind}&layer=2&head=3")
    weights = expected(trace, kind)
    path = export(tab, HEAD, "CSV", tmp_path)
    assert path.name.startswith(f"english-french-{kind}-layer-2-head-3-The-animal-didn-t-cross")
    facts, table = rows_of(path)
    assert facts["Source (English)"] == TEXT and facts["Target (French)"] == trace.translation
    assert facts["Model"] == "English to French, by a grammar (english-french)"
    assert facts["Attention"].endswith("layer 2, head 3, raw weights")
    np.testing.assert_allclose(numbers([row[1:] for row in table[1:]]), weights[1, 2], rtol=0, atol=1e-4)
    assert not np.isnan(weights[1, 2]).all() and np.isnan(weights).any() == (kind == "decoder")

    _, (head, *rows) = rows_of(export(tab, EVERY, "CSV", tmp_path))
    assert head == ["layer", "head", "query", "query token", "key", "key token", "weight"]
    every = np.full(weights.shape, np.inf)
    for layer, h, q, _, k, _, weight in rows:
        every[int(layer) - 1, int(h) - 1, int(q) - 1, int(k) - 1] = float(weight) if weight else np.nan
    np.testing.assert_allclose(every, weights, rtol=0, atol=1e-4)


def cells(group: ElementTree.Element) -> Iterator[tuple[float, float, float, float, str]]:
    """Left, top, width, height and colour of each rectangle of a map."""
    number = r"(-?[\d.]+)"
    for path in group:
        for box in re.findall(f"M{number} {number}h{number}v{number}h-", path.get("d", "")):
            yield (*map(float, box), path.get("fill", ""))  # type: ignore[misc]


def colours(group: ElementTree.Element, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The colour of each cell [Q, K, 3], -1 where none is drawn."""
    found = list(cells(group))
    left, top = min(box[0] for box in found), min(box[1] for box in found)
    across = (max(box[0] + box[2] for box in found) - left) / shape[1]
    down = (max(box[1] + box[3] for box in found) - top) / shape[0]
    drawn = np.full((*shape, 3), -1)
    for x, y, wide, high, colour in found:
        assert round(high / down) == 1
        at = round((x - left) / across)
        drawn[round((y - top) / down), at : at + round(wide / across)] = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return drawn


def are_shown(drawn: NDArray[np.int64], weights: NDArray[np.float64]) -> bool:
    ramp = lookup(THEMES["light"].sequential).astype(int)
    shades = ramp[np.rint(255 * np.nan_to_num(weights)).astype(int)]
    return bool((np.abs(drawn - np.where(np.isnan(weights)[..., None], -1, shades)) <= 6).all())


@pytest.mark.parametrize("kind", KINDS)
def test_the_svg_shows_the_weights(tab: Page, published: Path, trace: Trace, kind: Kind, tmp_path: Path) -> None:
    show(tab, published, f"text={TEXT}&kind={kind}&layer=3&head=1")
    weights = expected(trace, kind)
    root = ElementTree.parse(export(tab, HEAD, "SVG", tmp_path)).getroot()
    assert root.findtext(f"{SVG}title") == re.sub("^Cross self", "Cross", f"{kind.capitalize()} self-attention") + (
        ", layer 3, head 1, raw weights"
    )
    assert f"Source (English): {TEXT}" in root.findtext(f"{SVG}desc", "")
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert trace.source.labels[1] in texts if kind != "decoder" else trace.target.labels[1] in texts
    (drawn,) = root.iterfind(f".//{SVG}g[@shape-rendering]")
    assert are_shown(colours(drawn, weights.shape[2:]), weights[2, 0])
    assert not are_shown(colours(drawn, weights.shape[2:]), weights[2, 1])

    root = ElementTree.parse(export(tab, EVERY, "SVG", tmp_path)).getroot()
    thumbs = root.findall(f".//{SVG}g[@shape-rendering]")
    heads = weights.reshape(-1, *weights.shape[2:])
    assert len(thumbs) == len(heads)
    for thumb, head in zip(thumbs, heads, strict=True):
        assert are_shown(colours(thumb, head.shape), head)


def test_the_svg_of_lines_has_a_line_for_each_strong_weight(
    tab: Page,
    published: Path,
    trace: Trace,
    tmp_path: Path,
) -> None:
    show(tab, published, f"text={TEXT}&layer=2&head=4")
    tab.get_by_role("button", name="Head 1", exact=True).click()  # beside head 4
    root = ElementTree.parse(export(tab, LINES, "SVG", tmp_path)).getroot()
    assert root.findtext(f"{SVG}title") == (
        "Cross-attention, layer 2, heads 1, 4: lines of the strongest 90\u00a0% of each row"
    )
    strong = 0
    for row in np.sort(trace.cross[1][[0, 3]].reshape(-1, trace.cross.shape[-1]))[:, ::-1]:
        strong += int((np.cumsum(row) - row < 0.9 - 1e-6).sum())
    lines = "".join(path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("fill") == "none")
    assert lines.count("C") == strong


@pytest.mark.parametrize("what", [HEAD, EVERY, LINES])
def test_the_png_is_as_large_as_twice_the_svg(tab: Page, published: Path, what: str, tmp_path: Path) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})  # what is taken away is no smaller on a phone
    show(tab, published, f"text={TEXT}&kind=encoder&layer=2&head=1")
    tab.get_by_role("button", name="Dark theme").click()
    root = ElementTree.parse(export(tab, what, "SVG", tmp_path)).getroot()
    image = Image.open(export(tab, what, "PNG", tmp_path))
    image.load()
    assert image.size == tuple(2 * int(root.get(side, "0")) for side in ("width", "height"))
    assert image.info["Title"] == root.findtext(f"{SVG}title")
    assert image.info["Description"] == root.findtext(f"{SVG}desc")
    assert "#{:02x}{:02x}{:02x}".format(*image.convert("RGB").getpixel((0, 0))) == THEMES["dark"].background  # type: ignore[misc]
    assert root.find(f"{SVG}rect").get("fill") == THEMES["light"].background  # type: ignore[union-attr]
    assert len(image.convert("RGB").getcolors(1 << 24) or []) > 10
    assert tab.locator(".paper").count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_hostile_text_stays_text_and_no_cell_is_a_formula(tab: Page, published: Path, tmp_path: Path) -> None:
    show(tab, published)
    tab.get_by_label("Type a sentence in English").fill(HOSTILE)
    tab.get_by_label("Type a sentence in English").press("Enter")
    expect(tab.locator(".side.left .token").first).to_be_visible()
    tab.get_by_role("button", name="Encoder", exact=True).click()
    expect(tab.locator(".side.left .token").filter(has_text="[UNK]").first).to_be_attached()
    path = export(tab, HEAD, "CSV", tmp_path)
    assert "img-src-x-onerror-alert-1" in path.name
    facts, table = rows_of(path)
    assert facts["Source (English)"] == f"'{HOSTILE}"
    assert not [cell for row in table for cell in row if re.match("[=+@-]", cell)]
    root = ElementTree.parse(export(tab, HEAD, "SVG", tmp_path)).getroot()
    assert HOSTILE in root.findtext(f"{SVG}desc", "")
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "desc", "defs", "rect", "path", "pattern", "linearGradient", "stop", "g", "text", "clipPath")
    }


def test_a_head_that_is_off_is_said(tab: Page, published: Path, tmp_path: Path) -> None:
    show(tab, published, f"text={TEXT}&layer=3&head=4&changes=cross.3.4")
    path = export(tab, HEAD, "CSV", tmp_path)
    assert path.name.startswith("english-french-changed-cross-layer-3-head-4")
    facts, table = rows_of(path)
    assert facts["Heads switched off"] == "cross-attention layer 3, head 4"
    assert not numbers([row[1:] for row in table[1:]]).any()


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_head_is_the_apps(tab: Page, published: Path, published_model: Translator, kind: Kind) -> None:
    for text in (TEXT, "The girl sees the dog.", "qux zyx", "dog"):
        show(tab, published, f"text={text}&kind={kind}")
        layer, head = sharpest(published_model.trace(text), kind)
        expect(tab.get_by_role("heading", name=f"Layer {layer + 1}, head {head + 1}")).to_be_visible()
        tab.goto("about:blank")

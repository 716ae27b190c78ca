"""The Positions page as a person uses it, in a real Chromium.

One test opens the app as it ships; the others run on small untrained checkpoints, of which one has learned positions.
What the page says is held without a browser, in tests/ui/positions/test_page.py.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from headlight import checkpoints
from headlight.analysis.order import embedded
from headlight.analysis.positions import encoding, entry, frequencies, rotation, rotation_residual, sinusoid
from headlight.checkpoints import load_translator
from headlight.formatting import two_digits
from tests.browser.served import open_page
from tests.small import small_checkpoint
from tools.serving import wait_until_idle
from ui.positions.order import compare

ROOT = Path(__file__).parents[2]
MODELS = {"small-waves": "sinusoidal", "small-learned": "learned"}
WAVES = ".st-key-waves .js-plotly-plot"


@pytest.fixture(scope="module", autouse=True)
def models(small_models: Path) -> Iterator[Path]:
    for name, positions in MODELS.items():
        checkpoint = small_checkpoint(positions=positions, max_length=600)
        checkpoint.card["examples"] = ["two dogs in the snow"]
        checkpoints.save(checkpoint, small_models / name)
    yield small_models
    for name in MODELS:
        shutil.rmtree(small_models / name)


def go(page: Page, address: str, query: str = "") -> Page:
    return open_page(page, f"{address}/positions{query}", "The same words in another order")


def maps(page: Page, selector: str) -> list[np.ndarray]:
    """The heatmaps of a chart, as the browser has them."""
    drawn = page.evaluate(
        """selector => document.querySelector(selector)._fullData
             .filter(data => data.type === "heatmap").map(data => Array.from(data.z, row => Array.from(row)))""",
        selector,
    )
    return [np.array(cells, dtype=np.float64) for cells in drawn]


def cells(page: Page, name: str) -> list[float]:
    texts = page.locator(f'.matrix[data-name="{name}"] span').all_inner_texts()
    return [float(text.replace("−", "-")) for text in texts]


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def proves(page: Page, p: int, k: int, i: int, d_model: int, base: float = 10_000.0) -> None:
    """The circle's numbers are those of numpy, for this position, step and pair."""
    omega = frequencies(d_model, base)
    pair = slice(2 * i, 2 * i + 2)
    here, there = sinusoid(np.array([p, p + k]), omega)[:, pair]
    assert cells(page, "turn") == pytest.approx(rotation(k, omega[i]).ravel(), abs=5.1e-4)
    assert cells(page, "here") == pytest.approx(here, abs=5.1e-4)
    assert cells(page, "product") == pytest.approx(there, abs=5.1e-4)
    assert number(page.locator(".number").first.inner_text()) < 1e-11
    expect(page.locator(".number.pending")).to_have_count(0)
    largest = number(page.locator(".number").last.inner_text())
    assert largest < 1e-5
    assert largest == pytest.approx(rotation_residual(k, omega), rel=0.1)


def test_the_page_as_it_ships_shows_the_waves_and_proves_the_rotation(page: Page, app_url: str) -> None:
    go(page, app_url, "?model=en-fr&at=37&shift=9&pair=20")
    table = encoding("sinusoidal", 100, 256)
    page.wait_for_function(
        f"() => document.querySelector('{WAVES}')?._fullData?.find(data => data.type === 'heatmap')?.z.length === 128"
    )
    sines, cosines = maps(page, WAVES)
    assert np.abs(sines.T - table[:, 0::2]).max() < 1e-6
    assert np.abs(cosines.T - table[:, 1::2]).max() < 1e-6
    expect(page.locator(WAVES)).to_contain_text("2π = 6.3 words")
    expect(page.get_by_text("The model's own table is the same")).to_be_visible()
    proves(page, 37, 9, 20, 256)
    shipped = compare(
        load_translator(ROOT / "checkpoints" / "en-fr"), "the cat sat on the mat", "the mat sat on the cat"
    )
    without, having = (
        shipped.differences(shipped.without_positions).max(),
        shipped.differences(shipped.with_positions).max(),
    )
    assert number(page.locator(".difference-without span").first.inner_text()) == pytest.approx(without, rel=0.5)
    assert without < 1e-5
    expect(page.locator(".difference-with")).to_contain_text(two_digits(having))


def test_the_circle_answers_the_sliders_and_the_address_follows(page: Page, small_url: str) -> None:
    go(page, small_url, "?model=small-waves&base=100")
    page.get_by_label("Pair i").fill("3")
    slider = page.get_by_label("Step k")
    slider.focus()
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    assert cells(page, "turn") == pytest.approx(rotation(12, frequencies(16, 100)[3]).ravel(), abs=5.1e-4)
    expect(page).to_have_url(re.compile(r"(?=.*shift=12)(?=.*pair=3)"))
    proves(page, 2, 12, 3, 16, 100)
    page.locator(".clocks button").first.click()
    expect(page).to_have_url(re.compile("pair=0"))
    proves(page, 2, 12, 0, 16, 100)
    expect(page.locator(".face svg")).to_have_attribute(
        "aria-label", re.compile("^Pair 0 .* from position 2 as from 19")
    )
    page.reload()
    wait_until_idle(page)
    proves(page, 2, 12, 0, 16, 100)
    # Impossible values are answered in words.
    for name, value, answer in (
        ("d_model", "7", "d_model is 7; sinusoidal positions pair a sine with a cosine"),
        ("Base", "much", "Base is 'much'; type a number from 1 to 1,000,000."),
    ):
        box = page.get_by_role("combobox", name=name)
        box.fill(value)
        box.press("Enter")
        expect(page.get_by_text(answer)).to_be_visible()
    box = page.get_by_role("combobox", name="d_model")
    box.fill("6")
    box.press("Enter")
    page.locator(WAVES).wait_for()
    wait_until_idle(page)
    assert [part.shape for part in maps(page, WAVES)] == [(3, 100), (3, 100)]


def test_another_scheme_is_drawn_and_kept_in_the_address(page: Page, small_url: str, models: Path) -> None:
    go(page, small_url, "?model=small-waves")
    main = page.get_by_test_id("stMain")
    for scheme in ("Binary", "Learned"):
        main.get_by_role("radio", name=scheme).or_(main.get_by_role("button", name=scheme, exact=True)).first.click()
        expect(page).to_have_url(re.compile(f"scheme={scheme.lower()}"))
        wait_until_idle(page)
        if scheme == "Learned":  # that of the one model here which has learned its positions
            table = load_translator(models / "small-learned").model.encoder.embedding.positions.table
            expected = table.detach().numpy()[:100]
            expect(page.get_by_text("these are from small-learned")).to_be_visible()
        else:
            expected = encoding(scheme.lower(), 100, 16)
        (whole,) = maps(page, WAVES)
        assert np.abs(whole.T - expected).max() < 1e-5
    page.reload()
    page.get_by_text("these are from small-learned").wait_for(timeout=60_000)
    page.go_back()
    expect(page).not_to_have_url(re.compile("learned"))


def test_endless_sentences(page: Page, small_url: str, models: Path) -> None:
    long = " ".join(["two", "dogs", "snow", "girl"][i % 4] for i in range(599))
    sentences = urlencode({"text": long, "one": long, "other": f"{long[4:]} two"})
    go(page, small_url, f"?model=small-waves&added=1&{sentences}")
    model = load_translator(models / "small-waves")
    parts = embedded(model.model, model.encode(long))
    drawn = maps(page, ".st-key-added-part .js-plotly-plot")
    assert [np.abs(cells - part).max() < 1e-6 for cells, part in zip(drawn, parts[:3], strict=True)] == [True] * 3


def test_ten_thousand_positions(page: Page, small_url: str) -> None:
    go(page, small_url, "?model=small-waves&positions=10000&d_model=512&at=9999")
    assert all(part.shape[1] <= 800 for part in maps(page, WAVES))
    expect(page.get_by_text("A column is the mean of 13 positions")).to_be_visible()
    proves(page, 9_999, 5, 24, 512)


def test_a_phone_in_the_dark_shows_everything_below_each_other(new_page: Callable[..., Page], small_url: str) -> None:
    phone = new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    go(phone, small_url, "?model=small-waves")
    assert phone.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    assert phone.locator(".face svg").evaluate("e => getComputedStyle(e.closest('.hl')).color") == "rgb(232, 234, 240)"
    boxes = [phone.locator(place).first.bounding_box() for place in (WAVES, ".face", ".proof", ".schemes")]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == 4 and tops == sorted(tops)


def test_another_dimension_is_worked_out_and_kept_in_the_address(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/positions?model=en-fr&word=3&dim=40")
    box = page.get_by_label("Dimension", exact=True)
    box.wait_for(timeout=60_000)
    expect(page.get_by_text(f"The model's own table has {entry(3, 40, 256).value:.4f} there")).to_be_visible()
    box.press("ArrowUp")
    box.press("Enter")
    expect(page.get_by_text(f"The model's own table has {entry(3, 41, 256).value:.4f} there")).to_be_visible()
    expect(page).to_have_url(re.compile(r"(?=.*word=3)(?=.*dim=41)"))

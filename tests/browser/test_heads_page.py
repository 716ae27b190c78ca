"""The Heads page as a person uses it, in a real Chromium: on shipped models, and on an imported one without gold."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from headlight import checkpoints
from headlight.cli.verbs import main
from headlight.importers.importing import import_model
from tests.browser.served import serve_app
from tests.small import small_checkpoint
from tools.serving import wait_until_idle

ROOT = Path(__file__).parents[2]
HOSTILE = "two dogs <img src=x onerror=alert(1)>"
TIMEOUT_MS = 60_000


@pytest.fixture(scope="module")
def atlas_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app with shipped models whose corpora have gold, and a small imported one that has none."""
    folder = tmp_path_factory.mktemp("heads")
    for name in ("reverse", "english-french"):
        shutil.copytree(ROOT / "checkpoints" / name, folder / "checkpoints" / name)
    for file in sorted((folder / "checkpoints" / "reverse" / "history").iterdir())[1:-1]:  # each is measured
        if file.stem != "step-0000640":
            file.unlink()
    small = small_checkpoint()
    small.card |= {"examples": ["two dogs are running in the snow .", HOSTILE]}
    checkpoints.save(small, folder / "theirs")
    assert main(["export", str(folder / "theirs"), "--as", "zip", "--out", str(folder / "theirs.zip")]) == 0
    import_model(folder / "theirs.zip", folder / "models" / "small")
    (folder / "models" / "small" / "history").mkdir()
    (folder / "models" / "small" / "history" / "step-10.safetensors").write_bytes(b"cut off")
    with serve_app(folder / "log.txt", checkpoints=folder / "checkpoints", models=folder / "models") as address:
        yield address


def go(page: Page, address: str, query: str = "") -> None:
    page.goto(f"{address}/heads{query}")
    page.get_by_role("heading", name="Heads", exact=True).wait_for(timeout=TIMEOUT_MS)
    page.locator(".panel").first.wait_for(timeout=TIMEOUT_MS)


def test_the_heads_of_the_reverser(page: Page, atlas_url: str) -> None:
    go(page, atlas_url, "?model=reverse&pairs=200")
    # The clearest head is open, with its number, and since when.
    expect(
        page.get_by_text(re.compile(r"Looks at what it is translating: (over )?\d+.% of [\d,]+ letters; chance"))
    ).to_be_visible()
    expect(page.get_by_text(re.compile(r"Measured on 200 sentences on \d+ \w+ \d{4}")).first).to_be_visible()
    rail = page.get_by_role("slider", name="Snapshot of the training")
    expect(rail).to_be_visible(timeout=TIMEOUT_MS)
    expect(page.get_by_text(re.compile("since step [0-9,]+ of its training"))).to_be_visible()
    # Its past: at the first snapshot no cross head aligns anything.
    assert page.locator('.panel[data-measure="alignment"] .named').count() >= 5
    rail.focus()
    rail.press("Home")
    expect(page.locator('.panel[data-measure="alignment"] .named')).to_have_count(0)
    expect(page).to_have_url(re.compile(r"step=40(&|$)"))
    rail.press("End")
    wait_until_idle(page)
    # The line of the chosen head among the others, with a dot wherever it had its name.
    line = page.get_by_role("img", name=re.compile(r"Misaligned over its training: layer \d, head \d"))
    expect(line).to_be_visible()
    assert line.locator("path.own").count() == 1 and line.locator("path.other").count() == 8
    assert 0 < line.locator("circle").count() < 3  # not at the first of three snapshots
    # Another head by the keyboard, and the same by its row.
    page.get_by_text("Encoder", exact=True).first.click()
    cell = page.locator('[data-place="next 1 1"]')
    cell.wait_for()
    wait_until_idle(page)
    cell.focus()
    expect(page.locator(".status")).to_contain_text(re.compile(r"Layer 2, head 2: next \d+.% ± "))
    cell.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"measure=next"))
    expect(page.get_by_text("Encoder, layer 2, head 1", exact=True)).to_be_visible()
    page.locator('[data-place="next 1 1"]').click()
    expect(page.get_by_text("Encoder, layer 2, head 2", exact=True)).to_be_visible()
    wait_until_idle(page)
    # The sentence that shows it best, on the Attention page, with that head and the corpus's own target.
    page.get_by_role("button", name="Best sentence").click()
    page.get_by_role("heading", name="Attention", exact=True).wait_for(timeout=TIMEOUT_MS)
    expect(page.locator(".head-title")).to_contain_text("Layer 2, head 2", timeout=TIMEOUT_MS)
    wait_until_idle(page)
    query = {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}
    assert (query["kind"], query["layer"], query["head"]) == ("encoder", "2", "2")
    assert query["target"] == query["text"][::-1]
    # And there, how far attention agrees with leaving each letter out.
    page.get_by_role("button", name="Does attention agree with removing words?").click()
    expect(page.get_by_text(re.compile(r"^Removing each of the .* rank correlation of −?\d\.\d\d"))).to_be_visible(
        timeout=TIMEOUT_MS
    )
    expect(
        page.get_by_text(re.compile(r"Over 30 sentences of reverse, with all heads on, it is −?\d\.\d+ ± \d\.\d\d"))
    ).to_be_visible()


def test_the_heads_of_a_grammar(page: Page, atlas_url: str) -> None:
    """The measurements that ship with the model: the names of heads, their baselines, and the JSON."""
    go(page, atlas_url, "?model=english-french")
    role = r"Looks at the antecedent: \d+.% of [\d,]+ pronouns; (nearest|first) noun \d+.%; since step [\d,]+"
    expect(page.get_by_text(re.compile(role))).to_be_visible(timeout=TIMEOUT_MS)
    expect(
        page.get_by_text(re.compile(r"Looks at what it is translating: (over )?\d+.% of [\d,]+ words; chance \d+.%"))
    ).to_be_visible()
    expect(page.get_by_text(re.compile(r"Measured on 1,000 sentences on \d+ \w+ \d{4}"))).to_be_visible()
    names = page.locator(".panel").evaluate_all("panels => panels.map(panel => panel.dataset.measure)")
    assert {"alignment", "antecedent", "among_words", "importance", "agreement"} <= set(names)
    # A sentence that shows it and one that does not, each with its number.
    for label, value in (("Best sentence", "100"), ("Worst sentence", "0")):
        row = page.locator('[data-testid="stHorizontalBlock"]').filter(has=page.get_by_role("button", name=label)).last
        expect(row).to_contain_text(re.compile(rf"\D{value}.%"))
    wait_until_idle(page)
    with page.expect_download() as given:
        page.get_by_role("button", name="JSON").click()
    facts = json.loads(Path(given.value.path()).read_text(encoding="utf-8"))
    assert facts["alignment"] == "gold" and facts["asked"] == 1000 and facts["roles"] and len(facts["history"]) == 6
    expect(page.locator('[data-testid="stException"], [data-testid="stAlertContentError"]')).to_have_count(0)


def test_an_imported_model_without_gold_says_what_is_missing(page: Page, atlas_url: str) -> None:
    go(page, atlas_url, "?model=models/small")
    expect(page.get_by_text("This corpus has no gold alignment")).to_be_visible()
    expect(page.get_by_text("The translations are the model's own.")).to_be_visible()
    expect(page.get_by_text("The snapshots could not be measured:")).to_be_visible(timeout=TIMEOUT_MS)
    names = page.locator(".panel").evaluate_all("panels => panels.map(panel => panel.dataset.measure)")
    assert "entropy" in names and "importance" in names and not {"alignment", "antecedent"} & set(names)
    expect(page.get_by_text("No name: no measure here shows clearly what it does.")).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    # A corpus that cannot be: a sentence, and a way on.
    page.get_by_role("combobox", name="Corpus").click()
    page.get_by_role("option", name="Files on this machine").click()
    expect(page.get_by_text("Choose a corpus to measure the heads over.")).to_be_visible()
    box = page.get_by_role("textbox", name="Corpus files")
    box.fill("nothing.here")
    box.press("Enter")
    expect(page.get_by_text("is not a corpus")).to_be_visible(timeout=TIMEOUT_MS)

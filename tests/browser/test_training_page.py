"""The Training page as a person uses it, in a real Chromium, with real workers.

A run on a few lines of a file is paused, outlives the app, is killed and deleted. What is only looked at is a run that
was made before. test_connections.py has one from the form that starts it to the finished model.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from headlight import checkpoints
from headlight.runs import Metrics, RunFolder, run_status, status
from tests.browser.dropped import DroppedFragments
from tests.browser.served import open_page, serve_app
from tests.small import small_checkpoint
from tests.small_run import finished_run, new_run, small_recipe, wait_until, worker
from tools.serving import wait_until_idle
from ui.training import film

ROOT = Path(__file__).parents[2]
WORKER_TIMEOUT_MS = 600_000  # a worker has the lowest priority and may take minutes on a busy machine


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models for the other pages, and the shipped history of letters that are reversed."""
    folder = tmp_path_factory.mktemp("checkpoints")
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = ["two dogs"]
    checkpoints.save(checkpoint, folder / "small")
    shutil.copytree(ROOT / "checkpoints" / "reverse", folder / "reverse")
    return folder


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished runs, of which the first has snapshots."""
    folder = tmp_path_factory.mktemp("looked-at")
    finished_run(folder, "other", small_recipe(folder, learning_rate=0.02))
    finished_run(folder, "first", small_recipe(folder, snapshots=5))
    return folder


def kept_in(models: Path) -> Path:
    return models.with_name(f"{models.name}-kept")


def app(models: Path, runs: Path, log: Path) -> AbstractContextManager[str]:
    """Serve the app on these models and runs."""
    return serve_app(log, checkpoints=models, runs=runs, models=kept_in(models))


@pytest.fixture(scope="module")
def looking(models: Path, looked_at: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with app(models, looked_at, tmp_path_factory.mktemp("looking") / "log.txt") as address:
        yield address


def go(page: Page, address: str, query: str = "") -> Page:
    return open_page(page, f"{address}/training{query}", "Training", exact=True)


def chosen(page: Page) -> Locator:
    """The run that is looked at, in the list."""
    return page.locator(".run[aria-current]")


def test_a_run_is_paused_outlives_the_app_and_is_killed(
    page: Page, models: Path, tmp_path: Path, errors: list[str]
) -> None:
    recipe = small_recipe(tmp_path, steps=100_000, evaluate_every=1000, checkpoint_every=1000)
    run = new_run(tmp_path / "runs", "long", recipe)
    worker(run)
    with app(models, run.path.parent, tmp_path / "log.txt") as address:
        go(page, address, "?run=long")
        expect(chosen(page)).to_contain_text("Running", timeout=WORKER_TIMEOUT_MS)
        page.get_by_role("button", name="Pause", exact=True).click()
        expect(chosen(page)).to_contain_text("Paused", timeout=WORKER_TIMEOUT_MS)
        saved = status(run.path).saved_step
        page.get_by_role("button", name="Resume", exact=True).click()
        expect(chosen(page)).to_contain_text("Running", timeout=WORKER_TIMEOUT_MS)
        page.goto("about:blank")
    assert status(run.path).alive  # although the app has ended
    errors.clear()  # the page lost its server
    with app(models, run.path.parent, tmp_path / "log2.txt") as address:
        go(page, address, "?run=long")
        expect(chosen(page)).to_contain_text("Running")
        wait_until(lambda: len(Metrics(run.path).read()) > (saved or 0))
        os.kill(run_status.read(run)["pid"], signal.SIGKILL)
        card = page.locator(".st-key-failure")
        expect(card).to_contain_text("The worker ended at step", timeout=30_000)
        expect(card).to_contain_text("then resume it.")
        expect(card).to_contain_text(run.last_lines()[-1][-20:])
        expect(card.get_by_role("button", name="Resume from step")).to_be_visible()
        page.get_by_role("button", name="More").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        dialog = page.get_by_test_id("stDialog")
        dialog.get_by_role("button", name="Keep it").click()
        expect(dialog).to_have_count(0)
        assert run.path.is_dir()
        page.get_by_role("button", name="More").click()
        page.get_by_role("button", name="Delete", exact=True).click()
        dialog.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_text("There is no run yet.")).to_be_visible(timeout=30_000)
        assert not run.path.exists()


def test_the_page_outlasts_messages_that_streamlit_drops(fresh_page: Page, models: Path, tmp_path: Path) -> None:
    """Of the forecast, which is looked at while the time is measured, and of a run that trains."""
    page, messages = fresh_page, DroppedFragments(fresh_page)
    underflow = page.locator(".st-key-underflow")  # below the run
    run = new_run(tmp_path / "runs", "long", small_recipe(tmp_path, steps=100_000, evaluate_every=1000))
    process = worker(run)
    try:
        with app(models, run.path.parent, tmp_path / "log.txt") as address:
            go(page, address, "?run=long")
            expect(chosen(page)).to_contain_text("Running", timeout=WORKER_TIMEOUT_MS)
            expect(underflow).to_have_count(1)
            page.get_by_role("button", name="New run").click()
            expect(page.get_by_role("button", name="Start training")).to_be_visible(timeout=30_000)
            messages.dropping = True
            page.get_by_role("button", name="Measure the time").click()
            expect(page.get_by_role("button", name="Measure the time")).to_have_count(0)
            page.wait_for_timeout(3000)
            assert messages.dropped
            expect(page.get_by_text("long is training on the same")).to_be_visible()
            expect(page.get_by_role("textbox", name="Name", exact=True)).to_be_visible()
            expect(page.get_by_role("button", name="Start training")).to_be_visible()
            expect(page.get_by_text("The whole run")).to_be_visible()
            messages.dropped = 0
            page.get_by_role("button", name="Back to the runs").click()
            expect(chosen(page)).to_contain_text("Running", timeout=30_000)
            page.wait_for_timeout(5000)
            assert messages.dropped
            expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
            expect(page.get_by_role("heading", name="What it writes")).to_be_visible()
            expect(underflow).to_have_count(1)
            page.goto("about:blank")
    finally:
        process.kill()


def test_one_step_links_film_curves_and_translations(page: Page, looking: str, looked_at: Path) -> None:
    go(page, looking, "?run=first&kind=cross&layer=1&head=2")
    frames, rows = page.locator(".film .frame"), page.locator(".writes tr[data-step]")
    run = RunFolder(looked_at / "first")
    history = film.history("first", run.checkpoints / "best", run.history, run.config)
    steps = [snapshot.step for snapshot in history.snapshots]
    expect(frames).to_have_count(len(steps))
    expect(rows).to_have_count(3)  # evaluations after 25, 50 and 60 updates
    expect(frames.last).to_have_attribute("aria-current", "step")
    frames.nth(steps.index(38)).click()
    expect(rows.nth(0)).to_have_class("on")
    cursor = page.locator(".chart .cursor").first
    before = cursor.get_attribute("d")
    rows.nth(1).click()
    expect(frames.nth(steps.index(38))).to_have_attribute("aria-current", "step")
    assert cursor.get_attribute("d") != before
    expect(page).to_have_url(re.compile(r"step=50"))
    page.reload()
    wait_until_idle(page)
    expect(rows.nth(1)).to_have_class("on")
    rail = page.get_by_role("slider", name="Snapshot")
    rail.press("Home")
    expect(frames.nth(0)).to_have_attribute("aria-current", "step")
    expect(rail).to_have_attribute("aria-valuetext", re.compile("Before the first step"))
    page.get_by_role("button", name="Play the snapshots").click()
    expect(frames.last).to_have_attribute("aria-current", "step", timeout=15_000)
    # The number under the pointer is the weight of the snapshot.
    weight = film.strip(history.frames("one two"), ("cross", 1, 2))[2][0, 0]
    page.locator(".film .picture").nth(2).hover(position={"x": 3, "y": 3})
    expect(page.locator(".tip .value").last).to_have_text(f"{weight:.3f}")


def test_runs_are_compared_side_by_side(page: Page, looking: str) -> None:
    go(page, looking, "?run=first&compare=other")
    expect(page.locator(".legend")).to_contain_text("other")
    table = page.locator(".configurations")
    expect(table).to_contain_text("training.learning_rate")
    expect(table.locator("tbody tr")).to_have_count(2)  # the rate, and the snapshots
    page.get_by_text(re.compile("All .. settings")).click()
    expect(table.locator("tbody tr", has_text="≠")).to_have_count(2)
    expect(table).to_contain_text("model.encoder.n_heads")
    page.locator('.run[data-id="other"]').click()
    expect(page).to_have_url(re.compile(r"run=other"))
    expect(page.get_by_text("This run keeps no snapshots.")).to_be_visible()


def test_a_shipped_model_has_a_film_too_and_on_a_phone_the_head_of_its_translations_covers_none(
    new_page: Callable[..., Page], looking: str
) -> None:
    """The header wraps there and stays visible while the box scrolls."""
    page = new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    go(page, looking, "?run=checkpoints/reverse")
    expect(page.locator(".film .frame")).to_have_count(10)
    expect(page.locator(".writes tr[data-step]")).to_have_count(10)
    expect(page.get_by_text("python -m headlight train --data reverse")).to_be_visible()
    box, row = page.locator(".writes"), page.locator(".writes tr.on")
    covered = """box => box.querySelector('th').getBoundingClientRect().bottom >
        box.querySelector('.on').getBoundingClientRect().top + 1"""
    assert box.evaluate("box => box.scrollTop") == 0  # ten rows are seen whole
    box.evaluate("box => { box.style.maxHeight = '200px'; box.scrollTop = box.scrollHeight; }")
    page.locator(".writes tr button").last.focus()
    for step in reversed(box.locator("tbody tr").evaluate_all("rows => rows.map(row => row.dataset.step)")[:-1]):
        page.keyboard.press("ArrowUp")
        expect(row).to_have_attribute("data-step", step)
        assert not box.evaluate(covered), f"step {step} is covered"


def test_uploads_are_refused_with_line_and_reason(page: Page, looking: str, tmp_path: Path) -> None:
    (tmp_path / "short.en").write_text("one\ntwo\nthree\n")
    (tmp_path / "short.fr").write_text("un\ndeux\n")
    (tmp_path / "binary.tsv").write_bytes(b"one\tun\n\x00\x01\x02")
    (tmp_path / "good.csv").write_text("en,fr\n" + "a b,b a\nb,a\n" * 30 + "lonely\n")
    go(page, looking, "?new=1&data=upload")
    box = page.locator("input[type=file]").first
    refused = page.get_by_test_id("stAlert")

    def upload(*names: str) -> None:
        while page.get_by_role("button", name="Remove").count():
            page.get_by_role("button", name="Remove").first.click()
            wait_until_idle(page)
        box.set_input_files([tmp_path / name for name in names])

    upload("binary.tsv")
    expect(refused).to_contain_text("binary.tsv, line 2: this is a binary file, not text.", timeout=30_000)
    expect(page.get_by_role("button", name="Start training")).to_be_disabled()
    upload("short.en", "short.fr")
    expect(refused).to_contain_text("from line 3 on, one of them has 1 more", timeout=30_000)
    upload("good.csv")
    expect(page.get_by_text("60 pairs")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("1 line left out")).to_be_visible()
    expect(page.get_by_role("button", name="Start training")).to_be_enabled()


def test_a_finished_run_can_be_kept_and_taken_away(
    page: Page, looking: str, models: Path, tmp_path: Path, new_page: Callable[..., Page]
) -> None:
    go(page, looking, "?run=first")
    page.get_by_role("button", name="More").click()
    with page.expect_download(timeout=30_000) as waiting:
        page.get_by_role("button", name="Download as a checkpoint").click()
    waiting.value.save_as(tmp_path / "first.zip")
    shutil.unpack_archive(tmp_path / "first.zip", tmp_path)
    assert checkpoints.load(tmp_path / "first").card["step"] > 0
    page.get_by_role("button", name="Keep as a model").click()
    dialog = page.get_by_test_id("stDialog")
    dialog.get_by_label("Name").fill("kept")
    dialog.get_by_role("button", name="Keep", exact=True).click()
    expect(dialog).to_have_count(0, timeout=30_000)
    assert checkpoints.load(kept_in(models) / "kept").card["step"] > 0
    expect(page.locator('.run[data-id="models/kept"]')).to_be_visible()

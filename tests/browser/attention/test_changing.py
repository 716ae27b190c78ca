"""Heads are switched off."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from headlight.formatting import signed
from tests.browser.attention.looking import HEAD, agree, go
from tests.browser.odd import SENTENCE
from tools.serving import wait_until_idle
from transformer import Trace, Translator


def test_switching_a_head_off_changes_everything_that_depends_on_it(
    page: Page, odd_url: str, odd: Translator, odd_trace: Trace
) -> None:
    go(page, f"{odd_url}/?kind=cross&layer=3&head=2")
    page.get_by_role("button", name="head 1", exact=True).first.click()  # layer 1, head 1
    page.get_by_text("Log-probability of the original").wait_for(timeout=30_000)
    wait_until_idle(page)
    expect(page).to_have_url(re.compile(r"changes=cross\.1\.1"))
    from ui.attention.view import HeadChange

    tap = HeadChange("cross", 1, 1).tap()
    changed = odd.trace(SENTENCE, interventions=[tap])
    forced = odd.trace_ids(odd_trace.source.ids, odd_trace.target.ids, [tap])
    agree(page, changed.cross[2, 1])
    expect(page.get_by_test_id("stMetricValue").last).to_have_text(
        f"{signed(forced.log_prob - odd_trace.log_prob, plus=True)} nats"
    )
    page.get_by_role("button", name="Show the difference in every cell").click()
    wait_until_idle(page)
    agree(page, forced.cross[2, 1] - odd_trace.cross[2, 1])
    page.get_by_role("button", name="Switch it on again").click()
    wait_until_idle(page)
    agree(page, odd_trace.cross[2, 1])


def test_changing_a_head_of_another_kind_keeps_the_picture_and_the_tab(page: Page, odd_url: str) -> None:
    go(page, f"{odd_url}/?kind=cross&layer=3&head=2")
    chart = page.locator(HEAD).element_handle()
    page.get_by_role("tab", name="Encoder").click()
    wait_until_idle(page)
    page.get_by_role("button", name="head 2", exact=True).first.click()
    page.get_by_text("Changed: 1 encoder.").wait_for()
    wait_until_idle(page)
    expect(page).to_have_url(re.compile(r"changes=encoder\.1\.2"))
    expect(page.get_by_role("tab", name="Encoder")).to_have_attribute("aria-selected", "true")
    assert chart.evaluate("chart => chart.isConnected")

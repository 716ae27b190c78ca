"""What a published page computes in Chromium, from a file and without a network, held to Python: some sentences.

`python -m benchmarks published --sentences 300` compares more, and the searches and patterns of every model that ships.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from benchmarks import published


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"), [("en-fr", 4), ("english-french", 12), ("english-hindi", 12), ("reverse-unmasked", 12)]
)
def test_a_page_computes_what_python_does(browser: Browser, name: str, count: int, tmp_path: Path) -> None:
    texts = published.sentences_for(name, count)
    assert len(set(texts)) == count
    found = published.agreement(browser, published.page_of(name, tmp_path), name, texts)
    assert found.sentences == count and found.holds, found


def test_a_difference_is_seen() -> None:
    exact = published.PageAgreement(3, 3, 3, 3, 1e-4, 1e-5)
    assert exact.holds
    for worse in ({"same_beam": 2}, {"same_greedy": 2}, {"logits": 2e-3}, {"weights": 2e-4}):
        assert not published.PageAgreement(**{**vars(exact), **worse}).holds  # type: ignore[arg-type]

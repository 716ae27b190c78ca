"""What a published page computes in Chromium, from a file and without a network, held to Python: a few sentences.

`python -m benchmarks published --sentences 300` compares more, and the searches and patterns of every model that ships.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from benchmarks import published


@pytest.mark.slow
@pytest.mark.parametrize("name", ["english-hindi", "reverse-unmasked"])
def test_a_page_computes_what_python_does(browser: Browser, name: str, tmp_path: Path) -> None:
    """tests/web/test_engine.py compares every model in Node; here the same engine runs in a worker of the page."""
    texts = published.sentences_for(name, 4)
    assert len(set(texts)) == 4
    found = published.agreement(browser, published.page_of(name, tmp_path), name, texts)
    assert found.sentences == 4 and found.holds, found


def test_a_difference_is_seen() -> None:
    exact = published.PageAgreement(3, 3, 3, 3, 1e-4, 1e-5)
    assert exact.holds
    for worse in ({"same_beam": 2}, {"same_greedy": 2}, {"logits": 2e-3}, {"weights": 2e-4}):
        assert not published.PageAgreement(**{**vars(exact), **worse}).holds  # type: ignore[arg-type]

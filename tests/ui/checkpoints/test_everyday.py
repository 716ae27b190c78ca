"""What a card says of everyday sentences, on the page."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.checkpoints.conftest import HOSTILE

FAILED = {"source": "Whose bag is this?", "written": "À qui est cet sac ?"}


def draw_card(card: dict[str, Any]) -> AppTest:
    def page(card: dict) -> None:  # run from its text alone, where no import of this file is known
        from ui.checkpoints import model

        model.everyday_sentences(card)

    app = AppTest.from_function(page, args=(card,)).run()
    assert not app.exception
    return app


def test_how_many_and_which_failed() -> None:
    command = "python -m tools.everyday checkpoints/x tests/everyday/en-fr.tsv"
    app = draw_card({"everyday": {"accepted": 99, "of": 100, "failed": [FAILED], "command": command}})
    assert app.markdown[0].value == "**99 of 100** everyday sentences translated acceptably"
    assert app.code[0].value == command
    (failed,) = app.expander
    assert failed.label == "What failed"
    assert failed.markdown[0].value == ":gray[Whose bag is this?]  \n**À qui est cet sac ?**"


def test_where_none_failed_there_is_nothing_to_open() -> None:
    app = draw_card({"everyday": {"accepted": 100, "of": 100, "failed": []}})
    assert len(app.markdown) == 1 and not app.expander


@pytest.mark.parametrize(
    "everyday",
    [None, [], {}, {"accepted": "9", "of": 10}, {"accepted": 9}, {"accepted": 9, "of": HOSTILE}],
)
def test_a_card_that_says_something_else_draws_nothing(everyday: object) -> None:
    app = draw_card({"everyday": everyday})
    assert not app.markdown and not app.expander


def test_nothing_in_a_sentence_is_markup() -> None:
    rows = [
        {"source": HOSTILE, "written": "x\n\n# **b** ](javascript:x)"},
        {"source": "a"},
        {"source": 1, "written": 2},
        3,
    ]
    (failed,) = draw_card({"everyday": {"accepted": 0, "of": 4, "failed": rows}}).expander
    source = r"\<img src=x onerror=alert\(1\)\>"
    assert failed.markdown[0].value == rf":gray[{source}]  " + "\n" + r"**x \# \*\*b\*\* \]\(javascript\:x\)**"
    assert draw_card({"everyday": {"accepted": 0, "of": 1, "failed": "all"}}).expander.len == 0

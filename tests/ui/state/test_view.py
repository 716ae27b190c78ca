"""The view and the address, and what the Why page says that was measured of a model."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from ui.anatomy.view import AnatomyView
from ui.attention.heads import over_corpus
from ui.attention.view import AttentionView
from ui.state.models import CHECKPOINTS
from ui.state.why_measured import ATTENTION, FILE, antecedents_measured, why_measured
from ui.why.swap import _same_three
from ui.widgets.text import signed

SHIPPED = sorted(file.parent.name for file in CHECKPOINTS.glob(f"*/{FILE}"))


def page() -> None:
    """Of a model with two layers of four heads."""
    from ui.anatomy.view import AnatomyView
    from ui.state.view import confine, current, write_address

    confine(current(AnatomyView), layers=2, heads=4)
    write_address()


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ({"layer": "2", "head": "4"}, {"layer": "2", "head": "4"}),
        ({"layer": "3", "head": "4"}, {"head": "4"}),
        ({"layer": "1", "head": "77"}, {"layer": "1"}),
        ({"layer": "9", "head": "9", "kind": "encoder"}, {"kind": "encoder"}),
    ],
)
def test_a_head_that_is_not_there_leaves_the_address(asked: dict[str, str], left: dict[str, str]) -> None:
    opened = AppTest.from_function(page)
    opened.query_params.update(asked)
    for _ in range(2):  # and does not come back
        opened.run()
        shown = {name: value if isinstance(value, str) else value[0] for name, value in opened.query_params.items()}
        assert not opened.exception and shown == left


def test_anatomy_opens_at_its_bare_address_and_tells_other_pages_its_kind() -> None:
    view = AnatomyView()
    assert view.to_query() == {} and view.to_keep() == {"kind": view.kind}
    assert AttentionView.from_query(view.to_keep()).kind == view.kind != AttentionView.kind


@pytest.mark.parametrize("name", SHIPPED)
def test_the_measurements_fit_the_models(name: str) -> None:
    facts = why_measured(name)
    assert facts is not None and ATTENTION in facts["measures"]
    told = re.sub(r'\[([^]]*)\]\(#term[^ ]* "[^"]*"\)', r"\1", over_corpus(name))  # terms are links
    own, best = facts["measures"][ATTENTION], facts["measures"][facts["best"]]
    assert f"{signed(own['mean'])} ({signed(own['low'])} to {signed(own['high'])})" in told and facts["corpus"] in told
    clear = ATTENTION not in (facts["best"], *facts["not_told_apart_from_best"])
    assert (f"{facts['best']} at {signed(best['mean'])}" in told) == clear
    assert all(one["low"] <= one["mean"] <= one["high"] for one in facts["measures"].values())


def test_a_model_without_measurements_has_none() -> None:
    assert len(SHIPPED) >= 5
    assert why_measured("de-en") is None and over_corpus("de-en") == ""


def test_the_causes_of_il_and_elle_are_told_with_the_same_heads_throughout() -> None:
    facts = antecedents_measured("english-french")
    assert facts is not None
    told = _same_three("english-french")
    for part in ("top", "named", "random"):
        assert f"{round(100 * facts[part]['restored'][0])} %" in told
    assert "Cross 2.3, Decoder self 3.3, Cross 3.3" in told
    assert antecedents_measured("reverse") is None and _same_three("reverse") == ""

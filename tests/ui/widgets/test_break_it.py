"""A model that is broken on a page: it is that model with that mistake, it says so, and it is whole elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from headlight.teaching.mistakes import MISTAKES, RUNNABLE, break_translator
from tests.small import TEXTS, small_checkpoint, small_t5_checkpoint
from tests.ui.pages import open_page as opened
from ui.anatomy.view import AnatomyView
from ui.attention.view import AttentionView
from ui.state import models
from ui.widgets import break_it

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def shelf(shelves: Path) -> None:
    for name, checkpoint in (("small", small_checkpoint()), ("t5", small_t5_checkpoint())):
        checkpoint.card["examples"] = TEXTS[:2]
        checkpoints.save(checkpoint, shelves / "checkpoints" / name)


def mistake_notes(app: AppTest) -> list[str]:
    return [one.value for one in app.markdown if "Broken on purpose" in one.value]


@pytest.mark.parametrize("name", RUNNABLE)
def test_the_trace_and_its_checks_are_those_of_the_broken_model(name: str) -> None:
    of = models.broken_name("small", name)
    trace = models.trace(of, TEXTS[0], TEXTS[1])
    due = break_translator(models.translator("small"), name).trace(TEXTS[0], TEXTS[1])
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_array_equal(trace.pattern(kind), due.pattern(kind))
    assert of not in models.model_names() and "broken" not in models.translator("small").card
    # What is computed again beside the picture has the mistake too.
    held = {one.name: one.holds for one in models.checks(of, TEXTS[0], TEXTS[1])}
    assert held["Recording changes nothing"]


@pytest.mark.parametrize("page", ["attention", "anatomy"])
def test_it_is_said_with_both_equations_and_can_be_mended(page: str) -> None:
    made = MISTAKES["no-causal-mask"]
    app = opened(page, model="small", broken=made.name)
    assert len(mistake_notes(app)) == 1
    formulas = [one.value for one in app.latex]
    assert any(made.right in one for one in formulas) and any(made.wrong in one for one in formulas)
    assert app.query_params["broken"] == made.name
    app.button(key="repair").click().run()
    assert not mistake_notes(app) and "broken" not in app.query_params


def test_a_choice_in_the_sidebar_breaks_it_and_shows_the_attention_in_which_it_shows() -> None:
    app = opened("attention", model="small")
    assert not mistake_notes(app)
    (box,) = [box for box in app.sidebar.selectbox if box.label == "Break it"]
    box.set_value("no-causal-mask").run()
    assert len(mistake_notes(app)) == 1 and app.query_params["broken"] == "no-causal-mask"
    assert app.query_params["kind"] == "decoder" and app.session_state["view"].kind == "decoder"


def test_a_mistake_that_every_kind_shows_leaves_the_kind_that_a_fragment_has_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(break_it.st, "session_state", {"view": AttentionView(kind="encoder")})
    assert break_it.telling_kind("no-feed-forward") == break_it.telling_kind("") == "encoder"
    assert break_it.telling_kind("no-causal-mask") == "decoder"


def test_another_page_is_whole_and_so_is_the_first_then(monkeypatch: pytest.MonkeyPatch) -> None:
    from ui.state import view as state

    session: dict[str, Any] = {}
    query: dict[str, str] = {"broken": "no-scaling", "text": "a"}

    class Query(dict[str, str]):
        def to_dict(self) -> dict[str, str]:
            return dict(self)

    monkeypatch.setattr(state.st, "session_state", session)
    monkeypatch.setattr(state.st, "query_params", Query(query))
    assert state.open_view(AttentionView).broken == "no-scaling"
    monkeypatch.setattr(state.st, "query_params", Query())
    assert state.open_view(AttentionView).broken == "no-scaling"  # the same page again
    assert state.open_view(AnatomyView).broken == ""  # chosen in the menu
    back = state.open_view(AttentionView)
    assert back.broken == "" and back.text == "a"


def test_anatomy_makes_the_mistakes_that_are_changes_of_the_model() -> None:
    """Anatomy computes the parts one by one from the paper's equations, so it cannot show a wrong equation."""
    masks, parts = {"no-causal-mask", "mask-thrown-away"}, {"no-feed-forward", "no-non-linearity", "no-embedding-scale"}
    assert set(AnatomyView.MISTAKES) == {*masks, "no-positions", *parts}
    assert AnatomyView.from_query({"broken": "no-scaling"}).broken == ""


def test_what_cannot_be_broken_is_shown_whole_and_says_why() -> None:
    app = opened("attention", model="t5", broken="no-scaling")
    assert not mistake_notes(app) and any("positions are a bias" in one.value for one in app.info)
    assert opened("attention", model="small", broken="nonsense").query_params.get("broken") is None


def test_what_an_example_shows_is_said_of_the_model_as_it_is_alone(shelves: Path) -> None:
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = [{"text": TEXTS[0], "why": "Two words swap places."}]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "taught")

    def lines(**query: str) -> str:
        return " ".join(one.value for one in opened("attention", model="taught", text=TEXTS[0], **query).caption)

    assert "Two words swap places" in lines()
    for changed in ({"broken": "no-scaling"}, {"changes": "cross.1.1"}, {"target": TEXTS[1]}):
        assert "Two words swap places" not in lines(**changed)

"""What the Attention page says about heads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.small import TEXTS, small_checkpoint
from transformer import Translator, checkpoints
from transformer.analysis import HeadEffect, head_importance
from transformer.analysis.layout import sharpest
from transformer.taps import Ablate, Site
from ui.attention.ranking import FULL, full_bar, name, places
from ui.attention.view import Change, told
from ui.state import models
from ui.widgets.text import signed

PAGE = Path(__file__).resolve().parents[3] / "pages" / "attention.py"
CHANGES = ("cross.3.2", "cross.2.1")
TAPS = (Ablate(Site("decoder", 2, "cross"), 1), Ablate(Site("decoder", 1, "cross"), 0))
OFF = "is off: its measures are not defined"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Translator:
    """The only one there."""
    for place in ("checkpoints", "models", "runs"):
        (tmp_path / place).mkdir()
        monkeypatch.setattr(models, place.upper(), tmp_path / place)
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = TEXTS[:2]
    checkpoints.save(checkpoint, tmp_path / "checkpoints" / "small")
    return Translator.load(tmp_path / "checkpoints" / "small")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=300)
    for key, value in query.items():
        app.query_params[key] = value
    return ran(app)


def ran(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception and not app.error
    return app


def texts(app: AppTest) -> str:
    return " ".join(element.value for element in (*app.markdown, *app.caption))


def header(app: AppTest, key: str) -> dict[str, Any]:
    found = next(one for one in app.get("bidi_component") if re.search(rf"-{key}(-None)?$", one.proto.id))
    data = found.proto.bytes
    return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])


# ---- what removing one head costs ----------------------------------------------------------------------------------


def test_the_cost_of_a_head_is_measured_from_the_heads_that_are_shown(model: Translator) -> None:
    """With two heads off, it told what a third costs with both of them on."""
    app = opened()
    (button,) = (one for one in app.button if one.label == "How important is each head?")
    button.click()
    ran(app)
    assert "with all other heads on" in texts(app)
    trace = model.trace(TEXTS[0])
    ids = trace.source.ids, trace.target.ids
    alone = head_importance(model.model, *ids)
    assert told_costs(app) == [signed(effect.delta, plus=True) for effect in alone[:8]]

    app.query_params["changes"] = ",".join(CHANGES)
    ran(app)
    assert "with cross 3.2 and cross 2.1 off" in texts(app)
    together = head_importance(model.model, *ids, interventions=TAPS)
    assert told_costs(app) == [signed(effect.delta, plus=True) for effect in together[:8]] != told_costs_of(alone)
    assert not any(name(effect) in ("Cross layer 3, head 2", "Cross layer 2, head 1") for effect in together)


def told_costs(app: AppTest) -> list[str]:
    (html,) = (one.value for one in app.get("html") if 'class="ranking"' in one.value)
    return re.findall(r">([^<>]*) nats<", html)


def told_costs_of(effects: list[HeadEffect]) -> list[str]:
    return [signed(effect.delta, plus=True) for effect in effects[:8]]


def effects(*deltas: float) -> list[HeadEffect]:
    return [HeadEffect(Site("decoder", 0, "cross"), head, delta) for head, delta in enumerate(deltas)]


def test_bars_stand_on_a_scale_and_costs_can_be_told_apart() -> None:
    """−0.02 had a full bar, and seven of eight costs were −0.00 under bars of different lengths."""
    assert full_bar(effects(-0.02, 0.001)) == FULL
    assert full_bar(effects(-4.585, 0.001)) == 4.585
    costs = [-0.0042, -0.0041, -0.0007, 0.0]
    assert len({f"{cost:.{places(costs)}f}" for cost in costs}) == 4
    assert places([-1.0, -2.0]) == places([0.5]) == 2


def test_changes_are_named_as_people_say_them() -> None:
    changes = [
        Change("cross", 3, 3),
        Change("cross", 2, 4),
        Change("encoder", 1, 1),
        Change("decoder", 1, 2, "uniform"),
    ]
    assert told(changes) == "cross 3.3, cross 2.4 and encoder 1.1 off, decoder 1.2 uniform"
    assert told(changes[:2]) == "cross 3.3 and cross 2.4 off"
    assert told([Change("cross", 1, 1, "scale", 0.0), Change("cross", 1, 2, "scale", 0.5)]) == (
        "cross 1.1 off, cross 1.2 × 0.5"
    )
    assert told([Change("cross", 1, head) for head in range(1, 9)]) == "8 heads off"


# ---- a head that is off ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["cross.3.2", "cross.3.2x0"])
def test_a_head_that_is_off_is_said_to_be_off_everywhere(model: Translator, change: str) -> None:
    """It had an entropy of 0.00, measures of NaN, and looked most at nothing, 0 %."""
    app = opened(changes=change, layer="3", head="2", hide="1")
    every = header(app, "overview-patterns")["kinds"]["cross"]
    assert every["captions"][2][1] == [OFF] and every["off"] == [[False, False]] * 2 + [[False, True]]
    assert [values[5] for values in every["profile"]["values"]] == [None] * 5
    assert all(value is not None for values in every["profile"]["values"] for value in values[:5])
    assert header_of_plot(app)["title"] == ["Layer 3, head 2", "off"]
    table = next(one.value for one in app.dataframe if "Entropy" in one.value)
    assert table["Head"].tolist()[5] == "Layer 3, head 2, off ◂" and table.iloc[5, 1:].isna().all()
    assert "0%" not in texts(app)


def header_of_plot(app: AppTest) -> dict[str, Any]:
    (found,) = (one for one in app.get("bidi_component") if "head-plot" in one.proto.id)
    return json.loads(found.proto.bytes)


# ---- special tokens -------------------------------------------------------------------------------------------------


def test_hidden_special_tokens_are_on_neither_axis(model: Translator) -> None:
    """It said that they were hidden, and the rows [SOS] and [EOS] stayed."""
    trace = model.trace(TEXTS[0])
    for kind in ("encoder", "decoder", "cross"):
        app = opened(kind=kind, hide="1", layer="1", head="1")
        lines = header(app, "lines")
        named = [*lines["rows"], *lines["columns"], *(lines["rows_read"] or [])]
        assert not {"[SOS]", "[EOS]"} & set(named)
        assert len(lines["rows"]) == sum(not special for special in trace.row_tokens(kind).special)
        assert "The rows and columns of special tokens are hidden" in texts(app)


# ---- another sentence ----------------------------------------------------------------------------------------------


def unlike(model: Translator, kind: str) -> tuple[str, str]:
    """Two sentences whose sharpest heads differ."""
    words = TEXTS[0].split()
    every = [" ".join(words[i:j]) for i in range(3) for j in range(i + 3, len(words) + 1)]
    first = sharpest(model.trace(every[0]), kind)
    return every[0], next(text for text in every if sharpest(model.trace(text), kind) != first)


@pytest.mark.parametrize(("page", "kind", "key"), [("attention", "cross", "overview"), ("decoding", "cross", "player")])
def test_the_head_that_the_page_chose_stays_when_the_sentence_changes(
    model: Translator, page: str, kind: str, key: str
) -> None:
    """It moved, unnoticed, in the middle of a comparison."""
    one, other = unlike(model, kind)
    app = AppTest.from_file(str(PAGE.with_name(f"{page}.py")), default_timeout=300)
    app.query_params["text"] = one
    ran(app)
    layer, head = chosen(app, page, key)
    assert (layer, head) == sharpest(model.trace(one), kind)
    assert "head" not in app.query_params  # the address gets no entry that nobody asked for
    app.text_input[0].set_value(other)
    ran(app)
    assert app.query_params["text"] == other
    assert chosen(app, page, key) == (layer, head) != sharpest(model.trace(other), kind)
    assert (app.query_params["layer"], app.query_params["head"]) == (str(layer + 1), str(head + 1))


def chosen(app: AppTest, page: str, key: str) -> tuple[int, int]:
    """The layer and head, from 0, that a page shows."""
    if page == "decoding":
        start = header(app, key)["start"]
        return start["layer"], start["head"]
    layer, head = header(app, key)["selected"]
    return layer, head

"""What the Attention page says about heads."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from headlight.analysis import HeadEffect, head_importance
from headlight.analysis.head_changes import HeadChange, describe_changes
from headlight.analysis.layout import sharpest
from headlight.checkpoints import load_translator
from headlight.cli.verbs import main
from headlight.formatting import signed
from tests.small import TEXTS
from tests.ui.pages import header, open_page, payload, ran, save_small
from transformer import Translator
from transformer.taps import Ablate, Site
from ui.attention.ranking import FULL_BAR_NATS, decimals, full_bar, head_name
from ui.attention.second import closest
from ui.state.atlases import FILE, keep, known_roles

opened = partial(open_page, "attention")
CHANGES = ("cross.3.2", "cross.2.1")
TAPS = (Ablate(Site("decoder", 2, "cross"), 1), Ablate(Site("decoder", 1, "cross"), 0))
OFF = "is off: its measures are not defined"


@pytest.fixture
def model(shelves: Path) -> Translator:
    """The only one there."""
    return load_translator(save_small(shelves))


def texts(app: AppTest) -> str:
    """Return the page's text without the links that explain terms."""
    said = " ".join(element.value for element in (*app.markdown, *app.caption))
    return re.sub(r'\[([^]]*)]\(#term-[\w-]+ "(?:\\.|[^"\\])*"\)', r"\1", said)


# ---- what removing one head costs ----------------------------------------------------------------------------------


def test_the_cost_of_a_head_is_measured_from_the_heads_that_are_shown(model: Translator) -> None:
    """With two heads off, the page had shown the cost of a third with both of them on."""
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
    assert not any(head_name(effect) in ("Cross layer 3, head 2", "Cross layer 2, head 1") for effect in together)


def told_costs(app: AppTest) -> list[str]:
    (html,) = (one.value for one in app.get("html") if "bars ranking" in one.value)
    return re.findall(r">([^<>]*) nats<", html)


def told_costs_of(effects: list[HeadEffect]) -> list[str]:
    return [signed(effect.delta, plus=True) for effect in effects[:8]]


def effects(*deltas: float) -> list[HeadEffect]:
    return [HeadEffect(Site("decoder", 0, "cross"), head, delta) for head, delta in enumerate(deltas)]


def test_bars_stand_on_a_scale_and_costs_can_be_told_apart() -> None:
    """−0.02 had a full bar, and seven of eight costs were −0.00 under bars of different lengths."""
    assert full_bar(effects(-0.02, 0.001)) == FULL_BAR_NATS
    assert full_bar(effects(-4.585, 0.001)) == 4.585
    costs = [-0.0042, -0.0041, -0.0007, 0.0]
    assert len({f"{cost:.{decimals(costs)}f}" for cost in costs}) == 4
    assert decimals([-1.0, -2.0]) == decimals([0.5]) == 2


def test_changes_are_named_as_people_say_them() -> None:
    changes = [
        HeadChange("cross", 3, 3),
        HeadChange("cross", 2, 4),
        HeadChange("encoder", 1, 1),
        HeadChange("decoder", 1, 2, "uniform"),
    ]
    assert describe_changes(changes) == "cross 3.3, cross 2.4 and encoder 1.1 off, decoder 1.2 uniform"
    assert describe_changes(changes[:2]) == "cross 3.3 and cross 2.4 off"
    assert describe_changes([HeadChange("cross", 1, 1, "scale", 0.0), HeadChange("cross", 1, 2, "scale", 0.5)]) == (
        "cross 1.1 off, cross 1.2 × 0.5"
    )
    assert describe_changes([HeadChange("cross", 1, head) for head in range(1, 9)]) == "8 heads off"


# ---- a head that is off ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["cross.3.2", "cross.3.2x0"])
def test_a_head_that_is_off_is_said_to_be_off_everywhere(model: Translator, change: str) -> None:
    """A head that is off has no entropy, no measures and no largest weight, so the page shows none of them."""
    app = opened(changes=change, layer="3", head="2", hide="1")
    every = header(app, "overview-patterns")["kinds"]["cross"]
    assert every["captions"][2][1] == [OFF] and every["off"] == [["", ""]] * 2 + [["", "off"]]
    assert [values[5] for values in every["profile"]["values"]] == [None] * len(every["profile"]["names"])
    assert all(value is not None for values in every["profile"]["values"] for value in values[:5])
    assert header(app, "head")["title"] == ["Layer 3, head 2", "off"]
    table = next(one.value for one in app.dataframe if "Entropy" in one.value)
    assert table["Head"].tolist()[5] == "Layer 3, head 2, off ◂" and table.iloc[5, 1:].isna().all()
    assert not re.search(r"(?<!\d)0\s?%", texts(app))


# ---- special tokens -------------------------------------------------------------------------------------------------


def test_hidden_special_tokens_are_on_neither_axis(model: Translator) -> None:
    """The page had said that special tokens are hidden and still shown the rows [SOS] and [EOS]."""
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


@pytest.mark.slow
@pytest.mark.parametrize(("page", "kind", "key"), [("attention", "cross", "overview"), ("decoding", "cross", "player")])
def test_the_head_that_the_page_chose_stays_when_the_sentence_changes(
    model: Translator, page: str, kind: str, key: str
) -> None:
    """The page had silently chosen another head in the middle of a comparison."""
    one, other = unlike(model, kind)
    app = open_page(page, text=one)
    layer, head = chosen(app, page, key)
    assert (layer, head) == sharpest(model.trace(one), kind)
    assert "head" not in app.query_params  # the address gets no entry that nobody asked for
    app.text_area[0].set_value(other)
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


# ---- two sentences --------------------------------------------------------------------------------------------------


def test_two_sentences_stand_beside_each_other_with_the_same_head(model: Translator) -> None:
    one, other = unlike(model, "cross")
    app = opened(text=one)
    (button,) = (one for one in app.button if one.label == "Compare with a second sentence")
    button.click()
    ran(app)
    assert app.query_params["second"] == closest(one, TEXTS[:2]) != one
    app.query_params["second"] = other
    ran(app)
    layer, head = sharpest(model.trace(one), "cross")
    for place, text in (("head", one), ("head-second", other)):
        drawn, arrays = payload(app, place)
        assert drawn["title"][0] == ("First sentence" if place == "head" else "Second sentence")
        assert np.allclose(arrays["weights"], model.trace(text).cross[layer, head], atol=1e-6)
    assert f"**Layer {layer + 1}, head {head + 1} in both sentences**" in texts(app)
    assert any("close the second to see them" in caption.value for caption in app.caption)
    (button,) = (one for one in app.button if one.label == "Close")
    button.click()
    ran(app)
    assert "second" not in app.query_params and not any(
        "head-second" in one.proto.id for one in app.get("bidi_component")
    )


def test_a_second_sentence_that_cannot_be_read_leaves_the_first(model: Translator) -> None:
    app = opened(second="")
    assert any("sentence" in one.value.lower() for one in app.info)
    assert header(app, "head")["title"]


def test_the_closest_example_is_offered() -> None:
    tired, wide, other = "it was too tired .", "it was too wide .", "two dogs"
    assert closest(tired, [tired, other, wide]) == wide
    assert closest(tired, [tired]) == tired


# ---- what is known over a corpus ------------------------------------------------------------------------------------


@pytest.fixture
def measured(model: Translator, tmp_path: Path) -> Translator:
    """The model with a measurement of two heads that have a role, the same one, and one of them clearer."""
    folder, table = tmp_path / "checkpoints" / "small", tmp_path / "pairs.tsv"
    table.write_text("\n".join(f"{TEXTS[0]}\t{TEXTS[1]}" for _ in range(3)))
    file = folder / FILE
    assert main(["heads", str(folder), "--corpus", str(table), "--sample", "0", "--json", str(file)]) == 0
    facts = json.loads(file.read_text())
    for head, share in ((2, 0.8), (3, 0.9)):
        for number, value in (("mean", share), ("deviation", 0.01), ("units", 500), ("sentences", 400)):
            facts["heads"]["encoder"]["previous"][number][1][head] = value
    file.write_text(json.dumps(facts))
    return model


def test_the_role_that_a_head_has_over_a_corpus_stands_beside_it(measured: Translator) -> None:
    app = opened(kind="encoder", layer="2", head="3")
    shown = texts(app).replace("\\", "").replace("\u00a0", " ")
    assert "Looks at the previous token: 80 % of its weight in 500 sentences; chance" in shown
    assert "Over 3 sentences of " in shown
    app = opened(kind="encoder", layer="1", head="1")
    assert "no measure shows clearly what this head does" in texts(app)


def test_one_click_leads_to_the_head_that_has_a_role(measured: Translator) -> None:
    app = opened()
    (button,) = (one for one in app.button if one.label == "previous token")
    button.click()
    ran(app)
    assert (app.query_params["kind"], app.query_params["layer"], app.query_params["head"]) == ("encoder", "2", "4")
    assert header(app, "overview")["selected"] == [1, 3]


def test_a_model_that_nobody_measured_has_no_roles(model: Translator) -> None:
    assert "Take me to the head" not in texts(opened())


def test_roles_of_a_measurement_that_was_made_here_are_known(measured: Translator, tmp_path: Path) -> None:
    file = tmp_path / "checkpoints" / "small" / FILE
    facts = json.loads(file.read_text())
    file.unlink()
    assert known_roles("small") is None
    keep("heads", "small", "copy", 200, facts | {"corpus": "copy"})
    known = known_roles("small")
    assert known is not None and known.corpus == "copy"
    assert {what: place for what, (place, _) in known.clearest.items()} == {"previous": ("encoder", 1, 3)}


# ---- what is typed, and what an address asks for --------------------------------------------------------------------


def test_a_sentence_that_cannot_be_read_is_answered_until_another_can(model: Translator) -> None:
    app = opened()
    for text, message in (
        ("", "empty"),
        ("   ", "empty"),
        ("two " * 2_500, "at most 32"),
        ("😀 日本語 שלום", "not in the model's vocabulary"),
    ):
        app.text_area[0].set_value(text)
        ran(app)
        assert message in said(app)
        app.text_area[0].set_value("two dogs")
        ran(app)
        assert message not in said(app) and overviews(app)


def test_a_translation_that_cannot_be_read_can_be_changed(model: Translator) -> None:
    app = opened(target="")
    assert "Type one, or let the model write its own" in alerts(app) and not overviews(app)
    (own,) = (one for one in (*app.checkbox, *app.toggle) if one.label == "Type your own")
    own.set_value(False)
    ran(app)
    assert overviews(app) and "target" not in app.query_params


def test_a_typed_translation_is_read_along_and_its_checks_can_be_read(model: Translator) -> None:
    app = opened(text="two dogs", target="a little girl", layer="2", head="2")
    trace = model.trace("two dogs", target="a little girl")
    assert np.allclose(payload(app, "head")[1]["weights"], trace.cross[1, 1], atol=1e-6)
    assert any(f"{signed(trace.log_prob)} nats" in one.value for one in app.get("html"))
    assert texts(app).count(":material/check: ") == 5
    assert "**Every row sums to 1.**" in texts(app) and "**No look-ahead.**" in texts(app)


def test_an_unknown_model_or_head_in_a_link_is_no_error(model: Translator) -> None:
    app = opened(model="**none**", layer="99", head="77", kind="x", changes="cross.9.9", show="difference", mass="3")
    assert "There is no model “**none**” here" in said(app) and overviews(app)


def overviews(app: AppTest) -> list[str]:
    """The pictures of every head."""
    return [one.proto.id for one in app.get("bidi_component") if "-overview-patterns" in one.proto.id]


def alerts(app: AppTest) -> str:
    return " ".join(one.value for one in (*app.info, *app.warning)).replace("\\", "")


def said(app: AppTest) -> str:
    return (texts(app) + alerts(app)).replace("\\", "")

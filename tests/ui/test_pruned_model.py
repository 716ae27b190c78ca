"""Every page opens a model without some of its heads, and says which are gone."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from headlight import checkpoints
from headlight.analysis.pruning.checkpoint import pruned_checkpoint
from tests.small import TEXTS, small_checkpoint
from tests.test_pruned import GONE, TARGET, TEXT
from tests.ui.pages import header, open_page, texts


@pytest.fixture(autouse=True)
def model(shelves: Path) -> None:
    """The only one there."""
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = TEXTS[:2]
    checkpoints.save(pruned_checkpoint(checkpoint, GONE, {}), shelves / "checkpoints" / "small")


opened = partial(open_page, text=TEXT, target=TARGET)


@pytest.mark.parametrize(
    ("kind", "show"),
    [("encoder", "raw"), ("decoder", "raw"), ("encoder", "value"), ("decoder", "mean"), ("cross", "rollout")],
)
def test_attention(kind: str, show: str) -> None:
    opened("attention", kind=kind, show=show, layer="1", head="1")


def test_attention_shows_what_is_gone() -> None:
    app = opened("attention", kind="encoder", layer="2", head="3", changes="encoder.2.3,encoder.2.1")
    every = header(app, "overview-patterns")["kinds"]
    assert every["encoder"]["off"] == [["pruned"] * 4, ["off", "", "pruned", ""]]
    assert every["cross"]["off"] == [["", ""], ["pruned", "pruned"], ["", "pruned"]]
    assert every["encoder"]["captions"][1][2] == ["was pruned: the model has no such head any more"]
    assert header(app, "head")["title"] == ["Layer 2, head 3", "pruned"]
    heads = next(one.value for one in app.dataframe if "Entropy" in one.value)["Head"].tolist()
    assert heads[6] == "Layer 2, head 3, pruned ◂" and heads[4] == "Layer 2, head 1, off"
    assert "all pruned" in texts(app)
    pills = {one.label: one.options for one in app.get("button_group") if "to change" in getattr(one, "label", "")}
    assert pills == {"Heads of encoder layer 2 to change": ["head 1", "head 2", "head 4"]}


@pytest.mark.parametrize(
    ("look", "kind", "layer", "head"),
    [
        ("word", "encoder", "2", "3"),
        ("word", "cross", "3", "1"),
        ("matrices", "decoder", "1", "1"),
        ("heads", "encoder", "2", "3"),
        ("heads", "cross", "3", "1"),
        ("scaling", "decoder", "1", "1"),
        ("plane", "encoder", "2", "3"),
    ],
)
def test_anatomy(look: str, kind: str, layer: str, head: str) -> None:
    opened("anatomy", kind=kind, layer=layer, head=head, look=look)


def test_anatomy_of_an_attention_that_lost_all_heads_says_so() -> None:
    app = opened("anatomy", kind="encoder", layer="1", head="2", look="heads")
    assert "All heads of this attention were pruned" in texts(app)
    parts = header(app, "map")["parts"]
    gone = {(part["kind"], part["layer"]): part["pruned"] for part in parts if part["pruned"]}
    assert gone == {
        ("encoder", 0): [0, 1, 2, 3], ("encoder", 1): [2], ("decoder", 0): [0], ("cross", 1): [0, 1],
        ("cross", 2): [1],
    }  # fmt: skip
    assert any("3 of 4 heads (the others were pruned) of 4 dimensions" in part["facts"] for part in parts)


@pytest.mark.parametrize("part", ["embedding", "ff", "norm", "output"])
def test_anatomy_of_other_parts(part: str) -> None:
    opened("anatomy", part=part)


def test_why() -> None:
    """Open every section, also the swapped cause, in which a pruned head has no share."""
    app = opened("why", model="small", step="1", corrupted=TEXTS[1])
    assert "The top 3" in texts(app) and "NaN" not in texts(app)


@pytest.mark.parametrize("page", ["decoding", "positions", "checkpoints"])
def test_other_pages(page: str) -> None:
    app = opened(page, model="small")
    assert "Small, 9 of 20 heads pruned" in texts(app) or page != "checkpoints"
    if page == "decoding":
        opened(page, under="attention", layer="2", head="1")


def test_heads() -> None:
    app = opened("heads", corpus="examples", kind="encoder", layer="1", head="1")
    for _ in range(60):
        if app.dataframe:
            break
        app.run()
    assert not app.exception and not app.error
    assert app.dataframe and "This head was pruned" in texts(app)

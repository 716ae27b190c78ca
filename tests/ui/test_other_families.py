"""Every page on models of other families and on imported ones, without a browser; tests/browser does some in one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from headlight.importers.importing import import_model
from tests.checkpoints.test_hugging_face_tokenizers import marian_folder
from tests.checkpoints.tutorials import answers, file
from tests.small import small_bart_checkpoint, small_t5_checkpoint
from tests.ui.pages import open_page as opened
from tests.ui.pages import texts, use_folders
from tests.unpacked import unpacked


@pytest.fixture(scope="module", autouse=True)
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("families")
    checkpoints.save(small_t5_checkpoint(shared_bias=False), folder / "checkpoints" / "a-t5")
    checkpoints.save(small_bart_checkpoint(), folder / "checkpoints" / "b-bart")
    import_model(marian_folder(tmp_path_factory.mktemp("theirs")), folder / "models" / "marian")
    import_model(file("ground-up"), folder / "models" / "ground-up", answers("ground-up", sos_id=2, eos_id=3))
    with pytest.MonkeyPatch.context() as patch:
        use_folders(folder, patch)
        yield folder


def header(app: AppTest, component: str) -> dict[str, Any]:
    found = next(one for one in app.get("bidi_component") if one.proto.component_name == f"headlight_{component}")
    return unpacked(found.proto.bytes)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "tokens", "start"),
    [
        ("a-t5", "two dogs", 2, "[SOS]"),
        ("b-bart", "two dogs", 2, "[SOS]"),
        ("models/ground-up", "5 9 12 7 30", 5, "2"),
        ("models/marian", "the girl walks on snow", 5, "<pad>"),
    ],
)
def test_a_model_goes_through_every_page(name: str, text: str, tokens: int, start: str) -> None:
    """The text as it is read and written again."""
    of = {"model": name, "text": text}
    read = {**of, "target": text}
    app = opened("attention", **read, kind="cross")
    shown = header(app, "head")
    assert shown["rows_read"] == [start, *shown["rows"][:tokens]]
    assert texts(app).count(":material/check: ") == 5  # each check of it holds
    opened("attention", **read, kind="cross", words="1", changes="cross.1.1")
    nodes = header(opened("decoding", **of), "player")["nodes"]
    assert len(nodes["parent"]) > 3
    app = opened("positions", **of, added="1")
    assert not app.warning and "The same words in another order" in [element.value for element in app.subheader]
    for kind in ("encoder", "decoder", "cross"):
        agreement = header(opened("anatomy", **read, kind=kind), "walk")["agreement"]
        assert max(agreement.values()) < 1e-5
    for part in ("embedding", "ff", "output"):
        check = header(opened("anatomy", **read, part=part), "parts")["check"]
        assert float(check.rpartition("within ")[2].replace("−", "-")) < 1e-5
    assert any(button.label == "New run" for button in opened("training", **of).button)
    app = opened("checkpoints", **of)
    assert [element.value.replace("\\", "") for element in app.subheader] == [name]
    box = next(one for one in (*app.text_input, *app.text_area) if one.label == "Text for the tokenizer")
    box.set_value(text).run()
    assert not app.exception and f"{tokens} words" in texts(app)
    assert "Configurations" in texts(opened("checkpoints", **of, beside="b-bart"))


TYPED = {"text": "a little girl is sitting", "target": "two dogs are running"}


def test_what_the_pages_say_of_a_t5() -> None:
    """tests/browser/test_other_families.py has the stages of its heads."""
    rows = header(opened("anatomy", model="a-t5", **TYPED, part="ff", kind="encoder"), "parts")["rows"]
    assert "Gate, a third linear layer" in [row["name"] for row in rows]
    app = opened("positions", model="a-t5", **TYPED)
    assert "Every distance has its own bias" in [element.value for element in app.subheader]
    plots = [one.proto.id for one in app.get("bidi_component") if one.proto.component_name == "headlight_plot"]
    assert [id.rpartition("-bias-")[2] for id in plots if "-bias-" in id] == ["encoder", "decoder"]


def test_what_the_pages_say_of_a_model_built_as_bart_is() -> None:
    app = opened("anatomy", model="b-bart", **TYPED, part="embedding")
    assert "Layer norm then brings the sum to mean 0" in texts(app)
    app = opened("positions", model="b-bart", **TYPED, added="1")
    assert "Every position gets the vector that is stored for it" in [element.value for element in app.subheader]
    assert "Layer norm brings the sum to mean 0 and variance 1" in texts(app)

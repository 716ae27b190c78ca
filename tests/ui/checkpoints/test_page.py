"""The page without a browser: two models beside each other, and a file from the upload to its attention.

tests/browser/test_checkpoints_page.py has what is done on the shelf, and in a dialog.
"""

from __future__ import annotations

import io
import os
import pickle
import re
import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.checkpoints.tutorials import file
from tests.ui.checkpoints.conftest import HOSTILE
from tests.ui.pages import open_page, ran


def texts(app: AppTest) -> str:
    """Return the page's text as a reader sees it, without Markdown escapes."""
    said = (*app.subheader, *app.markdown, *app.caption, *app.code, *app.info, *app.warning)
    pieces = [*(element.value for element in said), *(element.proto.body for element in app.get("html"))]
    return " ".join(pieces).replace("\\", "")


def widget(among: Any, label: str) -> Any:
    return next(one for one in among if label in one.label)


def maps(app: AppTest) -> list[str]:
    """Which heatmaps are drawn."""
    ids = [one.proto.id for one in app.get("bidi_component") if one.proto.component_name == "headlight_plot"]
    return [id.rpartition("-map-")[2] for id in ids if "-map-" in id]


def test_bleu_is_explained_where_a_card_has_it(shelf: Path) -> None:
    explained = widget(open_page("checkpoints", model="small").expander, "How BLEU counts")
    # Of "the cat sat on the mat", "the", "cat", "on", "the", "mat" are in the reference too, and so on.
    numbers = "1 to 4 in a row: 5/6, 3/5, 1/4, 0/3; factor for length 1.00; BLEU 38.0."
    assert numbers in [caption.value for caption in explained.caption]
    assert "Over a corpus, the counts of all sentences are added up first." in explained.caption[0].value
    other = open_page("checkpoints", model="other")
    assert not [one for one in other.expander if one.label == "How BLEU counts"]


def test_two_models_of_unequal_depth(shelf: Path) -> None:
    app = open_page("checkpoints", model="small", beside=f"models/{HOSTILE}", text="two dogs are running .")
    assert "The rows do not line up" in texts(app)
    assert maps(app) == ["0", "1"]
    widget(app.toggle, "The same translation in both").set_value(True)
    ran(app)
    widget([*app.text_input, *app.text_area], "for both").set_value("two dogs")
    ran(app)
    said = texts(app)
    assert "Difference, second minus first" in said and "Pieces are joined into words" in said
    assert maps(app) == ["0", "1", "difference"]
    assert re.search(r"layer \d of 4, head \d of 4", said)
    assert "1 and 4" in next(html.proto.body for html in app.get("html") if "configurations" in html.proto.body)
    layer = widget(app.selectbox, "Second model, layer")
    other = 1 if layer.value != 1 else 3  # not the one that the page chose
    layer.set_value(other)
    ran(app)
    view = app.session_state["view"]
    assert view.beside_layer == other
    assert f"layer {other} of 4, head" in texts(open_page("checkpoints", **view.to_query()))


@pytest.mark.slow
def test_a_tutorial_file_from_the_upload_to_its_attention(shelf: Path) -> None:
    app = open_page("checkpoints", importing="1")
    content = file("ground-up").read_bytes()
    app.file_uploader[0].upload("transformer_weights.pth", content)
    ran(app)
    assert "This is the model of “Building a transformer from the ground up”" in texts(app)
    assert widget(app.button, "Import").disabled
    assert "Answer this to import: How many heads" in texts(app)
    masks = widget(app.segmented_control, "Are its attention masks applied?")
    assert masks.value == "never"
    widget(app.pills, "How many heads").set_value(4)
    ran(app)
    for question, id in (("is padding", 1), ("starts a sentence", 2), ("ends a sentence", 3)):
        assert question in texts(app).partition("Answer this to import")[2]
        widget(app.number_input, question).set_value(id)
        ran(app)
    assert "No vocabulary came with it" in texts(app)
    widget(app.button, "Import").click()
    finish(app)
    assert "models/transformer_weights" in texts(app)
    assert not list((shelf / "models" / ".uploads").iterdir())
    attention = texts(open_page("attention", model="models/transformer_weights", text="5 9 12 7"))
    assert attention.count("This model applies no mask:") == 1


def finish(app: AppTest) -> None:
    """Until what it works at is done."""
    until = time.monotonic() + 60
    ran(app)
    while "import-job" in app.session_state:
        assert time.monotonic() < until
        ran(app)


class Program:
    """The content of a malicious file: unpickling it would make a folder."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("ran",)


def test_what_would_run_is_refused(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app, content = open_page("checkpoints", bring="1"), io.BytesIO()  # as links of version 1.0.0 have it
    pickle.dump({"weights": Program()}, content)
    for name, data in (("evil.pt", content.getvalue()), ("noise.bin", os.urandom(900)), ("zero.pt", b"")):
        app.file_uploader[0].upload(name, data)
        ran(app)
        assert name in texts(app) and ":material/gpp_bad:" in texts(app)
        assert ("mkdir" in texts(app)) == ("torch.save(model.state_dict()" in texts(app)) == (name == "evil.pt")
    assert not (tmp_path / "ran").exists()
    widget(app.text_input, "Hub model ID").set_value("no such place")
    ran(app)
    assert "There is nothing at this path" in texts(app)

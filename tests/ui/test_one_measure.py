"""A measure that is one entry of the registry is everywhere that a head has numbers."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

import headlight
from headlight.analysis.measures import MEASURES, Measure
from headlight.cli.verbs import main
from headlight.teaching.lessons.language import Run, parse
from headlight.teaching.lessons.measuring import LessonComputer
from tests.small import TEXTS
from tests.ui.pages import header, open_page, page_at, ran, save_small
from transformer import Translator
from ui.heads.view import HeadsView
from ui.state.atlases import EXAMPLES

TOY = Measure(
    "toy",
    "Toy measure",
    "share",
    "Share of weight on the last key.",
    "p_K",
    "made up",
    lambda pattern: pattern.mean(pattern.shares[..., -1]),
)


@pytest.fixture
def model(shelves: Path, monkeypatch: pytest.MonkeyPatch) -> Translator:
    monkeypatch.setitem(MEASURES, TOY.name, TOY)
    return headlight.load(save_small(shelves))


def test_one_entry_is_on_the_pages_in_lessons_the_atlas_the_notebook_and_the_exports(
    model: Translator, shelves: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = model.trace(TEXTS[0])
    values = headlight.measure(trace, "cross")["toy"]  # in a notebook
    np.testing.assert_allclose(values, trace.pattern("cross")[..., -1].mean(-1), atol=1e-6)
    assert headlight.measure(trace, "cross", words=True)["toy"].shape == values.shape

    lesson = LessonComputer(lambda name: model, Path, Run(text=TEXTS[0], model="small"))
    assert lesson(parse("toy of cross 2.1")) == pytest.approx(values[1, 0])

    (shelves / "pairs.tsv").write_text(f"{TEXTS[0]}\t{trace.translation or TEXTS[1]}\n", "utf-8")
    folder, out = str(shelves / "checkpoints" / "small"), shelves / "heads.json"
    assert main(["heads", folder, "--corpus", str(shelves / "pairs.tsv"), "--sample", "0", "--json", str(out)]) == 0
    assert " toy " in capsys.readouterr().out
    assert np.shape(json.loads(out.read_text())["heads"]["cross"]["toy"]["mean"]) == values.shape

    attention = open_page("attention", kind="cross")
    profile = header(attention, "overview-patterns")["kinds"]["cross"]["profile"]
    place = profile["names"].index("toy measure")
    np.testing.assert_allclose(profile["values"][place], values.ravel(), atol=1e-4)
    assert any("Toy measure" in one.value for one in attention.dataframe)

    heads = page_at("heads", corpus=EXAMPLES, measure="toy", columns="toy")
    for _ in range(200):
        if ran(heads).dataframe:
            break
        time.sleep(0.1)
    assert any("Toy measure" in one.value for one in heads.dataframe)
    assert "toy" in [one["name"] for one in header(heads, "atlas")["measures"]]
    assert HeadsView.from_query({"measure": "toy"}).measure == "toy"

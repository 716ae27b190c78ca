"""“Why there?” on Attention and Anatomy says what the parts of the chosen cell's score say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from headlight.analysis.stream import stream
from headlight.analysis.why.alti import heads_of
from headlight.analysis.why.residual_parts import Writer
from headlight.analysis.why.score_parts import Relative, score_parts_of
from headlight.analysis.why.score_words import score_sentences
from headlight.charts.score_parts import pair_matrix
from headlight.formatting import probability_text, signed
from tests.small import TEXTS, small_translator
from tests.ui.pages import open_page, ran
from transformer.taps import Ablate, Site
from ui.widgets.text import literal
from ui.widgets.why_there import brief_name

CELL = {"kind": "cross", "layer": "2", "head": "1"}


pytestmark = pytest.mark.usefixtures("small_model")


def opened(page: str, **query: str) -> AppTest:
    return open_page(page, "why-there", model="small", text=TEXTS[0], target=TEXTS[1], **query)


def markdown(app: AppTest) -> str:
    return " ".join(element.value for element in app.markdown)


def expected(query: int, key: int, relative_to: Relative = "mean", off: Ablate | None = None) -> str:
    """The sentences of a cell of the head, by the library alone."""
    translator = small_translator()
    trace = translator.trace(TEXTS[0], TEXTS[1])
    passed = stream(translator.model, trace.source.ids, trace.target.ids, off)
    parts = score_parts_of(passed, Site("decoder", 1, "cross"), 0, query, key, relative_to)
    words = [label.replace("▁", "") for label in trace.source.labels]
    reads, writes = (tokens.labels[query].replace("▁", "") for tokens in (trace.reads, trace.writes))
    other = words[relative_to] if isinstance(relative_to, int) else None
    return literal(" ".join(score_sentences(parts, f"{reads} → {writes}", words[key], other)))


def test_attention_explains_the_cell_that_is_held_against_the_mean_and_against_another_token() -> None:
    app = opened("attention", row="3", column="2", **CELL)
    assert expected(2, 1) in markdown(app) and expected(2, 1) != expected(2, 3)
    assert any("pairs sum to" in caption.value for caption in app.caption)
    for choice, relative_to in ((3, 3), ("itself", None)):
        (rather,) = [box for box in app.selectbox if box.label == "Compared with"]
        rather.set_value(choice)
        assert expected(2, 1, relative_to) in markdown(ran(app))


def test_the_score_is_shown_with_the_mean_of_its_row_and_its_weight() -> None:
    translator = small_translator()
    trace = translator.trace(TEXTS[0], TEXTS[1])
    passed = stream(translator.model, trace.source.ids, trace.target.ids)
    inputs = heads_of(passed).inputs[Site("decoder", 1, "cross")]
    row = inputs.q[0, 0, 2] @ inputs.k[0, 0].T / inputs.q.size(-1) ** 0.5
    weight = trace.pattern("cross")[1, 0, 2, 1]
    assert float(row.softmax(0)[1]) == pytest.approx(float(weight), abs=1e-5)
    app = opened("attention", row="3", column="2", **CELL)
    (says,) = [one.value for one in app.caption if "the mean of the row" in one.value]
    for number in (signed(float(row[1])), signed(float(row.mean())), probability_text(float(weight))):
        assert literal(number) in says


def test_heads_that_are_off_are_off_in_the_parts_too() -> None:
    off = Ablate(Site("encoder", 0, "self"), 2)
    app = opened("attention", row="3", column="2", changes="encoder.1.3", **CELL)
    assert expected(2, 1, off=off) in markdown(app) and expected(2, 1, off=off) != expected(2, 1)


def test_without_a_cell_it_asks_for_one_and_merged_words_have_no_score() -> None:
    asked = "Choose a cell of the head first"
    assert any(asked in caption.value for caption in opened("attention", **CELL).caption)
    app = opened("attention", words="1", row="3", column="2", **CELL)
    assert "Largest pairs" not in markdown(app) and not any(asked in caption.value for caption in app.caption)


def test_anatomy_explains_the_key_that_is_followed_else_the_one_with_the_largest_weight() -> None:
    query = {"part": "attention", "query": "3", **CELL}
    assert expected(2, 1) in markdown(opened("anatomy", key="2", **query))
    largest = int(small_translator().trace(TEXTS[0], TEXTS[1]).cross[1, 0, 2].argmax())  # type: ignore[index]
    assert expected(2, largest) in markdown(opened("anatomy", **query))


def test_the_matrix_has_a_cell_for_each_pair_and_frames_the_largest() -> None:
    pairs = np.array([[0.1, -0.2, 0.0], [0.3, 1.5, -0.4]])
    drawing = pair_matrix(pairs, ["embedding", "cross 1.1"], ["ff 1", "encoder 2.2", "biases"], "light", 388, "Why")
    svg = "".join(drawing.elements)
    cells = [match for match in re.finditer(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="15.0"', svg)]
    assert len(cells) == pairs.size and signed(1.5, plus=True) in svg and signed(-1.5) in svg
    (frame,) = re.finditer(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*stroke-width="2"', svg)
    largest = cells[4]  # the second row's second
    assert float(frame[1]) == pytest.approx(float(largest[1]) - 1.5, abs=0.11)
    assert float(frame[2]) == pytest.approx(float(largest[2]) - 1.5, abs=0.11)
    assert all(float(cell[1]) + float(cell[3]) <= 388 for cell in cells)


def test_each_writer_has_a_name_of_its_own() -> None:
    writers = [Writer("encoder", part) for part in ("embedding", "position", "bias")]
    heads = [(layer, head) for layer in (0, 1) for head in (0, 1)]
    writers += [Writer("decoder", part, *head) for part in ("self", "cross") for head in heads]
    writers += [Writer("decoder", "feed-forward", layer) for layer in (0, 1)]
    names = [brief_name(writer) for writer in writers]
    assert len(set(names)) == len(names) and "decoder 2.1" in names and "ff 2" in names

"""What the page's parts say, from the numbers that were measured."""

import html
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from headlight import checkpoints
from headlight.analysis.positions import encoding, entry, properties, widths_of
from headlight.analysis.score_positions import SCORE_SCHEMES, score_properties
from headlight.charts import THEMES
from tests.small import small_checkpoint, small_t5_checkpoint, small_translator
from transformer import Translator
from ui.positions.circle import read_shown
from ui.positions.codes import Code, Learned, chosen, learned, learned_table, scheme_of, schemes_of, table_difference
from ui.positions.formula import exponent_lines, filled_in, first_ids, own_number
from ui.positions.in_scores import in_scores_html
from ui.positions.order import compare, default_sentences
from ui.positions.relative import curves
from ui.positions.schemes import _ORDER, _ROWS, SchemeVerdict, describe_alone, linear, schemes_html
from ui.positions.view import PositionsView
from ui.positions.waves import default_dims
from ui.state import models

MODEL = small_translator()
UNTRAINED = Learned(
    np.random.default_rng(0).normal(size=(64, 16)), None, np.random.default_rng(1).normal(size=(64, 16))
)


def test_the_model_decides_what_the_controls_leave_open() -> None:
    code = chosen(PositionsView(), "small", MODEL)
    assert (code.scheme, code.table.shape) == ("sinusoidal", (100, 16))
    assert chosen(PositionsView(scheme="binary", positions=9), "small", MODEL).table.shape == (9, 4)
    none = small_translator(positions="none")
    assert chosen(PositionsView(), "small", none).scheme == "none"
    with pytest.raises(ValueError, match="even"):
        chosen(PositionsView(d_model=7), "small", MODEL)


def test_a_stored_table_stands_in_the_place_of_a_learned_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = small_translator(positions="stored")
    table = stored.model.encoder.embedding.positions.table
    with torch.no_grad():
        table.normal_()
    monkeypatch.setattr(models, "CHECKPOINTS", tmp_path)
    checkpoints.save(stored.checkpoint, tmp_path / "bart")
    for view in (PositionsView(), PositionsView(scheme="learned"), PositionsView(scheme="relative")):
        code = chosen(view, "bart", stored)
        assert (code.scheme, code.learned.model, code.learned.stored) == ("stored", "bart", True)
        assert np.array_equal(code.table, table.detach().double().numpy())
    assert schemes_of(stored.model.config) == ("sinusoidal", "stored", "none", "integer", "normalised", "binary")
    page = schemes_html(code, dict.fromkeys(_ORDER, properties(code.table, None)), THEMES["light"])
    assert "Stored" in page and "Learned" not in page
    assert scheme_of(PositionsView(scheme="stored"), MODEL.model.config) == "sinusoidal"


def test_a_t5_has_its_positions_in_the_scores() -> None:
    model = Translator(small_t5_checkpoint())
    assert chosen(PositionsView(), "t5", model).scheme == "relative"
    assert schemes_of(model.model.config)[0] == "relative"
    assert chosen(PositionsView(scheme="binary", positions=9), "t5", model).table.shape == (9, 4)
    distances, values = curves(model.model, "encoder")
    assert distances.tolist() == list(range(-6, 7)) and values.shape == (4, 13)
    with torch.no_grad():
        bias = model.model.encoder.layers[1].attention.position_bias(13, 13)[0].numpy()
    assert np.array_equal(values, bias[:, 6, :])
    distances, values = curves(model.model, "decoder")
    assert distances.tolist() == list(range(-6, 1)) and values.shape == (2, 7)


def test_the_table_of_a_learned_model_is_its_own() -> None:
    model = small_translator(positions="learned").model
    table = model.encoder.embedding.positions.table
    assert np.array_equal(learned_table(model), table.detach().double().numpy())


def test_a_learned_table_is_found_among_the_finished_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(models, "RUNS", tmp_path / "runs")
    trained = small_checkpoint(positions="learned")
    checkpoints.save(trained, tmp_path / "runs" / "mine" / "checkpoints" / "best")
    assert learned("sinusoidal", MODEL, 16).model is None
    (tmp_path / "runs" / "mine" / "status.json").write_text('{"state": "finished"}')
    newest = learned("sinusoidal", MODEL, 16)
    assert newest.model == "runs/mine"
    assert np.array_equal(newest.table, learned_table(trained.model))


def test_the_models_table_is_compared_with_the_formula() -> None:
    apart = table_difference(MODEL.model, 16, 10_000)
    assert apart is not None and 0 < apart < 1e-7
    other = table_difference(MODEL.model, 16, 100)
    assert other is not None and other > 0.1
    assert table_difference(MODEL.model, 32, 10_000) is None
    assert table_difference(small_translator(positions="learned").model, 16, 10_000) is None


@pytest.mark.parametrize("scheme", _ORDER)
@pytest.mark.parametrize("positions", [1, 2, 100])
def test_default_curves_are_there(scheme: str, positions: int) -> None:
    table = UNTRAINED.table[:positions] if scheme == "learned" else encoding(scheme, positions, 16)
    dims = default_dims(Code(scheme, table, 10_000, UNTRAINED))
    assert dims and max(dims) < table.shape[1]


def marks(page: str) -> list[list[tuple[str, str]]]:
    """(what the icon says, the number) for each property and scheme."""
    rows = re.findall(r"<tr.*?</tr>", page)[2:]
    rows_of_cells = [re.findall(r'alt="([^"]*):"[^>]*><span>(.*?)</span>', row) for row in rows]
    return [[(mark, html.unescape(text)) for mark, text in row] for row in rows_of_cells]


def test_the_table_says_what_was_measured() -> None:
    measures = {
        s: properties(encoding(s, 128, 16), encoding(s, 256, 16), encoding(s, 128, 16), widths_of(s))
        for s in _ORDER
        if s != "learned"
    }
    measures["learned"] = properties(UNTRAINED.table, None, UNTRAINED.second_table)
    code = Code("sinusoidal", encoding("sinusoidal", 16, 16), 10_000, UNTRAINED)
    rows = marks(schemes_html(code, measures, THEMES["dark"]))
    assert [len(row) for row in rows] == [len(_ORDER)] * len(_ROWS)
    unique, bounded, near, linear, beyond, again, widths = (dict(zip(_ORDER, row, strict=True)) for row in rows)
    assert unique["none"] == ("lacks it", "0 apart")
    assert unique["normalised"] == ("in part", "0.0079 apart")
    assert bounded["integer"] == ("lacks it", "127, and growing")
    assert near["binary"][0] == "lacks it"
    assert linear["integer"][0] == "has it"
    assert linear["normalised"][0] == linear["binary"][0] == linear["learned"][0] == "lacks it"
    assert beyond["binary"] == ("lacks it", "1 more bit needed")
    assert beyond["learned"] == ("lacks it", "no row after 64")
    assert {rows[n][_ORDER.index("sinusoidal")][0] for n in range(len(_ROWS))} == {"has it"}
    assert linear["sine"][0] == linear["cosine"][0] == "lacks it"
    assert {again["binary"], again["sine"]} == {("has it", "the same again")}
    assert again["normalised"] == ("in part", "the same for one length")
    assert again["learned"][0] == "lacks it"
    assert widths["sinusoidal"] == ("has it", "any even number")
    assert widths["integer"][0] == widths["binary"][0] == "lacks it"


def test_too_few_learned_positions_are_no_verdict() -> None:
    table = np.random.default_rng(0).normal(size=(100, 256))
    assert linear(properties(table, None)) == SchemeVerdict("partly", "too few positions to tell")


def test_one_function_alone_is_told_in_numbers() -> None:
    text = describe_alone("sine", "cosine", properties(encoding("sine", 200, 16), None))
    assert (
        "the same sine, 0.00, at positions 0 and 10" in text and "0.31 and −0.31" in text and "1.00 and −1.00" in text
    )
    text = describe_alone("cosine", "sine", properties(encoding("cosine", 200, 16), None))
    assert "the same cosine, 0.00, at positions 5 and 15" in text


def test_the_formula_is_filled_in_as_the_model_has_it() -> None:
    encoding_entry = entry(3, 5, 16)
    assert filled_in(encoding_entry, 16, 10_000)[0].endswith("=2")
    assert filled_in(encoding_entry, 16, 10_000)[-1] == r"PE_{(3,\,5)}=\cos(0.3)=0.9553"
    assert first_ids(MODEL, "two dogs") == MODEL.encode("two dogs")
    assert len(first_ids(MODEL, "two dogs " * 50)) == 40  # more than this model reads
    assert own_number(encoding_entry, MODEL, 16, 10_000) == pytest.approx(encoding_entry.value, abs=1e-7)
    assert own_number(encoding_entry, MODEL, 16, 100) is None
    assert own_number(entry(39, 5, 16), MODEL, 16, 10_000) is None  # it reads 32 tokens
    assert own_number(entry(3, 5, 8), MODEL, 8, 10_000) is None
    assert own_number(encoding_entry, small_translator(positions="none"), 16, 10_000) is None


def test_two_orders_are_compared_and_other_words_are_named() -> None:
    orders = compare(MODEL, "two dogs are running", "dogs are two running")
    assert orders.labels[1] == ["▁dogs", "▁are", "▁two", "▁running", "[EOS]"]
    assert orders.order == [1, 2, 0, 3, 4]
    assert orders.differences(orders.without_positions).max() < 1e-5
    assert orders.differences(orders.with_positions).max() > 1e-3
    with pytest.raises(ValueError, match="▁are only in the first, ▁snow only in the second"):
        compare(MODEL, "two dogs are running", "two dogs snow running")
    with pytest.raises(ValueError, match="running only in the second"):
        compare(MODEL, "two dogs are", "two dogs are running")
    with pytest.raises(ValueError, match="empty"):
        compare(MODEL, "two dogs", " ")


def test_every_model_has_two_sentences_of_the_same_words() -> None:
    model = small_translator()
    assert default_sentences(model) == ("one two three", "three two one")
    model.card["examples"] = ["two dogs in the snow"]
    assert default_sentences(model) == ("two dogs in the snow", "snow the in dogs two")
    model.card["source"] = "Letters"
    first, second = default_sentences(model)
    assert sorted(first) == sorted(second) and first != second


def test_rotary_and_alibi_stand_beside_the_added_encoding() -> None:
    measures = {scheme: score_properties(scheme, 60, 16, 10_000, 0.5) for scheme in SCORE_SCHEMES}
    page = in_scores_html(measures, 16, THEMES["light"])
    alone, nearer = (row for row in marks(page) if row)
    assert [mark for mark, _ in alone] == ["lacks it", "has it", "has it"]
    assert alone[2] == ("has it", "changes by up to 0") and {mark for mark, _ in nearer} == {"has it"}
    assert "lowers by up to 59.5, before 29.5" in page  # a slope of one half over 119 and 59 steps
    assert [*re.findall("(not the same|the same) along", page)[::2]] == ["not the same", "the same", "the same"]


def test_the_exponent_is_derived_in_three_lines_for_any_base() -> None:
    for base, base_text in ((10.0, "10"), (10_000.0, "10000")):
        first, middle, last = exponent_lines(base)
        assert f"{base_text}^{{-2i/d}}" in first and rf"e^{{\ln {base_text}}}" in middle
        assert rf"\frac{{2i}}{{d}}\,\ln {base_text}" in last


@pytest.mark.parametrize("sent", [None, {}, {"at": 1, "shift": 2}, {"at": -1, "shift": 2, "pair": 3}, [1, 2, 3]])
def test_what_the_browser_sends_is_not_trusted(sent: object) -> None:
    assert read_shown(sent) is None


def test_what_makes_sense_is_taken() -> None:
    assert read_shown({"at": 7, "shift": 500, "pair": 3}) == {"at": 7, "shift": 100, "pair": 3}

"""From a trace and a view to the cells that are drawn."""

import csv
import io
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from headlight.analysis import check
from headlight.analysis.head_changes import HeadChange
from headlight.analysis.layout import lay_out, sharpest
from headlight.formatting import percent
from tests.small import small_translator
from transformer import Trace
from transformer.taps import Ablate, Site
from transformer.tokenizers import SPACE
from transformer.trace import KINDS
from ui.attention.downloads import (
    ATTENTIONS,
    facts,
    head_figure,
    kind_figure,
    model_figure,
    page_html,
    picture_csv,
    svg,
    trace_npz,
)
from ui.attention.picture import ShownTrace, chosen_head, panel
from ui.attention.view import AttentionView

SVG = "{http://www.w3.org/2000/svg}"
MODEL = small_translator(kind="bpe")
# Rare words, so that some are in several pieces.
TRACE = MODEL.trace("a little girls bench", target="running snow une petite")


def traced(changes: tuple[HeadChange, ...] = ()) -> ShownTrace:
    taps = [change.tap() for change in changes]
    forced = MODEL.trace_ids(TRACE.source.ids, TRACE.target.ids, taps) if taps else None
    return ShownTrace("small", (), MODEL, forced or TRACE, TRACE, forced, changes, None)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_plain_panel_is_the_pattern_bit_for_bit(kind: str) -> None:
    view = AttentionView(kind=kind, layer=2, head=2)
    large = panel(traced(), view, lay_out(TRACE, kind, words=False, hide=False))
    assert np.array_equal(large.cells, TRACE.pattern(kind)[1, 1])
    assert (large.limit, large.hidden) == (1.0, 0.0)
    assert len(set(large.layout.columns)) == len(large.layout.columns)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_words_are_merged_and_rows_still_sum_to_one(kind: str) -> None:
    assert len(TRACE.source.words) < len(TRACE.source), "the sentence needs a word of several pieces"
    place = lay_out(TRACE, kind, words=True, hide=False)
    merged = place.apply(TRACE.pattern(kind))
    assert merged.shape[-2:] == (len(place.rows), len(place.columns)) == place.masked.shape
    assert np.allclose(merged.sum(-1), 1, atol=1e-5)
    assert not merged[..., place.masked].any()


def test_hidden_tokens_are_named() -> None:
    place = lay_out(TRACE, "cross", words=False, hide=True)
    large = panel(traced(), AttentionView(layer=1, head=1, hide=True), place)
    assert "[EOS]" not in place.columns
    words = TRACE.cross[0, 0][:-1]  # the last row writes [EOS]
    assert "[EOS]" not in place.rows and len(place.rows) == len(words)
    assert large.hidden == pytest.approx(words[:, -1].sum() / len(words), rel=1e-4)
    assert np.array_equal(large.cells, words[:, :-1])


def test_means_largest_and_rollout_keep_their_promises() -> None:
    place = lay_out(TRACE, "cross", words=False, hide=False)
    cells = {
        show: panel(traced(), AttentionView(layer=2, show=show), place).cells for show in ("mean", "max", "rollout")
    }
    assert np.allclose(cells["mean"], TRACE.cross[1].mean(0))
    assert np.array_equal(cells["max"], TRACE.cross[1].max(0))
    assert (cells["rollout"].sum(-1) <= 1 + 1e-5).all()


def test_the_difference_is_with_minus_without_on_the_same_tokens() -> None:
    changes = (HeadChange("encoder", 1, 1),)
    drawn = traced(changes)
    large = panel(drawn, AttentionView(layer=2, head=1, show="difference"), lay_out(drawn.trace, "cross", False, False))
    expected = drawn.forced.cross[1, 0] - TRACE.cross[1, 0]  # type: ignore[union-attr]
    assert np.array_equal(large.cells, expected) and large.signed
    assert large.limit == pytest.approx(np.abs(expected).max())


def test_without_changes_a_difference_falls_back_to_the_weights() -> None:
    large = panel(traced(), AttentionView(layer=1, head=1, show="difference"), lay_out(TRACE, "cross", False, False))
    assert not large.signed and np.array_equal(large.cells, TRACE.cross[0, 0])


def test_value_weighted_cells_are_weights_times_lengths() -> None:
    place = lay_out(TRACE, "encoder", False, False)
    large = panel(traced(), AttentionView(kind="encoder", layer=1, head=3, show="value"), place)
    lengths = large.cells / TRACE.encoder[0, 2]
    assert np.allclose(lengths, lengths[0], rtol=1e-3)  # a key's value is as long for every query
    assert large.name == "length"


def test_a_head_that_the_model_lacks_is_not_chosen() -> None:
    layer, head = chosen_head(traced(), AttentionView(layer=99, head=99))
    assert (layer, head) == sharpest(TRACE, "cross")
    assert chosen_head(traced(), AttentionView(layer=3, head=2)) == (2, 1)


def test_a_head_that_is_off_is_drawn_as_zeros_and_the_checks_say_so() -> None:
    drawn = traced((HeadChange("cross", 1, 1),))
    large = panel(drawn, AttentionView(layer=1, head=1), lay_out(drawn.trace, "cross", False, False))
    assert not large.cells.any()
    assert all(one.holds for one in check(drawn.trace, MODEL.model, [change.tap() for change in drawn.changes]))
    assert Ablate(Site("decoder", 0, "cross"), 0) == drawn.changes[0].tap()


def test_the_csv_holds_every_weight_exactly_and_masked_cells_empty() -> None:
    view = AttentionView(kind="decoder", layer=1, head=1)
    large = panel(traced(), view, lay_out(TRACE, "decoder", False, False))
    about, rows = in_csv(picture_csv(traced(), view, large))
    assert about == {
        "Attention": "Decoder self-attention, layer 1, head 1, raw weights",
        "Model": "Small (small)",
        "Source (Words)": TRACE.text,
        "Target (Words)": TRACE.translation,
        SPACE: "a space: a token that begins with it begins a word",
    }
    assert rows[0][1:] == large.layout.columns and [row[0] for row in rows[1:]] == large.layout.rows
    for q, row in enumerate(rows[1:]):
        for k, cell in enumerate(row[1:]):
            if k > q:
                assert cell == ""
            else:
                assert np.float32(cell) == TRACE.decoder[0, 0, q, k]


def in_csv(text: str) -> tuple[dict[str, str], list[list[str]]]:
    """Return the facts at the top of the file, and its matrix."""
    rows = list(csv.reader(io.StringIO(text)))
    return {row[0]: row[1] for row in rows[: rows.index([])]}, rows[rows.index([]) + 1 :]


def test_a_token_is_no_formula_in_a_spreadsheet() -> None:
    view = AttentionView(layer=1, head=1)
    large = panel(traced(), view, lay_out(TRACE, "cross", False, False))
    columns, rows = (["=1", *labels[1:]] for labels in (large.layout.columns, large.layout.rows))
    odd = replace(large, layout=replace(large.layout, columns=columns, rows=rows))
    cells = in_csv(picture_csv(traced(), view, odd))[1]
    assert cells[0][1] == cells[1][0] == "'=1"


def test_a_figure_says_what_it_shows() -> None:
    """Model, sentence, translation, what was changed and left out, both axes and the scale, in the picture itself."""
    changed = traced((HeadChange("cross", 1, 2), HeadChange("encoder", 1, 1, "scale", 0.5)))
    view = AttentionView(layer=2, head=2, hide=True, scale="sqrt")
    large = panel(changed, view, lay_out(changed.trace, "cross", False, True))
    texts = drawn_texts(svg(head_figure(changed, view, large), facts(changed, view, large), "light"))
    for text in (
        "Cross-attention, layer 2, head 2, raw weights",
        "Model: Small (small)",
        f"Source (Words): {TRACE.text}",
        f"Target (Words): {TRACE.translation}",
        "Heads changed: cross layer 1, head 2 off; encoder layer 1, head 1 × 0.5",
        f"Left out: special tokens, and with them {percent(large.hidden)} of the weight",
        "token that looks (query)",
        "looks at (key)",
        "square root of the weight",
        "reads",
        "writes",
    ):
        assert text in " ".join(texts), text
    assert set(large.layout.columns) < set(texts)


def test_every_head_is_one_figure() -> None:
    view = AttentionView(kind="decoder", layer=2, head=3)
    large = panel(traced(), view, lay_out(TRACE, "decoder", False, False))
    one, every = kind_figure(traced(), view, large), model_figure(traced(), view, large)
    assert [block.weights.shape for block in one.blocks] == [TRACE.decoder.shape]
    assert [block.weights.shape for block in every.blocks] == [TRACE.pattern(kind).shape for kind in KINDS]
    texts = drawn_texts(svg(every, facts(traced(), view, None), "light"))
    for kind in KINDS:
        assert ATTENTIONS[kind] in texts
    assert texts.count("head 2") == texts.count("layer 2") == 3
    assert {"Every attention head", f"Source (Words): {TRACE.text}"} < set(texts)


def test_a_head_beyond_one_stretches_the_scale_of_its_figure() -> None:
    changed = traced((HeadChange("cross", 1, 2, "scale", 3.0),))
    view = AttentionView(layer=1, head=1)
    large = panel(changed, view, lay_out(changed.trace, "cross", False, False))
    limit = kind_figure(changed, view, large).colours.limit
    assert limit == pytest.approx(changed.trace.cross.max()) and limit > 1


def drawn_texts(drawing: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(drawing).iter(f"{SVG}text")]


def test_the_npz_is_the_trace_and_names_its_model(tmp_path) -> None:
    path = tmp_path / "trace.npz"
    path.write_bytes(trace_npz(traced()))
    saved = Trace.load(path)
    assert np.array_equal(saved.decoder, TRACE.decoder)
    assert (saved.model, saved.text, saved.translation) == ("Small (small)", TRACE.text, TRACE.translation)


def test_the_page_holds_the_sentence_and_no_address() -> None:
    drawn = traced()
    view = AttentionView(layer=1, head=1)
    large = panel(drawn, view, lay_out(TRACE, "cross", False, False))
    page = page_html(drawn, view, large, "light")
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page
    assert len(page) < 2_000_000

"""What the Anatomy page says about a whole head, about all heads, and about the division by √d_head."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from headlight.analysis.anatomy import WIDTHS
from headlight.analysis.relatives import by_width
from headlight.analysis.several_heads import several_heads
from headlight.charts.colours import THEMES
from headlight.formatting import minus, signed
from tests.small import TEXTS
from tests.ui.pages import open_page, ran, texts
from transformer import Translator
from transformer.taps import Site
from ui.anatomy.matrix_table import MAX_CELLS, MatrixAxes, ink_on, matrix_html, window

TARGET = "une petite fille"


def opened(**query: str) -> AppTest:
    return open_page("anatomy", **{"model": "a-small", "text": "two dogs", "target": TARGET, "head": "1", **query})


def html_of(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def numbers(html: str, title: str) -> list[list[str]]:
    """The cells of the matrix of that title."""
    (table,) = re.findall(rf'aria-label="{title}".*?<tbody>(.*?)</tbody>', html)
    return [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in table.split("<tr>")[1:]]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_whole_head_is_the_traces(small: Translator, kind: str) -> None:
    trace = small.trace("two dogs", target=TARGET)
    app = opened(look="matrices", kind=kind, layer="2")
    assert "As the model does." in texts(app)
    pattern, hidden = trace.pattern(kind)[1, 0], trace.masked(kind)  # type: ignore[arg-type]
    rows = numbers(html_of(app), "Weights")
    assert rows == [
        ["0" if off else f"{weight:.2f}" for weight, off in zip(*row, strict=True)]
        for row in zip(pattern, hidden, strict=True)
    ]
    masked = np.array(numbers(html_of(app), "Masked scores"))
    assert ((masked == "−∞") == hidden).all()
    assert not np.isin(numbers(html_of(app), "Scores"), "−∞").any()


def test_another_mask_is_said_to_be_another(small: Translator) -> None:
    app = opened(look="matrices", kind="decoder", mask="none")
    assert "Not what the model does:" in texts(app) and "nothing is hidden" in texts(app)
    assert "−∞" not in np.array(numbers(html_of(app), "Masked scores"))
    # A mask that has no meaning in cross-attention leaves the model's own.
    assert "As the model does." in texts(opened(look="matrices", kind="cross", mask="look-ahead"))


def test_the_shorter_sentence_of_a_batch_is_padded(small: Translator) -> None:
    app = opened(look="matrices", kind="encoder", matrices="batch")  # begins with an example of another length
    assert "of padding" in texts(app) and "Weights" in html_of(app)
    for second, text, added in ((TEXTS[1], "two dogs", 6), ("dogs", "dogs", 1)):
        app = opened(look="matrices", kind="encoder", matrices="batch", second=second)
        assert f"“{text}”, with {added} token{'s' * (added > 1)} of padding" in texts(app)
        masked = np.array(numbers(html_of(app), "Masked scores"))
        assert (masked[:, -added:] == "−∞").all() and (masked[:, :-added] != "−∞").all()
    app = opened(look="matrices", kind="encoder", matrices="batch", second=TEXTS[0] + " dogs" * 40)
    assert any("this model reads at most" in info.value for info in app.info)  # in a sentence, beside the controls
    assert app.selectbox


@pytest.mark.parametrize("of", ["sentence", "tutorial"])
def test_a_mask_is_added_and_filled_in_side_by_side(small: Translator, of: str) -> None:
    app = opened(look="matrices", kind="decoder", matrices=of)
    app.session_state["added-or-filled"] = True
    app = ran(app)
    html = html_of(app)
    added, filled = numbers(html, r"S \+ M"), numbers(html, "S, filled in")
    assert added == filled == numbers(html, "Masked scores")
    mask = np.array(numbers(html, "M"))
    assert ((mask == "−∞") == (np.array(added) == "−∞")).all() and {float(x) for x in mask[mask != "−∞"]} == {0.0}
    assert "differ by at most 0;" in texts(app) and "no numbers (0/0)" in texts(app) and "65,504" in texts(app)


def test_the_tutorials_row(small: Translator) -> None:
    app = opened(look="matrices", matrices="tutorial", mask="none")
    assert numbers(html_of(app), "Weights")[0] == ["0.3064", "0.3530", "0.3406"]
    app = opened(look="matrices", matrices="tutorial")
    assert numbers(html_of(app), "Weights")[0] == ["1.0000", "0", "0"]


def test_what_a_head_alone_loses(small: Translator) -> None:
    trace = small.trace("two dogs", target=TARGET)
    app = opened(look="heads", kind="decoder", layer="2")
    measured = several_heads(small.model, trace.source.ids, trace.target.ids, Site("decoder", 1, "self"))
    html = html_of(app)
    for name, value in zip(
        ("Only head 1", "Only head 2", "One pattern for all"), (*measured.alone.values(), measured.mean), strict=True
    ):
        assert re.search(rf"{name}<.*?>{re.escape(signed(value - measured.whole, plus=True))} nats<", html)
    tokens = len(trace.reads)
    shapes = re.findall(r"\[1, [0-9, ]+\]", html)
    assert shapes == [
        f"[1, {', '.join(map(str, sizes))}]"
        for sizes in (
            *[(tokens, 16)] * 2, (tokens, 2, 8), (2, tokens, 8), (2, tokens, tokens), (2, tokens, 8),
            *[(tokens, 16)] * 2,
        )
    ]  # fmt: skip


def test_division_by_sqrt_d_k_shows_the_heads_scores_and_additive_attention(small: Translator) -> None:
    trace = small.trace("two dogs", target=TARGET)
    query = {"model": "a-small", "text": "two dogs", "target": TARGET, "head": "1"}
    text = texts(open_page("anatomy", "additive", look="scaling", kind="encoder", layer="1", **query))
    assert "d_head is 4, √d_head 2." in text
    assert f"and {trace.encoder[0, 0].max(-1).mean():.2f} with it." in text
    wide = {name: row[-1].slope for name, row in by_width(len(trace.source), WIDTHS).items()}
    assert f"to {wide['dot product']:.2f}; at 512 it is {wide['divided by √d_k']:.2f} divided" in text
    assert f"and {wide['additive']:.2f} additive." in text


def test_a_row_of_the_embedding_is_a_one_hot_vector_times_the_matrix(small: Translator) -> None:
    matrix = small.model.encoder.embedding.tokens.weight.detach()
    one_hot = np.eye(len(matrix), dtype=np.float32)[7]
    assert np.array_equal(one_hot @ matrix.numpy(), matrix[7].numpy())
    text = texts(opened(part="embedding", kind="encoder"))
    assert "one-hot vector" in text and "Mikolov et al. 2013" in text


@pytest.mark.parametrize(
    ("look", "kind"), [("matrices", "encoder"), ("heads", "encoder"), ("heads", "cross"), ("scaling", "cross")]
)
def test_a_t5_is_looked_at_too(small: Translator, look: str, kind: str) -> None:
    app = opened(model="t5", look=look, kind=kind)
    if look == "matrices":
        assert "As the model does." in texts(app)
    if look == "scaling":
        assert "T5 does not divide" in texts(app)
    if look == "heads":
        assert "[1, 4, 3, 5]" in html_of(app) if kind == "encoder" else "[1, 2, 4, 5]" in html_of(app)


def test_a_matrix_as_a_table() -> None:
    names = ["<b>", "two"]
    values, hidden = np.array([[-1.5, 0.25], [2.0, 0.0]]), np.array([[False, True], [False, False]])
    html = matrix_html("T", values, MatrixAxes(names, names, hidden, 1), THEMES["dark"], (-2.0, 2.0), hidden="−∞")
    assert "<b>" not in html and "&lt;b&gt;" in html
    assert numbers(html, "T") == [["−1.50", "−∞"], ["2.00", "0.00"]]
    assert html.count('<td class="masked"') == 1 and html.count('<td class="chosen"') == 2
    zeros = np.zeros((1, 11))
    many = matrix_html("T", zeros, MatrixAxes(["a"], ["b"] * 11, zeros > 0), THEMES["light"], (0.0, 1.0))
    assert numbers(many, "T") == [[""] * 11] and minus(f"{0:.4f}") in many  # on hover


def test_the_window_has_the_chosen_row() -> None:
    assert window(5, None) == slice(0, 5) and window(5, 4) == slice(0, 5)
    for chosen in (0, 17, 99):
        part = window(100, chosen)
        assert part.start <= chosen < part.stop and part.stop - part.start == MAX_CELLS


def test_ink_can_be_read() -> None:
    assert ink_on(np.array([255, 255, 255])) == "#000000" and ink_on(np.array([11, 42, 102])) == "#ffffff"

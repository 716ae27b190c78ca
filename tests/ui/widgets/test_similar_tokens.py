"""“Similar places” on Attention shows what the library's search finds, and says where there is no index to show."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from headlight.analysis.similar import SimilarToken, TokenSite, index, open_index
from headlight.analysis.similar.token_index import MarkedSentence
from headlight.formatting import signed
from tests.small import TEXTS, small_checkpoint
from tests.ui.pages import open_page, ran
from transformer.taps import Ablate, Site
from ui.widgets.similar_tokens import groups_html

PAIRS = [
    (TEXTS[1], "a girl is running ."),
    ("two dogs are sitting on a bench .", "two dogs ."),
    ("a little girl is <b>running</b> in the snow .", "a little girl ."),
]
CROSS = {"kind": "cross", "layer": "2", "head": "1"}


@pytest.fixture(autouse=True)
def small(small_model: Path) -> Path:
    index(small_model, PAIRS, small_model / "similar", corpus="three *pairs*", sites=["encoder.2"])
    return small_model


def opened(page: str = "attention", **query: str) -> AppTest:
    return open_page(page, "similar-places", model="small", text=TEXTS[0], target=TEXTS[1], **query)


def places(app: AppTest) -> list[tuple[str, str]]:
    """The cosines and sentences of the page, with the marked word in brackets."""
    bodies = [element.proto.body for element in app.get("html")]
    (body,) = [body for body in bodies if 'class="similar-places"' in body]
    lines = re.findall(r'<span class="cosine">(.*?)</span><span dir="auto">(.*?)</span></li>', body)
    return [(cosine, html.unescape(re.sub("<mark>(.*?)</mark>", r"[\1]", line))) for cosine, line in lines]


def expected(small: Path, token: int, site: str, off: Ablate | None = None) -> list[tuple[str, str]]:
    opened = open_index(small / "similar", small)
    source, target = opened.model.encode_pair(TEXTS[0], TEXTS[1])
    found = opened.nearest(source, target, token, TokenSite.parse(site), 20, off)
    return [(signed(at.cosine, decimals=2), f"{at.marked.before}[{at.marked.word}]{at.marked.after}") for at in found]


def choose(app: AppTest, label: str, value: object) -> AppTest:
    (box,) = [box for box in [*app.selectbox, *app.select_slider] if box.label == label]
    box.set_value(value)
    return ran(app)


def test_the_state_of_the_key_that_is_held_by_layer(small: Path) -> None:
    app = opened(row="3", column="2", **CROSS)
    assert sorted(places(app)) == sorted(expected(small, 1, "encoder.2")) and len(places(app)) == 20
    assert any("whose state is nearest" in text.value for text in app.markdown)
    assert any("three \\*pairs\\*" in caption.value for caption in app.caption)
    app = choose(app, "Encoder layer", 0)
    assert sorted(places(app)) == sorted(expected(small, 1, "encoder.0"))
    app = choose(app, "Token", 4)
    assert sorted(places(app)) == sorted(expected(small, 4, "encoder.0"))


def test_a_head_s_output_and_row_at_the_query_that_is_held(small: Path) -> None:
    app = choose(opened(row="3", column="2", **CROSS), "Compare", "output")
    assert sorted(places(app)) == sorted(expected(small, 2, "cross.2.output.1"))
    app = choose(app, "Compare", "row")
    assert sorted(places(app)) == sorted(expected(small, 2, "cross.2.row.1"))
    assert any("comes from" in text.value for text in app.markdown)


def test_why_shows_the_state_in_which_the_chosen_token_was_written(small: Path) -> None:
    app = opened("why", step="3")
    assert sorted(places(app)) == sorted(expected(small, 2, "decoder.3"))
    assert not any(box.label == "Compare" for box in app.selectbox)


def test_heads_that_are_changed_are_changed_in_what_is_looked_up(small: Path) -> None:
    off = Ablate(Site("encoder", 0, "self"), 2)
    app = opened(row="3", column="2", changes="encoder.1.3", **CROSS)
    without_head = sorted(expected(small, 1, "encoder.2", off))
    assert sorted(places(app)) == without_head != sorted(expected(small, 1, "encoder.2"))
    assert any("Heads are changed in your sentence only" in caption.value for caption in app.caption)
    app = opened(row="3", column="2", changes="encoder.1.3", kind="encoder", layer="1", head="3")
    app = choose(app, "Compare", "output")
    assert any("has no direction" in caption.value for caption in app.caption)


@pytest.mark.parametrize("reason", ["missing", "stale", "broken"])
def test_without_an_index_that_is_right_it_says_how_to_make_one_and_shows_nothing(small: Path, reason: str) -> None:
    if reason == "missing":
        (small / "similar" / "index.json").unlink()
    elif reason == "stale":
        checkpoints.save(small_checkpoint(seed=1), small)
    else:
        (small / "similar" / "encoder.2.safetensors").write_bytes(b"x")
    app = opened(**CROSS)
    texts = {"missing": "no index of a corpus", "stale": "made with other weights", "broken": "is damaged"}
    assert any(texts[reason] in text.value for text in app.markdown)
    assert any("index small --data" in code.value for code in app.code)
    assert not any("similar-places" in element.proto.body for element in app.get("html"))


def test_a_model_that_is_broken_on_purpose_has_no_similar_places() -> None:
    app = opened(broken="no-residual", **CROSS)
    assert not any("nearest" in text.value for text in app.markdown)
    assert not any(box.label == "Compare" for box in app.selectbox)


def test_groups_are_in_order_of_their_size_and_nothing_in_them_is_markup() -> None:
    def token(translated: str, word: str) -> SimilarToken:
        return SimilarToken(0.5, "", "", "", MarkedSentence("<i>", word, "&"), translated)

    body = groups_html([token("<b>", "x"), token("y", "<script>"), token("y", "z"), token("", "q")])
    assert re.findall(r'<h4><span dir="auto">(.*?)</span>', body) == ["y", "&lt;b&gt;", "no word"]
    assert "<script>" not in body and "<i>" not in body and "&lt;i&gt;<mark>x</mark>&amp;" in body

"""A BPE that is learned from typed text on the Anatomy page, beside the model's own tokenizer."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from headlight.corpora.cutting import Merges, has_merges
from headlight.corpora.learned_merges import learn_merges
from tests.small import TEXTS, small_checkpoint
from tests.ui.anatomy.test_looks import html_of, opened
from tests.ui.pages import texts
from transformer import Translator
from transformer.tokenizers import Tokenizer
from ui.anatomy.embedding import spelled
from ui.anatomy.learned_merges import FIRST_MERGES, MAX_MERGES, TEXT, merges_html, pairs_html

BPE = Tokenizer.train(TEXTS, "bpe", 200, min_frequency=1)


def learning(text: str, **query: str) -> AppTest:
    app = opened(part="embedding", kind="encoder", learn=text, **query)
    assert not app.exception and not app.error
    return app


def rows(html: str) -> list[list[str]]:
    body = html.partition("<tbody>")[2]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body.split("<tr>")[1:]]
    return [[re.sub(r"<[^>]+>", "", cell) for cell in row] for row in cells]


def test_the_expander_is_closed_and_stays_open_while_its_text_is_typed(small: Translator) -> None:
    app = opened(part="embedding", kind="encoder")
    assert not app.slider and "Merges so far" not in texts(app)
    assert any("Learn a BPE" in expander.label for expander in app.expander)
    app.session_state["learn-bpe"] = True
    app.run()
    (box,) = [area for area in app.text_area if area.label == "Text to learn from"]
    assert box.value == TEXT
    box.set_value("abab abab ab").run()
    assert not app.exception and app.query_params["learn"] == "abab abab ab"
    assert ["1", "a + b", "5"] in rows(html_of(app))


def test_the_textbook_example_merge_by_merge(small: Translator) -> None:
    app = learning(TEXT)
    (slider,) = app.slider
    learned = learn_merges(TEXT)
    assert (slider.min, slider.max, slider.value) == (learned.sizes[0], learned.sizes[-1], learned.sizes[FIRST_MERGES])
    assert "Merges so far" in texts(app) and ["3", "l + o", "7"] in rows(html_of(app))
    assert f"{slider.value} tokens: 4 special ones, 11 characters and 3 joined pieces" in texts(app)
    slider.set_value(slider.max).run()
    assert "No pair occurs twice any more" in texts(app)
    assert f":gray[{len(TEXT.split())} tokens]" in texts(app)  # each word became one token
    slider.set_value(slider.min).run()
    assert "None yet: each character is a token." in texts(app)
    assert f":gray[{len(TEXT.replace(' ', '')) + len(TEXT.split())} tokens]" in texts(app)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the text is empty"),
        ("▁ ", "the text is empty"),
        ("abc", "No pair occurs twice any more"),
        ("कि कि कि 👩\u200d👧 👩\u200d👧", "joined next"),
        ("ab<b> ab<b>", "joined next"),
    ],
)
def test_texts_that_are_short_or_strange(small: Translator, text: str, words: str) -> None:
    app = learning(text, vocabulary="1")
    assert words in texts(app) + html_of(app)
    assert bool(app.slider) == (words == "joined next") and "<b>" not in html_of(app)


def test_a_size_that_the_text_does_not_reach_is_its_largest(small: Translator) -> None:
    (slider,) = learning(TEXT, vocabulary="9999").slider
    assert slider.value == slider.max
    (slider,) = learning(TEXT, vocabulary="1").slider
    assert slider.value == slider.min


def test_a_merge_stands_beside_that_of_the_models_tokenizer() -> None:
    learned, count = learn_merges(TEXT), 12
    table = rows(merges_html(learned, count, BPE))
    assert len(table) == MAX_MERGES
    merges = list(Merges(BPE)._ranks)
    for number, pair, times, models_merge in table:
        n = int(number) - 1
        assert pair == " + ".join(learned.merges[n]) and int(times) == learned.counts[n]
        assert models_merge == " + ".join(spelled(BPE, merges[n]))
    assert [int(row[0]) for row in table] == [*range(3, 13)]
    short = Tokenizer.train(TEXTS, "bpe", 33)
    assert len(Merges(short)) < count and rows(merges_html(learned, count, short))[-1][3] == ""
    words = small_checkpoint().source_tokenizer
    assert not has_merges(words) and "This model's tokenizer" not in merges_html(learned, count, words)
    assert [row[2] for row in rows(pairs_html(learned.pairs(0)))][:2] == ["joined next", ""]

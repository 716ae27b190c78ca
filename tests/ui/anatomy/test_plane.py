"""Words in a plane on the Anatomy page: what is typed, what is drawn, and what is said of it."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from headlight.analysis.plane import Plane
from headlight.charts.plane import words_in_plane
from tests.small import TEXTS, small_checkpoint, small_t5_checkpoint
from tests.ui.anatomy.test_looks import html_of, numbers, opened
from tests.ui.pages import texts
from transformer import Translator
from transformer.taps import Site
from transformer.tokenizers import Tokenizer
from ui.anatomy.plane import (
    default_words,
    describe_embeddings,
    describe_plane,
    describe_scores,
    describe_tokens,
    split_words,
)


def scores(app: AppTest) -> list[list[str]]:
    return numbers(html_of(app), "Scores, q · k / √4")


def test_the_scores_are_those_of_the_two_maps(small: Translator) -> None:
    """Computed again from the weights of the checkpoint, a number at a time."""
    app = opened(look="plane", kind="encoder", layer="1", head="2", plane="dogs girl")
    model = small.model
    layer = model.encoder.layers[0]
    ids = [small.checkpoint.source_tokenizer.encode(word)[0] for word in ("dogs", "girl")]
    with torch.no_grad():
        x = layer.residuals[0].norm(model.encoder.embedding.tokens.weight[ids] * math.sqrt(16))
        q, k = (projection(x)[:, 4:8].tolist() for projection in (layer.attention.query, layer.attention.key))
    assert scores(app) == [
        [f"{sum(a * b for a, b in zip(row, column, strict=True)) / 2:.2f}".replace("-", "−") for column in k]
        for row in q
    ]
    assert "is left out" in texts(app) and "after the layer norm" in texts(app)
    assert "Not what the model does" in texts(opened(look="plane", kind="encoder", layer="2", plane="dogs girl"))


def test_what_is_typed(small: Translator) -> None:
    def rows(words: str) -> int:
        app = opened(look="plane", kind="encoder", layer="1", plane=words)
        assert not app.exception and not app.error
        return len(scores(app)) if "Scores" in html_of(app) else 0

    assert rows("two dogs, girl") == 3 and rows("dogs dogs") == 1 and rows("  ,  ") == 0
    app = opened(look="plane", kind="encoder", layer="1", plane="")
    assert "There is nothing to draw" in texts(app)
    app = opened(look="plane", kind="encoder", layer="1", plane="a b c d e f g h i j")
    assert "The first 8 of 10 words" in texts(app)
    app = opened(look="plane", kind="encoder", layer="1", plane="<b>")
    assert "Type a second word" in texts(app) and "<b>" not in html_of(app)


def test_words_that_are_typed_are_in_the_address(small: Translator) -> None:
    app = opened(look="plane", kind="encoder", layer="1")
    (box,) = [text for text in app.text_input if text.label == "Words"]
    assert box.value == "two dogs"
    box.set_value("dogs, girl, snow").run()
    assert len(scores(app)) == 3 and app.query_params["plane"] == "dogs, girl, snow"


def test_words_that_are_the_same_to_the_model_do_not_vary(small: Translator) -> None:
    app = opened(look="plane", kind="encoder", layer="1", plane="xylophone zebra")
    assert "nothing varies among them" in texts(app) and "zebra is not in the vocabulary" in texts(app)
    (row, other) = scores(app)
    assert row == other and len({*row}) == 1


def test_cross_attention_has_no_one_embedding(small: Translator) -> None:
    app = opened(look="plane", kind="cross", layer="1", plane="dogs girl")
    assert "Choose a self-attention" in texts(app) and "Scores" not in html_of(app)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_t5_does_not_divide(small: Translator, kind: str) -> None:
    app = opened(model="t5", look="plane", kind=kind, layer="1")
    assert 'aria-label="Scores, q · k"' in html_of(app) and "bias of the distance" in texts(app)


def test_the_words_of_the_sentence_come_first() -> None:
    words = Tokenizer.train(TEXTS, "words", 200, min_frequency=1)
    ids = [*words.encode("two dogs . two girl is a little bench"), words.eos_id]
    assert default_words(words, ids) == ["two", "dogs", "girl", "is", "a"]
    letters = Tokenizer.train(TEXTS, "characters", 200)
    assert default_words(letters, letters.encode("dogs")) == ["d", "o", "g", "s"]
    assert default_words(words, [words.eos_id]) == []
    assert split_words(" ice,cream، ice\u3001x ") == ["ice", "cream", "x"]


def test_a_word_of_several_tokens_is_said_to_be_their_mean() -> None:
    tokenizer, word = Tokenizer.train(TEXTS, "bpe", 60), "running"
    ids = tuple(tokenizer.encode(word))
    (sentence,) = describe_tokens({word: ids}, tokenizer)
    assert f"is {len(ids)} tokens" in sentence and "mean" in sentence
    (long,) = describe_tokens({"x": ids * 20}, tokenizer)
    assert "…" in long


def test_what_is_said_of_the_plane_and_the_scores() -> None:
    plane = Plane(np.zeros((3, 2)), np.zeros(2), np.array([0.5, 0.25]))
    assert re.search(r"shows 75\s% of their variance: 50\s% from left to right, 25\s% up", describe_plane(plane, "x"))
    table = np.array([[0, 1.5, 0], [-2, 0, 0], [0.1, 0, 0]])
    assert "b scores a −2.00, and a scores b 1.50" in describe_scores("abc", table) or (
        "a scores b 1.50, and b scores a −2.00" in describe_scores("abc", table)
    )
    assert "symmetric" not in describe_scores("ab", np.eye(2))


@pytest.mark.parametrize(
    ("config", "layer", "words"),
    [
        (small_checkpoint(positions="none").model.config, 0, "no positional encoding"),
        (small_checkpoint(norm="post", final_norm=False).model.config, 0, "its position added"),
        (small_t5_checkpoint().model.config, 1, "the 1 layer below"),
    ],
)
def test_what_differs_from_a_sentence_is_said(config: object, layer: int, words: str) -> None:
    class Chosen:
        site = Site("encoder", layer, "self")

    text = describe_embeddings(config, Chosen())  # type: ignore[arg-type]
    assert words in text and ("layer norm" in text) == (config.norm == "pre")  # type: ignore[attr-defined]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_vector_runs_from_zero_to_its_point(theme: str) -> None:
    names = ["apple", "<b>$x$</b>", "c" * 200]
    points = {kind: np.random.default_rng(i).normal(size=(3, 2)) for i, kind in enumerate(("key", "query"))}
    figure = words_in_plane(names, points, np.array([0.25, -0.5]), "Plane", theme=theme)
    vectors = [trace for trace in figure.data if trace.x[0] is not None]
    for trace, point in zip(vectors, np.vstack([*points.values()]), strict=True):
        assert (trace.x[0], trace.y[0]) == (0.25, -0.5) and (trace.x[1], trace.y[1]) == tuple(point)
    assert len({(trace.line.color, trace.line.dash, trace.marker.symbol) for trace in vectors}) == 6
    assert not any("<b>$" in trace.text[1] or len(trace.text[1]) > 40 for trace in vectors)
    assert [trace.name for trace in figure.data if trace.x[0] is None] == ["key", "query"]
    across, up = figure.layout.xaxis.range, figure.layout.yaxis
    every = np.vstack([*points.values(), [0.25, -0.5]])
    assert across[0] < every[:, 0].min() and across[1] > every[:, 0].max() and up.scaleanchor == "x"
    assert "Furthest apart as key" in figure.layout.meta
    alone = words_in_plane(["a"], {"embedding": np.zeros((1, 2))}, np.zeros(2), "Plane", theme=theme)
    assert len(alone.data) == 1 and not alone.layout.showlegend
    same = words_in_plane(["a", "b"], {"embedding": np.zeros((2, 2))}, np.zeros(2), "Plane", theme=theme)
    assert "Every embedding lies at the same point" in same.layout.meta

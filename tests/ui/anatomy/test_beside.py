"""What Anatomy offers under a norm, a feed-forward network and an attention: comparisons, costs and relatives."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from headlight.analysis.network import crossing
from headlight.analysis.recurrence import by_distance
from headlight.formatting import brief
from tests.ui.pages import captions, open_page
from transformer import Translator
from ui.anatomy.norms import GRADIENT_NORMS_FILE, measured
from ui.anatomy.passes import GAINS, STEPS

TARGET = "une petite fille"


def opened(*expanders: str, **query: str) -> AppTest:
    return open_page("anatomy", *expanders, **{"model": "a-small", "text": "two dogs", "target": TARGET, **query})


@pytest.mark.parametrize(("part", "model"), [("attention-norm", "a-small"), ("ff-norm", "t5"), ("norm", "a-small")])
def test_batch_norm_moves_with_the_other_sentence_and_layer_norm_does_not(
    small: Translator, part: str, model: str
) -> None:
    app = opened("batch-norm", "pre-or-post", part=part, layer="1", model=model)
    assert "layer norm's numbers change by at most 0, batch norm's by" in captions(app)
    table = next(frame.value for frame in app.dataframe if "number 1" in frame.value)
    rows = table.to_numpy()[:, 1:].astype(float)
    assert np.array_equal(rows[1], rows[2]) and np.abs(rows[3] - rows[4]).max() > 0.01
    assert "Xiong et al. 2020" in captions(app) and "has its norms before the blocks" in captions(app)
    pictures = " ".join(element.proto.body for element in app.get("html"))
    for says in ("Layer norm: one token, all", "Batch norm: one number", "Pre-norm: y = x", "Post-norm, as in the pa"):
        assert f'alt="{says}' in pictures


def test_what_was_measured_of_the_norms_is_shown_and_says_what_it_says(small: Translator) -> None:
    """A deep post-norm network does not learn without warm-up, and its gradients are uneven."""
    runs = {(run["norm"], bool(run["warmup"])): run for run in measured()["runs"]}
    assert GRADIENT_NORMS_FILE.exists() and len(runs) == 4
    last = {key: run["losses"][-1] for key, run in runs.items()}
    assert last["post", False] > 3 > last["post", True] > last["pre", True]
    assert last["pre", False] < 2
    for norm, most in (("pre", 2), ("post", 10)):
        gradients = runs[norm, False]["gradients"]
        assert gradients == runs[norm, True]["gradients"] and max(gradients) / min(gradients) < most
    assert max(runs["post", False]["gradients"]) / min(runs["post", False]["gradients"]) > 4


def test_a_feed_forward_network_sees_one_token(small: Translator) -> None:
    text = captions(opened(part="ff", kind="encoder", layer="1"))
    assert "the output at this one changes by at most 0. Over the whole sentence" in text or "at most 1e-0" in text
    assert "two convolutions of width 1, [3, 16] → [3, 32] → [3, 16]" in text


@pytest.mark.parametrize("model", ["a-small", "t5"])
def test_the_cost_of_a_layer_and_the_relatives(small: Translator, model: str) -> None:
    app = opened("cost", "relatives", model=model)
    at = crossing(16, 16 if model == "a-small" else 20, 32, model == "t5")
    assert f"from {at:,} tokens on they are more than half" in captions(app)
    tables = [element.proto.body for element in app.get("html") if "<table" in element.proto.body]
    assert any("Recurrent (RNN)" in table for table in tables)
    relatives = next(table for table in tables if "What changes" in table)
    assert relatives.count("<tr>") == 7 and "Bahdanau et al. 2015" in relatives


@pytest.mark.parametrize(("kind", "model"), [("encoder", "a-small"), ("decoder", "a-small"), ("cross", "t5")])
def test_sparse_and_linear_attention_stand_beside_the_softmax(small: Translator, kind: str, model: str) -> None:
    app = opened("relatives", kind=kind, layer="1", head="1", model=model)
    page = " ".join(element.proto.body for element in app.get("html"))
    for title in ("Softmax, exact", "Sparse", "Linear"):
        assert f'aria-label="{title}"' in page
    text = captions(app)
    assert "of the softmax's weight" in text and "vanishes or explodes" in text
    if model == "a-small" and kind == "decoder":
        trace = small.trace("two dogs", target=TARGET)
        (table,) = re.findall(r'aria-label="Softmax, exact".*?<tbody>(.*?)</tbody>', page)
        cells = [x or "0" for x in re.findall(r"<td[^>]*>([^<]*)</td>", table)]
        pattern, hidden = trace.decoder[0, 0].ravel(), trace.masked("decoder").ravel()
        assert cells == ["0" if off else f"{weight:.2f}" for weight, off in zip(pattern, hidden, strict=True)]
        recurrent, attention = by_distance(GAINS, STEPS)
        assert f"to {brief(recurrent[2.0][-1])} with 2: it vanishes" in text
        assert f"{brief(attention[0])} at 1 token back, {brief(attention[-1])} at {STEPS - 1}." in text

"""What `headlight.show` takes, and what it refuses."""

import re
import sys
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch

import headlight
from headlight.notebook import Selected, View
from headlight.notebook.arrays import UNKNOWN_LABEL, trace_of
from transformer import Trace

SOURCE, TARGET = ["[CLS]", "▁sky", "sc", "raper"], ["<s>", "▁gratte", "-"]


def attention(layers: int, heads: int, queries: int, keys: int, causal: bool = False) -> np.ndarray:
    weights = np.random.default_rng(0).random((layers, heads, queries, keys)).astype(np.float32)
    if causal:
        weights = np.tril(weights)
    return weights / weights.sum(-1, keepdims=True)


ENCODER, DECODER, CROSS = attention(2, 3, 4, 4), attention(1, 2, 3, 3, causal=True), attention(1, 2, 3, 4)


@pytest.mark.parametrize("absent", [["anywidget"], ["anywidget", "IPython", "traitlets"]])
def test_what_is_not_installed_is_named(absent: list[str]) -> None:
    """The others come with anywidget: most environments without it have none of them."""
    loaded = {name for name in sys.modules if name.startswith("headlight.notebook")}
    with (
        patch.dict(sys.modules, dict.fromkeys(absent)),
        pytest.raises(ModuleNotFoundError, match=f"needs ({'|'.join(absent)}): pip install headlight-attention$"),
    ):
        for name in loaded:  # they are back when this is over
            del sys.modules[name]
        import_module("headlight.notebook")


# ---- a trace ---------------------------------------------------------------------------------------


def test_a_trace_opens_on_its_narrowest_head(trace: Trace) -> None:
    view = headlight.show(trace)
    assert isinstance(view, View) and view.trace is trace
    assert view.selected.kind == "cross" and not view.words
    assert headlight.show(trace, selected=("encoder", 1, 3), words=True).selected == ("encoder", 1, 3)


def test_selected_is_set_and_observed(trace: Trace) -> None:
    view, seen = headlight.show(trace), []
    view.observe(lambda change: seen.append(change["new"]), "selected")
    view.selected = ("decoder", np.int64(2), 1)
    assert view.selected == Selected("decoder", 2, 1) and seen == [("decoder", 2, 1)]
    view.set_state({"selected": ["encoder", 0, 2]})  # as a click in the browser does
    assert view.selected == Selected("encoder", 0, 2) and seen[1:] == [("encoder", 0, 2)]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (("sideways", 0, 0), "no kind of attention called 'sideways'; choose one of encoder, decoder, cross"),
        (("cross", 3, 0), "layer 3, head 0, from 0; cross attention has 3 layers of 2 heads"),
        (("cross", 0, -1), "layer 0, head -1, from 0"),
        (("cross", 0), r"give \(kind, layer, head\), such as \('cross', 0, 0\)"),
        (("cross", 0.5, 1), r"give \(kind, layer, head\)"),
        (None, r"give \(kind, layer, head\)"),
    ],
)
def test_a_head_that_is_not_there_is_refused(trace: Trace, value: Any, says: str) -> None:
    view = headlight.show(trace, selected=("cross", 1, 1))
    with pytest.raises(ValueError, match=says):
        view.selected = value
    assert view.selected == ("cross", 1, 1)


def test_what_is_no_trace_is_refused(trace: Trace) -> None:
    with pytest.raises(ValueError, match="show was given 'A sentence'; give a trace, as model.trace"):
        headlight.show("A sentence")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a trace and arrays or tokens as well"):
        headlight.show(trace, encoder=ENCODER)
    with pytest.raises(ValueError, match='theme is \'sepia\'; choose "light" or "dark"'):
        headlight.show(trace, theme="sepia")  # type: ignore[arg-type]


# ---- arrays ----------------------------------------------------------------------------------------


def test_a_models_three_kinds_become_a_trace() -> None:
    view = headlight.show(encoder=ENCODER, decoder=DECODER, cross=CROSS, source_tokens=SOURCE, target_tokens=TARGET)
    trace = view.trace
    assert trace.kinds == ("encoder", "decoder", "cross")
    for kind, given in (("encoder", ENCODER), ("decoder", DECODER), ("cross", CROSS)):
        assert (trace.pattern(kind) == given).all()
    assert trace.source.words == [[0], [1, 2, 3]] and trace.source.special == [True, False, False, False]
    assert trace.reads.labels == TARGET and trace.rows("cross") == [*TARGET[1:], UNKNOWN_LABEL]
    assert trace.masked("decoder")[0].tolist() == [False, True, True]
    assert np.isnan(trace.log_probs).all() and len(trace.log_probs) == 3


def test_the_token_that_was_written_last_may_be_known() -> None:
    trace = trace_of(cross=CROSS, source_tokens=SOURCE, target_tokens=[*TARGET, "ciel"])
    assert trace.rows("cross") == [*TARGET[1:], "ciel"] and trace.kinds == ("cross",)


def test_one_kind_alone() -> None:
    encoder = headlight.show(encoder=ENCODER, source_tokens=SOURCE)
    assert encoder.trace.kinds == ("encoder",) and len(encoder.trace.target) == 0
    decoder = headlight.show(decoder=DECODER, target_tokens=TARGET)
    assert decoder.trace.kinds == ("decoder",) and len(decoder.trace.source) == 0
    assert decoder.selected.kind == "decoder"


def test_a_decoder_that_sees_what_comes_later_is_not_masked() -> None:
    trace = trace_of(decoder=attention(1, 1, 3, 3), target_tokens=TARGET)
    assert trace.look_ahead and not trace.masked("decoder").any()


@pytest.mark.parametrize(
    "given",
    [
        tuple(torch.from_numpy(layer)[None] for layer in ENCODER),  # as transformers gives it
        [layer for layer in ENCODER],
        torch.from_numpy(ENCODER).requires_grad_(),
        ENCODER[:, None],
        ENCODER.astype(np.float64),
        ENCODER.tolist(),
    ],
    ids=["layers with a batch", "layers", "tensor", "batch", "double", "numbers"],
)
def test_every_form_of_the_same_numbers(given: Any) -> None:
    made = trace_of(encoder=given, source_tokens=SOURCE).pattern("encoder")
    assert made.dtype == np.float32 and (made == ENCODER).all()


def test_half_precision_is_widened() -> None:
    given = [torch.from_numpy(layer)[None].bfloat16() for layer in ENCODER]
    np.testing.assert_allclose(trace_of(encoder=given, source_tokens=SOURCE).pattern("encoder"), ENCODER, rtol=0.005)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "nothing to show: give a trace, or at least one of encoder, decoder and cross"),
        ({"encoder": ENCODER}, "source_tokens is missing; give a text for each token"),
        ({"encoder": ENCODER, "source_tokens": "abcd"}, "source_tokens is 'abcd'; give a list with a text for each"),
        ({"encoder": ENCODER, "source_tokens": [1, 2, 3, 4]}, "give a list with a text for each token"),
        ({"encoder": ENCODER, "source_tokens": TARGET}, "encoder has 4 rows and source_tokens 3 tokens; give 4, one"),
        (
            {"decoder": DECODER, "target_tokens": ["a"]},
            "decoder has 3 rows and target_tokens 1 tokens; give 3 or, with",
        ),
        (
            {"cross": CROSS, "source_tokens": TARGET, "target_tokens": TARGET},
            "cross has 4 columns and source_tokens 3 tokens; give 4",
        ),
        (
            {"encoder": ENCODER, "source_tokens": SOURCE, "target_tokens": TARGET},
            "target_tokens were given, but neither",
        ),
        (
            {"decoder": DECODER, "source_tokens": SOURCE, "target_tokens": TARGET},
            "source_tokens were given, but neither",
        ),
        ({"encoder": (None, None), "source_tokens": SOURCE}, 'encoder holds None.*attn_implementation="eager".*watch'),
        ({"encoder": np.stack([ENCODER, ENCODER], 1), "source_tokens": SOURCE}, "encoder has a batch of 2; give one"),
        ({"encoder": ENCODER[0], "source_tokens": SOURCE}, r"encoder has shape \(3, 4, 4\); it must have four axes"),
        (
            {"encoder": [ENCODER[0], ENCODER[1, :2]], "source_tokens": SOURCE},
            r"encoder is list of float32 \(3, 4, 4\), float32 \(2, 4, 4\); give .* layers of one shape",
        ),
        ({"encoder": ENCODER[:, :, :0, :0], "source_tokens": []}, r"shape \(2, 3, 0, 0\); there must be at least one"),
        ({"encoder": ENCODER * 1j, "source_tokens": SOURCE}, r"encoder is ndarray of complex\w+ \(2, 3, 4, 4\); give"),
        ({"trace": ENCODER}, r"show was given ndarray of float32 \(2, 3, 4, 4\); give a trace"),
        ({"encoder": ENCODER, "source_tokens": SOURCE, "selected": ()}, "selected is ()"),
        ({"encoder": ENCODER, "source_tokens": SOURCE, "selected": ([], 0, 0)}, "selected is .*; give .kind, layer"),
        ({"encoder": "attention", "source_tokens": SOURCE}, "encoder is 'attention'; give an array"),
        ({"encoder": ((ENCODER[0],), (ENCODER[1],)), "source_tokens": SOURCE}, "as generate gives it step by step"),
        ({"encoder": ENCODER * np.nan, "source_tokens": SOURCE}, "encoder holds NaN or infinite numbers"),
        ({"encoder": ENCODER - 0.5, "source_tokens": SOURCE}, "encoder holds -0.4.*Are these the scores"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_name(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=re.compile(says, re.S)):
        headlight.show(**given)


def test_tokens_may_come_one_by_one() -> None:
    assert trace_of(encoder=ENCODER, source_tokens=iter(SOURCE)).source.pieces == SOURCE

"""What a cell is sent, what it asks for, and what is saved with the notebook."""

import base64
import gzip
import re
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import headlight
from headlight.analysis.combine import merge
from headlight.notebook import View
from headlight.notebook import view as module
from headlight.notebook.payload import WEIGHT_STEPS, cell_payload, weights_message
from headlight.notebook.saved import saved_html
from tests.small import small_translator
from tests.unpacked import unpacked
from transformer import Trace


def weights_in(arrays: dict[str, np.ndarray], unit: float, prefix: str = "") -> np.ndarray:
    return (arrays[f"{prefix}high"] * 256.0 + arrays[f"{prefix}low"]) * unit


@pytest.fixture(scope="module")
def pieces() -> Trace:
    """A trace whose words have several tokens."""
    return small_translator(kind="bpe").trace("a zebra", target="two goats")


def test_a_cell_has_every_weight_to_four_decimals(trace: Trace) -> None:
    header, arrays = unpacked(gzip.decompress(cell_payload(trace, ("decoder", 2, 1), False, "dark")))
    assert header["selected"] == ["decoder", 2, 1] and header["theme"] == "dark"
    assert list(header["kinds"]) == ["encoder", "decoder", "cross"]
    for kind, facts in header["kinds"].items():
        assert facts["unit"] == 1 / WEIGHT_STEPS and facts["here"] == list(range(facts["layers"]))
        given = trace.pattern(kind)
        np.testing.assert_allclose(weights_in(arrays, facts["unit"], f"{kind} "), given, atol=0.51 / WEIGHT_STEPS)
        assert (arrays[f"{kind} masked"] == trace.masked(kind)).all()
        assert facts["tokens"]["rows_read"] == (None if kind == "encoder" else trace.reads.labels)


def test_words_are_groups_of_the_tokens(pieces: Trace) -> None:
    header, arrays = unpacked(gzip.decompress(cell_payload(pieces, ("encoder", 0, 0), True, None)))
    words = header["kinds"]["cross"]["words"]
    merged = merge(pieces.cross, *words["groups"])
    assert merged.shape[2:] == (words["queries"], words["keys"]) == (len(words["rows"]), len(words["columns"]))
    assert len(words["columns"]) < len(pieces.source) and arrays["cross masked words"].shape == merged.shape[2:]


def test_of_a_large_trace_one_layer_of_each_kind_is_sent(pieces: Trace) -> None:
    with patch("headlight.notebook.payload.MAX_SENT_WEIGHTS", 100):
        header, arrays = unpacked(gzip.decompress(cell_payload(pieces, ("decoder", 2, 1), False, None)))
    assert [facts["here"] for facts in header["kinds"].values()] == [[1], [2], [2]]  # the encoder has two layers
    decoder = weights_in(arrays, 1 / WEIGHT_STEPS, "decoder ")
    np.testing.assert_allclose(decoder[0], pieces.decoder[2], atol=0.51 / WEIGHT_STEPS)
    layers, heads = pieces.encoder.shape[:2]
    assert arrays["encoder thumbs"].shape[:2] == (layers, heads) and "cross thumbs words" in arrays


def test_the_kernel_answers_with_exact_weights(trace: Trace) -> None:
    header, arrays = unpacked(weights_message(trace, "cross", 1, 0, whole_layer=False))
    assert (header["kind"], header["layer"], header["head"]) == ("cross", 1, 0)
    assert (arrays["weights"] == trace.cross[1, 0]).all() and "high" not in arrays
    _, arrays = unpacked(weights_message(trace, "cross", 1, 0, whole_layer=True))
    np.testing.assert_allclose(weights_in(arrays, 1 / WEIGHT_STEPS), trace.cross[1], atol=0.51 / WEIGHT_STEPS)


def test_a_widget_asks_its_kernel(trace: Trace) -> None:
    view = headlight.show(trace, selected=("cross", 1, 0))
    with patch.object(View, "send") as send:
        ask = {"ask": "weights", "kind": "cross", "layer": 1, "head": 0, "whole_layer": False}
        view._handle_custom_msg(ask, [])
    (content, buffers) = send.call_args.args
    assert buffers == [weights_message(trace, "cross", 1, 0, whole_layer=False)]


def test_a_prompt_and_the_direction_of_writing_reach_the_cell() -> None:
    trace = headlight.show(decoder=np.tril(np.ones((1, 1, 3, 3))), target_tokens=["الفتاة", "تجلس", "اليوم"]).trace
    header, _ = unpacked(gzip.decompress(cell_payload(replace(trace, given=2), ("decoder", 0, 0), False, None)))
    shown = header["kinds"]["decoder"]["tokens"]
    assert shown["rtl"] and shown["given"] == [1, 2]


def test_rows_that_do_not_sum_to_one_are_said() -> None:
    weights = np.full((1, 3, 2, 2), 0.5, np.float32)
    weights[0, 1] = 0  # off, which the overview says
    weights[0, 2, 1] = 0.25
    trace = headlight.show(encoder=weights, source_tokens=["a", "b"]).trace
    header, _ = unpacked(gzip.decompress(cell_payload(trace, ("encoder", 0, 0), False, None)))
    facts = header["kinds"]["encoder"]
    assert facts["note"] == "In 1 of 3 heads there are rows that do not sum to 1: their sums go from 0.5 to 1."
    assert facts["off"] == [["", "off", ""]]


def test_weights_beyond_one_have_larger_steps() -> None:
    weights = np.full((1, 1, 2, 2), 3.0, np.float32)
    trace = headlight.show(encoder=weights, source_tokens=["a", "b"]).trace
    header, arrays = unpacked(gzip.decompress(cell_payload(trace, ("encoder", 0, 0), False, None)))
    assert header["kinds"]["encoder"]["tokens"]["peak"] == 3
    np.testing.assert_allclose(weights_in(arrays, header["kinds"]["encoder"]["unit"], "encoder "), weights, rtol=1e-6)


# ---- outputs ---------------------------------------------------------------------------------------


def outputs(view: View) -> list[dict[str, Any]]:
    with patch.object(module, "display") as display:
        view._ipython_display_()
    return [call.args[0] for call in display.call_args_list]


class Shell:
    """An IPython, as far as `show` asks for it."""


def test_a_cell_has_html_and_the_widget(trace: Trace) -> None:
    with patch.object(module, "get_ipython", Shell):
        view = headlight.show(trace)
        html, widget = outputs(view)
    assert list(html) == ["text/html", "text/plain"]
    assert widget["application/vnd.jupyter.widget-view+json"]["model_id"] == view.model_id
    assert view._payload == b""  # it travels once, in the HTML
    view._handle_custom_msg({"ask": "page"}, [])  # a widget inside of another has no HTML beside it
    assert unpacked(gzip.decompress(view._payload))[0]["selected"] == list(view.selected)


def test_without_a_second_output_the_widget_has_the_data(trace: Trace) -> None:
    """In Colab, where each is a page of its own, and in marimo, which has no IPython."""
    colab = type("Shell", (), {"__module__": "google.colab._shell"})
    for shell in (colab, lambda: None):
        with patch.object(module, "get_ipython", shell):
            view = headlight.show(trace)
            (widget,) = outputs(view)
        assert "text/html" not in widget and view.get_state()["_payload"] == view._packed()


def test_the_saved_html_needs_nothing_else(trace: Trace) -> None:
    payload = cell_payload(trace, ("cross", 1, 0), False, None)
    html = saved_html("abc", payload, trace, ("cross", 1, 0))
    assert base64.b64encode(payload).decode() in html
    text = html.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert not re.findall(r"https?:|//[a-z]+\.|@import|url\(|<link|src=\"(?!data:)", text)
    assert html.count("</script") == 1 and html.endswith("</script>")
    shown_without_scripts = html[: html.index("<style>")]
    assert "Cross attention, layer 2, head 1. To see every head, run this cell" in shown_without_scripts
    assert "Rows: ▁a ▁little ▁girl [EOS]. Columns: ▁two ▁dogs ▁are ▁running ▁. [EOS]" in shown_without_scripts
    assert "data:image/png;base64," in shown_without_scripts


def test_a_token_is_text_in_the_saved_html() -> None:
    hostile = "</script><img src=x>"
    trace = headlight.show(encoder=np.eye(2)[None, None], source_tokens=[hostile, "b"]).trace
    html = saved_html("abc", cell_payload(trace, ("encoder", 0, 0), False, None), trace, ("encoder", 0, 0))
    assert "<img src=x" not in html and html.count("</script") == 1

"""What the page shows, unpacked as a browser would and put together again by hand: the model's own output."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from headlight.analysis.anatomy import agreement, walk
from headlight.analysis.network import network
from headlight.analysis.parts import feed_forward
from headlight.analysis.stream import lens, stream
from tests.small import small_t5_checkpoint, small_translator
from tests.unpacked import unpacked
from transformer import Trace, Translator
from transformer.layers import DecoderLayer
from transformer.taps import Site
from ui.anatomy.chosen import choose
from ui.anatomy.facts import facts, formula, size, title
from ui.anatomy.payloads import lens_payload, likely_tokens, map_payload, parts_payload, walk_payload
from ui.anatomy.view import AnatomyView

START = {"stage": 1, "key": None, "unscaled": False, "unmasked": False}


@pytest.fixture(scope="module", params=["pre", "post"])
def model(request: pytest.FixtureRequest) -> Translator:
    return small_translator(seed=8, norm=request.param, final_norm=request.param == "pre")


@pytest.fixture(scope="module")
def trace(model: Translator) -> Trace:
    return model.trace("a little girl is sitting", "two dogs are running")


def payload_of(model: Translator, trace: Trace, site: Site, head: int, query: int) -> tuple[Any, dict[str, np.ndarray]]:
    passed = stream(model.model, trace.source.ids, trace.target.ids)
    walked = walk(passed, site, head, query)
    row = {"self": trace.decoder if site.stack == "decoder" else trace.encoder, "cross": trace.cross}[site.kind]
    held = agreement(walked, passed, row[site.layer, head, query])
    return unpacked(walk_payload(walked, trace, model.model.config, held, START))


def test_from_the_numbers_on_the_page_to_the_next_token(model: Translator, trace: Trace) -> None:
    """The last cross-attention, stage by stage, and through what is left of the model to its probabilities."""
    layer = model.model.decoder.layers[-1]
    assert isinstance(layer, DecoderLayer)
    ids = [trace.source.ids], [trace.target.ids[:-1]]
    expected = model.log_probs(*ids)[0]
    for query in range(len(trace.reads)):
        joined = []
        for head in range(2):
            header, page = payload_of(model, trace, Site("decoder", 2, "cross"), head, query)
            scores = page["k"] @ page["q"]
            np.testing.assert_allclose(page["scores"], scores, atol=1e-5)
            scaled = scores / math.sqrt(header["d_head"])
            np.testing.assert_allclose(page["adjusted"][0], scaled, atol=1e-5)
            powers = np.exp(scaled) * page["visible"]
            weights = powers / powers.sum()
            np.testing.assert_allclose(page["weights"][0], weights, atol=1e-5)
            np.testing.assert_allclose(trace.cross[2, head, query], weights, atol=1e-5)
            joined.append(weights @ page["v"])
            np.testing.assert_allclose(page["heads"][0][head], joined[-1], atol=1e-5)
        output = layer.cross_attention.output.weight.detach().numpy()
        added = output @ np.concatenate(joined) + page["bias"]
        np.testing.assert_allclose(page["added"][0], added, atol=1e-5)
        np.testing.assert_allclose(page["moved"][0].sum(0) + page["bias"], added, atol=1e-5)
        y = torch.tensor(page["x"] + added)
        if not header["pre"]:
            y = layer.residuals[1].norm(y)
        np.testing.assert_allclose(page["after"][0], y.detach().numpy(), atol=1e-5)
        norm, feed = layer.residuals[2].norm, layer.feed_forward
        y = y + feed(norm(y)) if header["pre"] else norm(y + feed(y))
        log_probs = F.log_softmax(model.model.output(model.model.decoder.norm(y)), -1)
        np.testing.assert_allclose(log_probs.detach().numpy(), expected[query].numpy(), atol=1e-5)
        assert header["agreement"]["pattern"] < 1e-5 and header["agreement"]["output"] < 1e-5


def test_the_page_of_a_t5_adds_up_to_its_next_token() -> None:
    """Self-attention with its bias, unscaled; what is gated; norms without a mean; by hand from the page's numbers."""
    model = Translator(small_t5_checkpoint(seed=2))
    trace = model.trace("a little girl is sitting", "two dogs are running")
    layer = model.model.decoder.layers[-1]
    for query in range(len(trace.reads)):
        joined = []
        for head in range(2):
            header, page = payload_of(model, trace, Site("decoder", 2, "self"), head, query)
            assert (header["adjusts"], header["rms"], header["relative"], header["biased"]) == (
                "bias", True, True, False,
            )  # fmt: skip
            scores = page["k"] @ page["q"] + page["distance"]
            np.testing.assert_allclose(page["adjusted"][0], scores, atol=1e-5)
            np.testing.assert_allclose(page["adjusted"][2], page["k"] @ page["q"], atol=1e-5)
            powers = np.exp(scores) * page["visible"]
            np.testing.assert_allclose(trace.decoder[2, head, query], powers / powers.sum(), atol=1e-5)
            joined.append(powers @ page["v"] / powers.sum())
            assert header["d_head"] == 5 and len(page["q"]) == 5 and header["d_model"] == 16
        y = torch.tensor(page["x"] + layer.self_attention.output.weight.detach().numpy() @ np.concatenate(joined))
        np.testing.assert_allclose(page["after"][0], y.numpy(), atol=1e-5)
        header, page = payload_of(model, trace, Site("decoder", 2, "cross"), 0, query)
        assert header["adjusts"] == "nothing" and "distance" not in page
        np.testing.assert_allclose(page["x"], y.numpy(), atol=1e-5)
        np.testing.assert_allclose(page["adjusted"][0], page["k"] @ page["q"], atol=1e-5)
        assert header["moved"][2] == [0, 0]


def test_the_text_of_a_part_is_that_of_the_family() -> None:
    t5, gated = small_t5_checkpoint(gated=False, activation="relu").model, small_t5_checkpoint().model
    bart = small_translator(scale_embeddings=False, embedding_norm=True, positions="stored").model

    def about(model: Any, name: str, kind: str) -> str:
        part = next(p for p in network(model, 5, 5) if (p.name, p.kind) == (name, kind))
        return formula(part, model.config) + facts(part, model.config)

    assert "sqrt" not in about(t5, "attention", "encoder") and "b_{j-i}" in about(t5, "attention", "decoder")
    assert "b_" not in about(t5, "attention", "cross") and "4 heads of 5 dimensions" in about(
        t5, "attention", "encoder"
    )
    assert r"\max(0,\; W_1 x)" in about(t5, "ff", "encoder") and r"\odot V x" in about(gated, "ff", "encoder")
    assert "mean of squares" in about(t5, "norm", "encoder") and "bias" not in about(t5, "norm", "encoder")
    assert "x = E[" in about(t5, "embedding", "encoder") and "a bias on the scores" in about(t5, "embedding", "encoder")
    assert r"x = \text{norm}(E[\text{token}] + p_t)" in about(bart, "embedding", "encoder")
    layers = [p for p in network(t5, 5, 5) if p.name == "attention" and p.kind == "encoder"]
    assert "shared with layer 1" in facts(layers[1], t5.config) and "shared" not in facts(layers[0], t5.config)


def test_the_first_stage_is_the_embedding_and_the_place(model: Translator, trace: Trace) -> None:
    header, page = payload_of(model, trace, Site("decoder", 0, "self"), 1, 2)
    assert header["first"] and header["kind"] == "decoder"
    np.testing.assert_allclose(page["tokens"] + page["positions"], page["stream"], atol=1e-5)
    embedding = model.model.decoder.embedding
    expected = embedding(torch.tensor([trace.target.ids[:-1]]))[0].detach().numpy()
    np.testing.assert_allclose(page["stream"], expected, atol=1e-5)
    np.testing.assert_array_equal(page["visible"], [1, 1, 1, 0, 0])
    assert header["keys"] == header["queries"] == ["[SOS]", "▁two", "▁dogs", "▁are", "▁running"]
    assert header["writes"] == ["▁two", "▁dogs", "▁are", "▁running", "[EOS]"]
    assert ("normed" in page) == header["pre"]


def test_what_the_switches_show_is_another_row(model: Translator, trace: Trace) -> None:
    """Variant 2 * unscaled + unmasked, and how far each is from the model."""
    header, page = payload_of(model, trace, Site("decoder", 1, "self"), 0, 2)
    scaled = [page["scores"] / math.sqrt(header["d_head"]), page["scores"]]
    for variant in range(4):
        scores = scaled[variant // 2]
        powers = np.exp(scores) * (page["visible"] if variant % 2 == 0 else 1)
        np.testing.assert_allclose(page["adjusted"][variant], scores, atol=1e-5)
        np.testing.assert_allclose(page["weights"][variant], powers / powers.sum(), atol=1e-5)
        np.testing.assert_allclose(page["heads"][variant][0], powers @ page["v"] / powers.sum(), atol=1e-5)
        away = np.abs(page["weights"][variant] - page["weights"][0]).max()
        assert header["moved"][variant][0] == pytest.approx(away, abs=1e-6)
    assert header["moved"][0] == [0, 0] and header["moved"][1][0] > 0.01


def test_the_map_says_what_the_network_is(model: Translator, trace: Trace) -> None:
    config = model.model.config
    parts = network(model.model, len(trace.source), len(trace.reads))
    chosen = choose(AnatomyView(kind="cross", layer=2, head=1), "small", trace, parts)
    header, _ = unpacked(map_payload(parts, config, chosen))
    assert header["encoder"] == {"layers": 2, "heads": 4} and header["decoder"] == {"layers": 3, "heads": 2}
    assert header["shapes"] == {"memory": "6 × 16", "stream": "5 × 16", "logits": f"5 × {config.target_vocab_size}"}
    assert header["heading"] == ["6 tokens", "5 tokens"]
    picked = header["parts"][header["selected"]]
    assert picked["title"] == "Decoder layer 2, cross-attention" and header["head"] == 0
    assert picked["facts"] == (
        "reads 5 × 16 and the encoder's output, 6 × 16, gives 5 × 16. 1,088 parameters. 2 heads of 8 dimensions."
    )
    assert len({part["title"] for part in header["parts"]}) == len(parts)


def test_shared_parameters_are_named() -> None:
    model = small_translator(tied="all").model
    parts = network(model, 3, 4)
    table = 16 * model.config.target_vocab_size
    by_title = {title(part, model.config): part for part in parts}
    assert size(by_title["Decoder embedding"]) == size(by_title["Output projection and softmax"]) == "shared"
    assert f"{table:,} parameters, shared with the encoder" in facts(by_title["Decoder embedding"], model.config)
    assert all(formula(part, model.config) for part in parts)


def test_a_part_carries_the_vectors_that_it_names(model: Translator, trace: Trace) -> None:
    part_values = feed_forward(stream(model.model, trace.source.ids, trace.target.ids), "decoder", 1, 2)
    rows = [("x", "Stream", "", "all"), ("inner", "Inside", "", "inside")]
    header, arrays = unpacked(parts_payload(part_values, rows, trace.reads.labels, 2))
    assert [row["values"] for row in header["rows"]] == ["x", "inner"] == list(arrays)
    np.testing.assert_allclose(arrays["inner"], part_values.vectors["inner"], atol=1e-5)
    assert header["check"].startswith("Equal to the model's own output within ")


def test_the_lens_names_tokens_as_people_read_them(model: Translator, trace: Trace) -> None:
    predictions = lens(stream(model.model, trace.source.ids, trace.target.ids))
    header, arrays = unpacked(lens_payload(predictions, trace, model, (2, 4)))
    tokenizer = model.checkpoint.target_tokenizer
    assert header["rows"] == ["Embedding", "Layer 1", "Layer 2", "Layer 3"] and header["start"] == [2, 4]
    for row in range(4):
        for token in range(5):
            pieces = [tokenizer.piece(i) for i in predictions.ids[row, token]]
            assert header["words"][row][token] == pieces
    np.testing.assert_array_equal(arrays["shares"], predictions.probabilities)
    for start in ((), (4, 0), (0, 5), (1,)):
        assert unpacked(lens_payload(predictions, trace, model, start))[0]["start"] is None


def test_the_likeliest_tokens_are_in_order(model: Translator, trace: Trace) -> None:
    from headlight.analysis.parts import output

    part_values = output(stream(model.model, trace.source.ids, trace.target.ids), 1)
    likeliest = likely_tokens(part_values, model)
    shares = [share for _, share, _ in likeliest]
    assert len(likeliest) == 10 and shares == sorted(shares, reverse=True)
    assert shares[0] == part_values.vectors["probability"].max()

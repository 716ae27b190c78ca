"""What the other parts do to a token, beside torch's own layers and the model's own pass."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from headlight.analysis import parts
from headlight.analysis.parts import TracedVectors
from headlight.analysis.stream import Stream, layer_blocks, stream
from tests.small import small_checkpoint, small_t5_checkpoint
from transformer.model import Transformer

SRC, TGT = [7, 11, 5, 9, 3], [2, 8, 6, 10, 12, 3]


def passed(**changes: Any) -> Stream:
    model = small_checkpoint(seed=6, **changes).model
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if "norm" in key or key.endswith("bias") or not parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return stream(model, SRC, TGT)


def same(vector: np.ndarray, own: torch.Tensor) -> None:
    np.testing.assert_allclose(vector, own.detach().double().numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("positions", "scaled", "normed"),
    [("sinusoidal", True, False), ("learned", False, True), ("stored", True, True), ("none", False, False)],
)
def test_an_embedding_is_a_row_of_the_table_and_a_place(positions: str, scaled: bool, normed: bool) -> None:
    here = passed(positions=positions, scale_embeddings=scaled, embedding_norm=normed)
    embedding = here.model.decoder.embedding
    for token, i in enumerate(TGT[:-1]):
        taken = parts.embedding(here, "decoder", token)
        row = math.sqrt(16) * embedding.tokens.weight[i] if scaled else embedding.tokens.weight[i]
        same(taken.vectors["token"], row)
        assert ("position" in taken.vectors) == (positions != "none")
        if positions != "none":
            same(taken.vectors["position"], embedding.positions.table[token])
            row = row + embedding.positions.table[token]
        same(taken.vectors["sum"], row)
        assert ("after" in taken.vectors) == normed
        same(list(taken.vectors.values())[-1], here.decoder.states[0][token])
        assert taken.difference < 1e-6


@pytest.mark.parametrize(("gated", "activation"), [(True, "gelu"), (False, "relu"), (True, "silu")])
def test_the_parts_of_a_t5_are_put_together_from_its_weights(gated: bool, activation: str) -> None:
    here = stream(small_t5_checkpoint(gated=gated, activation=activation).model, SRC, TGT)
    layer = here.layer("decoder", 1)
    forward, gain = layer.feed_forward, layer.residuals[-1].norm.weight
    block = layer_blocks(here, "decoder", 1)["feed-forward"]
    theirs = {"relu": F.relu, "gelu": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu}[activation]
    for token in range(5):
        taken = parts.feed_forward(here, "decoder", 1, token)
        x = block.before[token]
        read = gain * x / (x.square().mean() + 1e-6).sqrt()
        same(taken.vectors["norm"], read)
        inside = theirs(read @ forward.inner.weight.T)
        same(taken.vectors["active"], inside)
        assert ("gate" in taken.vectors) == ("product" in taken.vectors) == gated
        if gated:
            same(taken.vectors["gate"], read @ forward.gate.weight.T)
            inside = inside * (read @ forward.gate.weight.T)
            same(taken.vectors["product"], inside)
        same(taken.vectors["sum"], x + inside @ forward.outer.weight.T)
        assert taken.difference < 1e-6

        normed = parts.block_norm(here, "decoder", 1, "feed-forward", token)
        assert (normed.vectors["standard"] ** 2).mean() == pytest.approx(1, abs=1e-3)
        same(normed.vectors["after"], read)
        assert normed.difference < 1e-6 and parts.final_norm(here, "encoder", token).difference < 1e-6
        assert parts.output(here, token).difference < 1e-6
        embedded = parts.embedding(here, "encoder", token)
        assert list(embedded.vectors) == ["token", "sum"] and embedded.difference == 0


@pytest.mark.parametrize(
    ("norm", "activation", "stack"),
    [("pre", "relu", "encoder"), ("post", "gelu", "encoder"), ("pre", "silu", "decoder"), ("post", "relu", "decoder")],
)
def test_a_feed_forward_network_is_two_maps(norm: str, activation: str, stack: str) -> None:
    here = passed(norm=norm, activation=activation)
    layer = here.layer(stack, 1)
    for token in range(5):
        block = layer_blocks(here, stack, 1)["feed-forward"]
        taken = parts.feed_forward(here, stack, 1, token)
        read = layer.residuals[-1].norm(block.before[token]) if norm == "pre" else block.before[token]
        inner = F.linear(read, layer.feed_forward.inner.weight, layer.feed_forward.inner.bias)
        same(taken.vectors["inner"], inner)
        same(taken.vectors["active"], getattr(F, activation)(inner))
        same(taken.vectors["given"], layer.feed_forward(read))
        same(taken.vectors["sum"], block.before[token] + layer.feed_forward(read))
        assert ("after" in taken.vectors) == (norm == "post") == ("norm" not in taken.vectors)
        same(list(taken.vectors.values())[-1], here.stack(stack).states[2][token])
        assert taken.difference < 1e-6


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_norm_is_torchs(norm: str) -> None:
    here = passed(norm=norm)
    for n, block in enumerate(("self", "cross", "feed-forward")):
        own = here.layer("decoder", 2).residuals[n].norm
        for token in range(5):
            check_norm(parts.block_norm(here, "decoder", 2, block, token), own)
    for token in range(5):
        taken = parts.final_norm(here, "encoder", token)
        check_norm(taken, here.model.encoder.norm)
        same(taken.vectors["x"], here.encoder.states[-1][token])
        same(taken.vectors["after"], here.encoder.last[token])


def check_norm(taken: TracedVectors, own: torch.nn.Module) -> None:
    same(taken.vectors["after"], own(torch.tensor(taken.vectors["x"]).float()))
    assert taken.vectors["standard"].mean() == pytest.approx(0, abs=1e-9)
    assert taken.vectors["standard"].std() == pytest.approx(1, abs=1e-3)
    assert taken.difference < 1e-6


def test_a_model_without_last_norms_says_so() -> None:
    with pytest.raises(ValueError, match="no final layer norm"):
        parts.final_norm(passed(final_norm=False), "encoder", 0)


@pytest.mark.parametrize("changes", [{}, {"tied": "all"}, {"logits_bias": False, "final_norm": False}])
def test_the_output_is_what_the_model_writes(changes: dict[str, Any]) -> None:
    here = passed(**changes)
    model: Transformer = here.model
    with torch.no_grad():
        own = model(torch.tensor([SRC]), torch.tensor([TGT[:-1]]))[0]
    for token in range(5):
        taken = parts.output(here, token)
        same(taken.vectors["logits"], own[token])
        same(taken.vectors["probability"], own[token].softmax(-1))
        assert taken.vectors["probability"].sum() == pytest.approx(1)
        assert taken.difference < 1e-6


def test_a_difference_is_measured() -> None:
    here = passed()
    here.decoder.states[0][2, 3] += 0.5
    assert parts.embedding(here, "decoder", 2).difference == pytest.approx(
        0.5 / max(1, here.decoder.states[0][2].abs().max().item()), rel=1e-3
    )

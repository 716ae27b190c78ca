"""Models without one of their parts, against a forward pass written here, and the size of the residual stream.

Shapes: S source tokens, T target tokens, H heads, D = d_head, M = d_model, V target vocabulary.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.analysis.network import network
from headlight.analysis.stream import stream, stream_sizes
from headlight.analysis.why import contrast
from headlight.runs.recipe import Recipe
from headlight.teaching.mistakes import MISTAKES, break_translator
from tests.small import small_t5_checkpoint, small_translator
from transformer import Translator, preset
from transformer.batches import collate
from transformer.model import Transformer
from transformer.training.loop import batch_loss

TEXT, TARGET = "a little girl is sitting .", "two dogs are running ."
LEFT_OUT = ("no-residual", "no-norms", "no-feed-forward", "no-non-linearity", "no-embedding-scale")
NETWORKS: dict[str, dict[str, Any]] = {
    "pre-norm": {},
    "post-norm": {"norm": "post", "final_norm": False, "embedding_norm": True, "positions": "learned"},
    "unbiased norms": {"norm_form": "unbiased", "activation": "gelu", "tied": "all"},
}


class ByHand:
    """The network of `model` without one of its parts, from its weights; `sizes` is what each pass saw."""

    def __init__(self, model: Transformer, left_out: str | None):
        self.weights = {name: value.double() for name, value in model.state_dict(keep_vars=False).items()}
        self.config, self.left_out = model.config, left_out
        self.sizes: dict[str, list[Tensor]] = {"encoder": [], "decoder": []}

    def linear(self, x: Tensor, name: str) -> Tensor:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x: Tensor, name: str) -> Tensor:
        if self.left_out == "no-norms":
            return x
        centred = x - x.mean(-1, keepdim=True)
        if self.config.norm_form == "unbiased" and f"{name}.gain" in self.weights:
            deviation = (x.var(-1, keepdim=True, unbiased=True) + self.config.norm_eps).sqrt()
            return centred / deviation * self.weights[f"{name}.gain"] + self.weights[f"{name}.shift"]
        deviation = (x.var(-1, keepdim=True, unbiased=False) + self.config.norm_eps).sqrt()
        return centred / deviation * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attention(self, x: Tensor, memory: Tensor, name: str, heads: int, causal: bool) -> Tensor:
        q, k, v = (
            self.linear(y, f"{name}.{part}").unflatten(-1, (heads, -1)).transpose(0, 1)
            for y, part in ((x, "query"), (memory, "key"), (memory, "value"))
        )  # [H, N, D]
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if causal:
            scores = scores + torch.full(scores.shape[1:], -torch.inf, dtype=scores.dtype).triu(1)
        return self.linear((scores.softmax(-1) @ v).transpose(0, 1).flatten(1), f"{name}.output")

    def feed_forward(self, x: Tensor, name: str) -> Tensor:
        if self.left_out == "no-feed-forward":
            return torch.zeros_like(x)
        inner = self.linear(x, f"{name}.inner")
        if self.left_out != "no-non-linearity":
            inner = F.gelu(inner) if self.config.activation == "gelu" else inner.clamp(min=0)
        return self.linear(inner, f"{name}.outer")

    def around(self, x: Tensor, sublayer: Any, name: str, stack: str) -> Tensor:
        first = self.config.norm == "pre"
        given = sublayer(self.norm(x, f"{name}.norm") if first else x)
        total = given if self.left_out == "no-residual" else x + given
        x = total if first else self.norm(total, f"{name}.norm")
        self.sizes[stack].append(x.pow(2).sum(-1).sqrt())
        return x

    def embed(self, ids: list[int], stack: str, positions: Tensor) -> Tensor:
        x = self.weights[f"{stack}.embedding.tokens.weight"][ids]
        if self.left_out != "no-embedding-scale":
            x = x * math.sqrt(self.config.d_model)
        x = x + positions[: len(ids)].double()
        x = self.norm(x, f"{stack}.embedding.norm") if self.config.embedding_norm else x
        self.sizes[stack].append(x.pow(2).sum(-1).sqrt())
        return x

    def log_probs(self, model: Transformer, source: list[int], target: list[int]) -> Tensor:
        def table(stack: Any) -> Tensor:
            positions = stack.embedding.positions
            return positions(torch.zeros(1, len(source) + len(target), self.config.d_model), 0)[0].detach()

        def last(x: Tensor, stack: str) -> Tensor:
            return self.norm(x, f"{stack}.norm") if self.config.final_norm else x

        x, encoder, decoder = self.embed(source, "encoder", table(model.encoder)), *self.config_heads()
        for layer in range(self.config.encoder.n_layers):
            at = f"encoder.layers.{layer}"
            for n, sublayer in enumerate(
                (
                    lambda h, at=at: self.attention(h, h, f"{at}.attention", encoder, False),
                    lambda h, at=at: self.feed_forward(h, f"{at}.feed_forward"),
                )
            ):
                x = self.around(x, sublayer, f"{at}.residuals.{n}", "encoder")
        memory = last(x, "encoder")
        x = self.embed(target, "decoder", table(model.decoder))
        for layer in range(self.config.decoder.n_layers):
            at = f"decoder.layers.{layer}"
            for n, sublayer in enumerate(
                (
                    lambda h, at=at: self.attention(h, h, f"{at}.self_attention", decoder, True),
                    lambda h, at=at: self.attention(h, memory, f"{at}.cross_attention", decoder, False),
                    lambda h, at=at: self.feed_forward(h, f"{at}.feed_forward"),
                )
            ):
                x = self.around(x, sublayer, f"{at}.residuals.{n}", "decoder")
        return self.linear(last(x, "decoder"), "output").log_softmax(-1)

    def config_heads(self) -> tuple[int, int]:
        return self.config.encoder.n_heads, self.config.decoder.n_heads


@pytest.fixture(params=NETWORKS)
def translator(request: pytest.FixtureRequest) -> Translator:
    return small_translator(**NETWORKS[request.param])


@pytest.mark.parametrize("name", [None, *LEFT_OUT])
def test_log_probabilities_and_sizes_are_those_of_a_pass_by_hand(name: str | None, translator: Translator) -> None:
    broken = translator if name is None else break_translator(translator, name)
    source, target = translator.encode(TEXT), translator.encode_target(TARGET)
    by_hand = ByHand(translator.model, name)
    due = by_hand.log_probs(translator.model, source, target[:-1])
    # As training computes them, and as the network that is prepared to run fast does.
    plain = broken.model(torch.tensor([source]), torch.tensor([target[:-1]]))[0].log_softmax(-1).detach()
    torch.testing.assert_close(plain.double(), due, atol=1e-4, rtol=1e-4)
    prepared = broken.log_probs([source], [target[:-1]])[0]
    torch.testing.assert_close(prepared.double(), due, atol=1e-4, rtol=1e-4)
    if name is not None:
        whole = translator.log_probs([source], [target[:-1]])[0]
        assert (whole.double() - due).abs().max() > 1e-3  # the part that is left out did something
    passed = stream(broken.model, source, target)
    for stack in ("encoder", "decoder"):
        sizes = stream_sizes(passed, stack)
        layers = getattr(translator.model.config, stack).n_layers
        assert len(sizes) == 1 + layers * (2 if stack == "encoder" else 3)
        assert [size.block for size in sizes][:2] == ["embedding", "self"] and sizes[-1].layer == layers - 1
        np.testing.assert_allclose([size.mean for size in sizes], [x.mean() for x in by_hand.sizes[stack]], rtol=1e-4)


@pytest.mark.parametrize("name", [name for name in LEFT_OUT if MISTAKES[name].trains])
def test_the_network_that_is_trained_is_the_one_that_is_run(name: str) -> None:
    """Built from its configuration, with the weights that are left, it computes what the broken model does."""
    whole = small_translator().model
    config = break_translator(small_translator(), name).model.config
    trained = Transformer(config).eval()
    missing = trained.load_state_dict(whole.state_dict(), strict=False)
    assert not missing.missing_keys
    assert all("norm" in key for key in missing.unexpected_keys) and bool(missing.unexpected_keys) == (
        name == "no-norms"
    )
    batch = collate([([5, 9, 4, 3], [2, 6, 7, 3]), ([8, 3], [2, 4, 3])])
    broken = break_translator(small_translator(), name).model
    assert torch.equal(batch_loss(trained, batch), batch_loss(broken, batch))
    assert config.from_dict(config.to_dict()) == config
    made = Recipe("reverse", preset("mini", 64, 64, **MISTAKES[name].changes), broken=name)
    assert f"--break {name}" in made.card()["command"]


@pytest.mark.parametrize("name", ["no-residual", "no-norms"])
@pytest.mark.parametrize("form", NETWORKS)
def test_the_parts_of_a_logit_still_sum_to_it(name: str, form: str) -> None:
    broken = break_translator(small_translator(**NETWORKS[form]), name)
    source, target = broken.encode(TEXT), broken.encode_target(TARGET)
    taken = contrast(broken.model, source, target, 2, 5)
    assert taken.total == pytest.approx(taken.difference, abs=1e-3)
    assert (taken.parts["embedding"] == 0) == (name == "no-residual")
    with pytest.raises(ValueError, match="This model has no (residual connections|layer norms), and the parts"):
        network(broken.model, 3, 3)


def test_what_is_left_out_of_the_paper_network_is_not_left_out_of_t5() -> None:
    with pytest.raises(ValueError, match="choose a model of the paper's own network to break it by no-residual"):
        break_translator(Translator(small_t5_checkpoint()), "no-residual")

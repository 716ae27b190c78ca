"""The numbers of one head, put together again by hand, are what the model computed."""

import math
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention as TheirAttention

from headlight.analysis import attention_at, kind_of
from headlight.analysis.anatomy import Walk, agreement, walk
from headlight.analysis.stream import layer_blocks, rest_of_layer, stream
from tests.small import small_checkpoint, small_t5_checkpoint
from transformer.model import Transformer
from transformer.t5 import T5
from transformer.taps import InputRecorder, Recorder, Replace, Site, chain

SRC, TGT = [7, 11, 5, 9, 3], [2, 8, 6, 10, 12, 3]
READ = len(TGT) - 1
SHAPES: dict[str, dict[str, Any]] = {
    "pre": {},
    "post": {"norm": "post", "final_norm": False},
    "learned": {"positions": "learned", "activation": "gelu"},
    "bare": {"positions": "none", "qkv_bias": False, "attention_output_bias": False, "norm": "post"},
    "normed": {"positions": "stored", "scale_embeddings": False, "embedding_norm": True, "norm": "post"},
}
T5S: dict[str, dict[str, Any]] = {"t5": {}, "t5 1.0": {"gated": False, "activation": "relu"}}


def build(name: str) -> Transformer:
    if name in T5S:
        return small_t5_checkpoint(seed=5, **T5S[name]).model
    model = small_checkpoint(seed=5, **SHAPES[name]).model
    with torch.no_grad():  # untrained norms and biases are 1 and 0, and could be forgotten unseen
        for key, parameter in model.named_parameters():
            if "norm" in key or key.endswith("bias") or not parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return model


@pytest.fixture(scope="module", params=[*SHAPES, *T5S])
def model(request: pytest.FixtureRequest) -> Transformer:
    return build(request.param)


def recorded(model: Transformer) -> tuple[Recorder, InputRecorder]:
    patterns, inputs = Recorder(), InputRecorder()
    with torch.no_grad():
        model(torch.tensor([SRC]), torch.tensor([TGT[:-1]]), chain(patterns, inputs))
    return patterns, inputs


@cache
def walks(model: Transformer) -> list[Walk]:
    """Return a walk for every site, with its heads and tokens in turn. The list is shared: no test changes it."""
    passed = stream(model, SRC, TGT)
    every_walk = []
    for n, site in enumerate(model.sites()):
        heads = attention_at(model, site).n_heads
        every_walk += [walk(passed, site, (n + query) % heads, query) for query in range(len(passed.ids(site.stack)))]
    return every_walk


def test_the_stream_is_the_models(model: Transformer) -> None:
    """The last states, and what the blocks of each layer leave, are those of the model's own pass."""
    passed = stream(model, SRC, TGT)
    src, tgt = torch.tensor([SRC]), torch.tensor([TGT[:-1]])
    with torch.no_grad():
        memory = model.encode(src)
        torch.testing.assert_close(passed.encoder.last, memory[0])
        torch.testing.assert_close(passed.decoder.last, model.decode(tgt, memory, src)[0])
    for stack in ("encoder", "decoder"):
        states = passed.stack(stack).states
        assert len(states) == len(passed.module(stack).layers) + 1
        for layer in range(len(states) - 1):
            blocks = list(layer_blocks(passed, stack, layer).values())
            torch.testing.assert_close(blocks[0].before, states[layer])
            torch.testing.assert_close(blocks[-1].after, states[layer + 1])
            for one, next_one in zip(blocks, blocks[1:], strict=False):
                assert torch.equal(one.after, next_one.before)


def test_queries_keys_values_and_weights_are_those_of_the_pass(model: Transformer) -> None:
    patterns, inputs = recorded(model)
    for walked in walks(model):
        own = inputs[walked.site]
        np.testing.assert_allclose(walked.q, own.q[0, walked.head, walked.query].numpy(), atol=1e-5)
        np.testing.assert_allclose(walked.k, own.k[0, walked.head].numpy(), atol=1e-5)
        np.testing.assert_allclose(walked.v, own.v[0, walked.head].numpy(), atol=1e-5)
        row = patterns[walked.site][0][0, walked.head, walked.query].numpy()
        np.testing.assert_allclose(walked.own.weights, row, atol=1e-6)
        assert (walked.visible == (row > 0)).all()


def test_each_stage_follows_from_the_one_before(model: Transformer) -> None:
    """Compute every number again, one at a time."""
    for walked in walks(model):
        keys, d_head = walked.k.shape
        own = walked.own
        scores = [sum(walked.q[d] * walked.k[j, d] for d in range(d_head)) for j in range(keys)]
        np.testing.assert_allclose(walked.scores, scores, atol=1e-9)
        np.testing.assert_allclose(own.adjusted, adjusted(model, walked, np.array(scores)), atol=1e-9)
        powers = [math.exp(s) if seen else 0.0 for s, seen in zip(own.adjusted, walked.visible, strict=True)]
        np.testing.assert_allclose(own.weights, np.array(powers) / sum(powers), atol=1e-9)
        z = sum(own.weights[j] * walked.v[j] for j in range(keys))
        np.testing.assert_allclose(own.heads[walked.head], z, atol=1e-9)
        output = attention_at(model, walked.site).output
        joined = output.weight.double().detach().numpy() @ own.heads.ravel() + walked.output_bias
        np.testing.assert_allclose(own.added, joined, atol=1e-9)
        np.testing.assert_allclose(own.moved.sum(0) + walked.output_bias, own.added, atol=1e-9)
        np.testing.assert_allclose(own.total, walked.x + own.added, atol=1e-12)


def adjusted(model: Transformer, walked: Walk, scores: np.ndarray) -> np.ndarray:
    """The paper divides; T5 adds the number of the distance, in self-attention."""
    if not isinstance(model, T5):
        assert walked.position_bias is None
        return scores / math.sqrt(walked.k.shape[1])
    if walked.site.kind == "cross":
        assert walked.position_bias is None
        return scores
    config, both = model.config, walked.site.stack == "encoder"
    first = model.encoder.layers[0].attention if both else model.decoder.layers[0].self_attention
    far = torch.arange(len(scores)) - walked.query
    rows = TheirAttention._relative_position_bucket(far, both, config.buckets, config.max_distance)
    bias = first.position_bias.table.weight[rows, walked.head].double().detach().numpy()
    np.testing.assert_allclose(walked.position_bias, bias, atol=1e-12)
    return scores + bias


def test_what_leaves_the_block_is_the_models(model: Transformer) -> None:
    """The very numbers that are shown, sent on through the layer, are what the layer leaves."""
    patterns, _ = recorded(model)
    passed = stream(model, SRC, TGT)
    for walked in walks(model):
        stack, layer, kind = walked.site
        block = layer_blocks(passed, stack, layer)[kind]
        np.testing.assert_allclose(walked.own.after, block.after[walked.query].numpy(), atol=1e-5)
        row = patterns[walked.site][0][0, walked.head, walked.query].numpy()
        held = agreement(walked, passed, row)
        assert held.pattern < 1e-5 and held.output < 1e-5


def test_a_wrong_number_is_noticed(model: Transformer) -> None:
    passed = stream(model, SRC, TGT)
    for walked in walks(model):
        wrong = walked.own.weights + 0.001
        assert agreement(walked, passed, wrong).pattern == pytest.approx(0.001, rel=0.01)
        changed = deepcopy(walked)
        changed.own.after[0] += 0.01
        assert agreement(changed, passed, wrong).output > 1e-4


def test_the_first_column_adds_up(model: Transformer) -> None:
    for walked in walks(model):
        first = walked.site.layer == 0 and walked.site.kind == "self"
        assert (walked.tokens is not None) == first
        assert (walked.positions is not None) == (first and model.config.positions != "none")
        if walked.tokens is not None:
            parts = walked.tokens if walked.positions is None else walked.tokens + walked.positions
            assert (walked.embedded is not None) == model.config.embedding_norm
            if walked.embedded is not None:
                np.testing.assert_allclose(walked.embedded, parts, atol=1e-12)
                norm = (model.encoder if walked.site.stack == "encoder" else model.decoder).embedding.norm
                parts = norm(torch.tensor(parts).float()).detach().numpy()
            np.testing.assert_allclose(walked.stream, parts, atol=1e-5)
        if walked.site.kind == "cross":
            assert walked.stream.shape == (len(SRC), model.config.d_model) and walked.normed is None
        elif model.config.norm == "pre":
            assert walked.normed is not None and walked.x_normed is not None
            np.testing.assert_array_equal(walked.normed[walked.query], walked.x_normed)
        if walked.site.kind == "self":
            np.testing.assert_array_equal(walked.stream[walked.query], walked.x)


@pytest.mark.parametrize(("divided", "masked"), [(True, False), (False, True), (False, False)])
def test_a_stage_left_out_is_what_the_model_would_do_with_that_row(
    model: Transformer, divided: bool, masked: bool
) -> None:
    """The row by hand; and the model, made to use it in that head, leaves what the later stages say."""
    passed = stream(model, SRC, TGT)
    for walked in walks(model)[divided + 2 * masked :: 4]:  # a quarter of the rows, others for each stage
        variant = walked.variants[divided, masked]
        scores = adjusted(model, walked, walked.scores) if divided else walked.scores
        seen = walked.visible if masked else np.ones_like(walked.visible)
        powers = np.where(seen, np.exp(scores), 0.0)
        np.testing.assert_allclose(variant.weights, powers / powers.sum(), atol=1e-9)
        others = [h for h in range(len(variant.heads)) if h != walked.head]
        np.testing.assert_array_equal(variant.heads[others], walked.own.heads[others])

        stack, layer, kind = walked.site
        queries = len(passed.ids(stack))
        change = Replace(walked.site, walked.head, (tuple(variant.weights.tolist()),) * queries)
        left = rest_of_layer(passed, stack, layer, kind, torch.tensor(variant.after).float())
        torch.testing.assert_close(left, layer_output(model, walked.site, change)[walked.query], atol=1e-5, rtol=1e-5)


def layer_output(model: Transformer, site: Site, change: Replace) -> torch.Tensor:
    """Return the output of the layer at `site` in the model's own pass with a head changed: [tokens, d_model]."""
    layers = model.encoder.layers if site.stack == "encoder" else model.decoder.layers
    kept: list[torch.Tensor] = []
    hook = layers[site.layer].register_forward_hook(lambda module, given, output: kept.append(output[0]))
    with torch.no_grad():
        model(torch.tensor([SRC]), torch.tensor([TGT[:-1]]), change)
    hook.remove()
    return kept[0]


def test_where_nothing_is_masked_the_mask_changes_nothing(model: Transformer) -> None:
    for walked in walks(model):
        free = kind_of(walked.site) != "decoder" or walked.query == READ - 1
        assert walked.visible.all() == free
        weights, after = walked.variants[True, False].difference(walked.own)
        assert (max(weights, after) == 0) == free


@pytest.mark.parametrize(
    ("site", "head", "query", "message"),
    [
        (Site("encoder", 9, "self"), 0, 0, "no attention at"),
        (Site("encoder", 0, "self"), 4, 0, "no head 4 here; choose one from 0 to 3"),
        (Site("decoder", 0, "cross"), 1, 5, "no token 5 here; choose one from 0 to 4"),
    ],
)
def test_what_the_model_lacks_is_named(site: Site, head: int, query: int, message: str) -> None:
    passed = stream(build("pre"), SRC, TGT)
    with pytest.raises(ValueError, match=message):
        walk(passed, site, head, query)

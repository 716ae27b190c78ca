"""ALTI+: the vectors sum to the block, the shares are those of a slow computation, and planted attention is found."""

import numpy as np
import pytest
import torch

from headlight.analysis import contributions, head_contributions, layer_contributions
from headlight.analysis.stream import Stream, layer_blocks, stream
from headlight.analysis.why.alti import attention_sums, heads_of
from tests.analysis.why.models import NAMES, SRC, TGT, build
from tests.small import id_rows, small_checkpoint
from transformer.model import Transformer
from transformer.pruned import prune_heads
from transformer.taps import Ablate, Replace, Scale, Site, Uniform, chain

pytestmark = pytest.mark.device


@pytest.fixture(scope="module", params=NAMES)
def passed(request: pytest.FixtureRequest) -> Stream:
    return stream(build(request.param), SRC, TGT)


def test_the_vectors_of_every_block_sum_to_what_leaves_it(passed: Stream) -> None:
    heads = heads_of(passed)
    for site in passed.model.sites():
        for block in attention_sums(passed, heads, site):
            by_head = sum(block.by_head(head) for head in range(len(heads.patterns[site])))
            assert (by_head - block.parts).abs().max() < 1e-5, site
            assert (block.parts.sum(1) + block.around + block.bias - block.whole).abs().max() < 1e-5, site


def test_shares_are_not_negative_and_sum_to_1(passed: Stream) -> None:
    shares = contributions(passed.model, SRC, TGT)
    assert shares.source.shape == (5, 5) and shares.prefix.shape == (5, 5)
    assert shares.source.min() >= 0 and shares.prefix.min() >= 0
    np.testing.assert_allclose(shares.source.sum(1) + shares.prefix.sum(1), 1, atol=1e-9)
    assert (np.triu(shares.prefix, 1) == 0).all()  # nothing later has any share


def numbers(x: torch.Tensor) -> np.ndarray:
    return x.detach().double().cpu().numpy()


def slowly(passed: Stream, site: Site) -> tuple[np.ndarray, np.ndarray]:
    """The shares of one block by loops, from the weights: [N, K], of cross-attention with the way around as the last;
    and those of its heads [H, N, K].

    Shares no code with `attention_sums`: the norm is undone by what it makes of the sum with and without a part.
    """
    residual = passed.residuals(site.stack, site.layer)[site.kind][0]
    module = [m for m in passed.model.modules() if getattr(m, "site", None) == site][0]
    block = layer_blocks(passed, site.stack, site.layer)[site.kind]
    read, before = numbers(block.read), numbers(block.before).copy()
    looked_at = numbers(passed.encoder.last) if site.kind == "cross" else read
    mask = passed.source_mask if "encoder" in (site.stack,) or site.kind == "cross" else passed.target_mask
    hidden = ~np.broadcast_to(mask.cpu().numpy()[0, 0], (len(read), len(looked_at)))

    def mapped(layer: torch.nn.Linear, x: np.ndarray) -> np.ndarray:
        return x @ numbers(layer.weight).T + (0.0 if layer.bias is None else numbers(layer.bias))

    size = module.query.out_features // module.n_heads
    queries, keys, values = mapped(module.query, read), mapped(module.key, looked_at), mapped(module.value, looked_at)
    joined, rows = numbers(module.output.weight), []
    of_heads = np.zeros((module.n_heads, len(read), len(looked_at)))
    for n in range(len(read)):
        given = np.zeros((len(looked_at), joined.shape[0]))
        heads = np.zeros((module.n_heads, *given.shape))
        for head in range(module.n_heads):
            part = slice(head * size, (head + 1) * size)
            scores = keys[:, part] @ queries[n, part] * (size**-0.5 if module.scale is None else module.scale)
            if module.position_bias is not None:
                scores = scores + numbers(module.position_bias(len(read), len(looked_at)))[0, head, n]
            weights = np.exp(np.where(hidden[n], -np.inf, scores - scores.max()))
            weights /= weights.sum()
            for k in range(len(looked_at)):
                heads[head, k] = weights[k] * joined[:, part] @ values[k, part]
                given[k] += heads[head, k]
        parts = [*given, before[n]] if site.kind == "cross" else [g + (k == n) * before[n] for k, g in enumerate(given)]
        bias = 0.0 if module.output.bias is None else numbers(module.output.bias)
        total = np.sum(parts, axis=0) + bias
        whole = total
        if not residual.norm_first:
            gain = numbers(residual.norm.weight)
            spread = np.sqrt(total.var() + residual.norm.eps)
            whole = gain * (total - total.mean()) / spread + numbers(residual.norm.bias)
            parts = [gain * (p - p.mean()) / spread for p in parts]
            heads = gain * (heads - heads.mean(-1, keepdims=True)) / spread
            before[n] = gain * (before[n] - before[n].mean()) / spread
        nearer = [max(0.0, np.abs(whole).sum() - np.abs(whole - p).sum()) for p in parts]
        rows.append(np.array(nearer) / sum(nearer))
        for k in range(len(looked_at)):
            inside = [*heads[:, k], *([before[n]] if k == n and site.kind == "self" else [])]
            towards = [max(0.0, np.abs(parts[k]).sum() - np.abs(parts[k] - p).sum()) for p in inside]
            towards = towards if sum(towards) else [np.abs(p).sum() for p in inside]
            of_heads[:, n, k] = rows[-1][k] * np.array(towards[: module.n_heads]) / max(sum(towards), 1e-300)
    return np.array(rows), of_heads


@pytest.mark.parametrize("name", NAMES)
def test_one_layer_of_each_norm_is_what_a_slow_computation_gives(name: str) -> None:
    model = build(name)
    passed = stream(model, SRC, TGT)
    memory = np.eye(len(SRC))
    for layer in range(model.config.encoder.n_layers):
        memory = slowly(passed, Site("encoder", layer, "self"))[0] @ memory
    prefix, source = np.eye(5), np.zeros((5, 5))
    through = np.zeros((5, model.config.decoder.n_layers, model.config.decoder.n_heads))
    for layer in range(model.config.decoder.n_layers):
        own, _ = slowly(passed, Site("decoder", layer, "self"))
        cross, of_heads = slowly(passed, Site("decoder", layer, "cross"))
        prefix, source = own @ prefix, own @ source
        prefix, source = cross[:, -1:] * prefix, cross[:, -1:] * source + cross[:, :-1] @ memory
        through = np.array([cross[n, -1] * sum(own[n, t] * through[t] for t in range(5)) for n in range(5)])
        through[:, layer] += of_heads.sum(2).T
    shares = contributions(model, SRC, TGT)
    np.testing.assert_allclose(shares.source, source, atol=1e-5)
    np.testing.assert_allclose(shares.prefix, prefix, atol=1e-5)
    heads = head_contributions(model, SRC, TGT)
    np.testing.assert_allclose(heads, through, atol=1e-5)
    np.testing.assert_allclose(heads.sum((1, 2)), shares.source.sum(1), atol=1e-9)


@pytest.mark.parametrize("site", [Site("encoder", 1, "self"), Site("decoder", 0, "cross"), Site("decoder", 2, "self")])
@pytest.mark.parametrize("name", ["post", "no biases", "t5"])
def test_the_heads_of_a_layer_sum_to_its_shares(name: str, site: Site) -> None:
    model = build(name)
    heads, around = layer_contributions(model, SRC, TGT, site)
    shares, of_heads = slowly(stream(model, SRC, TGT), site)
    np.testing.assert_allclose(heads, of_heads, atol=1e-5)
    assert heads.min() >= 0 and around.min() >= 0
    if site.kind == "self":
        np.testing.assert_allclose(heads.sum(0) + np.diag(around), shares, atol=1e-5)
    else:
        np.testing.assert_allclose(heads.sum(0), shares[:, :-1], atol=1e-5)
        np.testing.assert_allclose(around, shares[:, -1], atol=1e-5)


@pytest.mark.parametrize("name", ["pre", "post"])
def test_an_ablated_head_contributes_as_one_that_was_pruned(name: str) -> None:
    """A model without the head is other code than a tap; the shares must be the same."""
    model, off = build(name), [(Site("encoder", 1, "self"), 2), (Site("decoder", 1, "cross"), 0)]
    tap = chain(*(Ablate(*head) for head in off))
    smaller = prune_heads(model, off)
    for found, due in zip(contributions(model, SRC, TGT, tap), contributions(smaller, SRC, TGT), strict=True):
        np.testing.assert_allclose(found, due, atol=1e-5)
    without = head_contributions(model, SRC, TGT, tap)
    assert (without[:, 1, 0] == 0).all() and without[:, 1, 1].max() > 0
    np.testing.assert_allclose(without, head_contributions(smaller, SRC, TGT), atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_interventions_are_taken_apart_as_they_were_computed(name: str) -> None:
    model, cross = build(name), Site("decoder", 0, "cross")
    tap = chain(
        Uniform(cross, 0),
        Replace(cross, 1, ((1.0, 0.0, 0.0, 0.0, 0.0),)),
        Scale(Site("encoder", 0, "self"), 1, 3.0),
    )
    passed = stream(model, SRC, TGT, tap)
    with torch.no_grad():
        logits = model(id_rows(SRC), id_rows(TGT[:-1]), tap)[0]
        torch.testing.assert_close(model.output(passed.decoder.last), logits)
    heads = heads_of(passed)
    for site in model.sites():
        for block in attention_sums(passed, heads, site):
            assert (block.parts.sum(1) + block.around + block.bias - block.whole).abs().max() < 1e-5, site
    only = layer_contributions(model, SRC, TGT, cross, tap).heads[1]
    assert only[:, 1:].max() == 0 and only[:, 0].max() > 0  # the head looks at the first token alone
    with pytest.raises(ValueError, match="for head 7"):
        contributions(model, SRC, TGT, Ablate(cross, 7))


def test_a_model_without_cross_attention_has_nothing_from_the_source() -> None:
    model = build("pre")
    with torch.no_grad():
        for layer in model.decoder.layers:
            for parameter in layer.cross_attention.output.parameters():
                parameter.zero_()
    shares = contributions(model, SRC, TGT)
    assert shares.source.max() == 0
    np.testing.assert_allclose(shares.prefix.sum(1), 1)


def copying(order: list[int]) -> Transformer:
    """A model that reads source token `order[t]` at step t and nothing else: its first numbers are positions."""
    model = small_checkpoint(
        d_model=32, positions="stored", final_norm=False, qkv_bias=False, attention_output_bias=False, max_length=8
    ).model
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for stack in (model.encoder, model.decoder):
            torch.nn.init.normal_(stack.embedding.tokens.weight[:, 16:])
            stack.embedding.positions.table.copy_(100 * torch.eye(8, 32))
            for layer in stack.layers:
                for residual in layer.residuals:
                    residual.norm.weight.fill_(1.0)
        cross = model.decoder.layers[-1].cross_attention
        size = 32 // cross.n_heads
        for step, token in enumerate(order):
            cross.query.weight[token, step] = 10.0  # head 0 asks for the position to be copied
        cross.key.weight[:8, :8] = torch.eye(8)
        cross.value.weight[:size, 16:] = torch.eye(size)
        cross.output.weight[16:, :size] = torch.eye(size) * 1000
    return model


def test_planted_attention_is_found() -> None:
    order = [3, 0, 4, 1, 2]
    shares = contributions(copying(order), SRC, TGT)
    assert shares.source.argmax(1).tolist() == order
    others = shares.source.sum(1) - shares.source[range(5), order]
    assert others.max() < 1e-3
    np.testing.assert_allclose(shares.prefix.sum(1), np.diag(shares.prefix), atol=1e-9)
    heads = head_contributions(copying(order), SRC, TGT)
    assert heads[:, -1, 0].min() > 0.99  # the one that was planted

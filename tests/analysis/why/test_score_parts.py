"""A score in pairs of writers: they sum to the model's own, autograd finds the same, and their removal does as said."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from headlight.analysis.sites import attention_at
from headlight.analysis.stream import stream
from headlight.analysis.why.alti import heads_of
from headlight.analysis.why.residual_parts import BIAS, EMBEDDING, POSITION, Writer, residual_parts
from headlight.analysis.why.score_parts import ScoreParts, score_parts, score_parts_of
from headlight.checkpoints import load_translator
from tests.analysis.why.models import NAMES, SRC, TGT, build
from tests.small import id_rows, small_translator
from transformer.layers import FeedForward
from transformer.model import Transformer
from transformer.taps import Ablate, InputRecorder, Recorder, Site

pytestmark = pytest.mark.device
SITES = [Site("encoder", 1, "self"), Site("decoder", 2, "self"), Site("decoder", 2, "cross")]
CELL = (1, 3, 2)  # head, query, key
# Each kind of model, and each kind of attention, with one of the other.
PAIRED = [*((name, SITES[number % 3]) for number, name in enumerate(NAMES)), ("t5", SITES[0])]
each_model_and_site = pytest.mark.parametrize(("name", "site"), PAIRED, ids=str)


@contextmanager
def hooked(*hooks: tuple[nn.Module, Callable[..., Any]]) -> Iterator[None]:
    handles = [module.register_forward_hook(hook) for module, hook in hooks]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def gated(
    model: Transformer, site: Site, stack: str, token: int, what: str, head: int
) -> tuple[Tensor, dict[Writer, Tensor]]:
    """The query or key of a head at one token, from the model's own pass in which a gate of 1 multiplies all that a
    writer of `stack` gives at that token.

    Gradients pass through no sublayer and through no norm's scale, so a gate has its writer's direct effect alone.
    """
    gates: dict[Writer, Tensor] = {}

    def gate(part: str, layer: int = 0, index: int = 0) -> Tensor:
        one = torch.ones((), dtype=torch.float64, requires_grad=True)
        return gates.setdefault(Writer(stack, part, layer, index), one)

    def at_token(factor: Tensor, vectors: Tensor) -> Tensor:
        here = torch.arange(vectors.size(1), device=vectors.device) == token
        return torch.where(here[None, :, None], factor * vectors, vectors)

    def norm_hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        (x,) = inputs
        assert isinstance(module, nn.LayerNorm | nn.RMSNorm)
        bias = module.bias if isinstance(module, nn.LayerNorm) else torch.zeros_like(module.weight)
        centred = x - x.mean(-1, keepdim=True) if isinstance(module, nn.LayerNorm) else x
        # the norm's own output fixes its scale: output = centred * scale + bias
        scale = module.weight * ((output - bias) / (centred * module.weight)).detach().nan_to_num()
        return centred * scale + at_token(gate(BIAS), bias.expand_as(x))

    def embedding_hook(module: Any, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        tokens = module.tokens(inputs[0]) * module.scale
        positions = module.positions(tokens, 0) - tokens
        x = at_token(gate(EMBEDDING), tokens.detach())
        if model.config.positions != "none":
            x = x + at_token(gate(POSITION), positions.detach())
        normed: Tensor = module.norm(x)
        return normed

    def attention_hook(module: Any, inputs: tuple[Any, ...], output: Tensor) -> Tensor:
        heads, zero = module.heads(*inputs).detach(), torch.zeros_like(module.heads(*inputs).detach())
        bias = module.join(zero)
        total = at_token(gate(BIAS), bias.detach())
        for index in range(module.n_heads):
            alone = zero.clone()
            alone[:, index] = heads[:, index]
            given = (module.join(alone) - bias).detach()
            total = total + at_token(gate(module.site.kind, module.site.layer, index), given)
        return total

    modules = model.encoder if stack == "encoder" else model.decoder

    def feed_forward_hook(layer: int) -> Callable[..., Tensor]:
        return lambda module, inputs, output: at_token(gate("feed-forward", layer), output.detach())

    hooks: list[tuple[nn.Module, Callable[..., Any]]] = [(modules.embedding, embedding_hook)]
    for number, layer in enumerate(modules.layers):
        for module in layer.modules():
            if hasattr(module, "outputs_by_head"):
                hooks.append((module, attention_hook))
            elif isinstance(module, FeedForward):
                hooks.append((module, feed_forward_hook(number)))
    hooks += [(module, norm_hook) for module in modules.modules() if isinstance(module, nn.LayerNorm | nn.RMSNorm)]
    attention, found = attention_at(model, site), []

    def projection_hook(module: nn.Linear, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        bias = 0.0 if module.bias is None else at_token(gate(BIAS), module.bias.expand_as(output))
        vector = inputs[0] @ module.weight.T + bias
        if not found:  # hooks of an attention compute its heads again, without gates behind them
            found.append(vector[0, token].view(attention.n_heads, -1)[head])

    with hooked(*hooks, (getattr(attention, what), projection_hook)):
        model(id_rows(SRC), id_rows(TGT[:-1]))
    return found[0], gates


def by_autograd(model: Transformer, site: Site, head: int, query: int, key: int) -> dict[tuple[Writer, Writer], float]:
    """The pairs as the second derivatives of the score by a gate of the query and a gate of the key."""
    attention = attention_at(model, site)
    q, asking = gated(model, site, site.stack, query, "query", head)
    k, answering = gated(model, site, "encoder" if site.kind == "cross" else site.stack, key, "key", head)
    score = (q * k).sum() * (1 / math.sqrt(attention.d_head) if attention.scale is None else attention.scale)
    slopes = torch.autograd.grad(score, list(asking.values()), create_graph=True, allow_unused=True)
    pairs = {}
    for writer, slope in zip(asking, slopes, strict=True):
        if slope is not None:
            second = torch.autograd.grad(slope, list(answering.values()), retain_graph=True, allow_unused=True)
            pairs |= {(writer, other): float(v) for other, v in zip(answering, second, strict=True) if v is not None}
    return pairs


@each_model_and_site
def test_second_derivatives_of_the_score_are_the_pairs(name: str, site: Site) -> None:
    model = build(name).double()
    parts = score_parts_of(stream(model, SRC, TGT), site, *CELL, relative_to=None)
    slow = by_autograd(model, site, *CELL)
    found = {
        (writer, other): parts.pairs[i, j]
        for i, writer in enumerate(parts.query_writers)
        for j, other in enumerate(parts.key_writers)
    }
    assert set(slow) <= set(found)
    for pair, value in found.items():  # a model without biases has no gate for them
        assert value == pytest.approx(slow.get(pair, 0.0), abs=1e-6), pair  # recorded patterns are in single precision
    assert len(slow) >= 4 and max(map(abs, slow.values())) > 1e-3


@pytest.mark.parametrize(
    ("name", "relative_to"), [*((name, "mean") for name in NAMES), ("pre", None), ("t5", None), ("post", 0), ("t5", 0)]
)
def test_the_pairs_sum_to_the_models_own_score(name: str, relative_to: Any) -> None:
    model, recorder = build(name), Recorder()
    passed = stream(model, SRC, TGT)
    with torch.no_grad():
        model(id_rows(SRC), id_rows(TGT[:-1]), recorder)
    for site in model.sites():
        for head in range(attention_at(model, site).n_heads):
            parts = score_parts_of(passed, site, head, 3, 2, relative_to)
            assert parts.total == pytest.approx(parts.score, abs=1e-5)
            row = recorder[site][0][0, head, 3].double().cpu().numpy()
            np.testing.assert_allclose(parts.weights, row, atol=1e-6)
            logs = np.log(row[row > 0])
            if relative_to is not None:  # differences of scores are those of the logarithms of the weights
                other = logs.mean() if relative_to == "mean" else logs[relative_to]
                assert parts.score == pytest.approx(logs[2] - other, abs=1e-5)
            has_bias = name == "t5" and site.kind == "self"
            assert (parts.position_bias != 0) == has_bias


def test_another_key_and_the_mean_are_differences_of_the_scores_themselves() -> None:
    passed, site = stream(build("post"), SRC, TGT), Site("decoder", 1, "cross")
    own = [score_parts_of(passed, site, 0, 2, key, None).pairs for key in range(len(SRC))]
    rather = score_parts_of(passed, site, 0, 2, 4, 1).pairs
    np.testing.assert_allclose(rather, own[4] - own[1], atol=1e-12)
    np.testing.assert_allclose(score_parts_of(passed, site, 0, 2, 4).pairs, own[4] - np.mean(own, 0), atol=1e-12)
    masked = Site("decoder", 1, "self")  # the mean is over the keys that the query sees
    own = [score_parts_of(passed, masked, 0, 2, key, None).pairs for key in range(3)]
    np.testing.assert_allclose(score_parts_of(passed, masked, 0, 2, 1).pairs, own[1] - np.mean(own, 0), atol=1e-12)


@each_model_and_site
def test_patching_both_writers_removes_the_largest_pair_and_moves_the_weight_as_said(name: str, site: Site) -> None:
    model = build(name).double()
    head, query, key = CELL
    passed, attention = stream(model, SRC, TGT), attention_at(model, site)
    parts = score_parts_of(passed, site, head, query, key, relative_to=0)
    assert abs(parts.largest()[0].value) == np.abs(parts.pairs).max()
    # the biases' would have to be taken from the projections as well
    pair = next(pair for pair in parts.largest(parts.pairs.size) if BIAS not in (pair.query.part, pair.key.part))
    block, heads = (site.layer, site.kind), heads_of(passed)
    stack, until = ("encoder", None) if site.kind == "cross" else (site.stack, block)
    asked = residual_parts(passed, heads, site.stack, slice(None), block)[pair.query]
    looked_at = residual_parts(passed, heads, stack, slice(None), until)[pair.key]

    def row(share_of_query: float, share_of_key: float) -> Tensor:
        """The scores of the row by the model itself, with shares of the two writers taken from what the head reads."""
        inputs, handles = InputRecorder(), []
        for module, part, share in ((attention.query, asked, share_of_query), (attention.key, looked_at, share_of_key)):
            taken = share * part
            handles.append(module.register_forward_pre_hook(lambda module, x, taken=taken: (x[0] - taken,)))
        with torch.no_grad():
            model(id_rows(SRC), id_rows(TGT[:-1]), inputs)
        for handle in handles:
            handle.remove()
        q, k, _, _, scale, _ = inputs[site]
        return (k[0, head] @ q[0, head, query]) * (attention.d_head**-0.5 if scale is None else scale)

    scores = torch.from_numpy(parts.scores).to(asked)
    for share in (1.0, 1e-2):  # all of both writers, and so little of them that only the first order counts
        both = row(0, 0) - row(share, 0) - row(0, share) + row(share, share)  # what they give together
        without = (scores - both).softmax(-1).cpu().numpy()
        odds = np.log(without[key] / without[0]) - np.log(parts.weights[key] / parts.weights[0])
        assert odds == pytest.approx(-(share**2) * pair.value, abs=1e-9)
        if share == 1.0:
            np.testing.assert_allclose(parts.weights_without(pair), without, atol=1e-9)
        chosen = parts.weights[key] / (parts.weights[key] + parts.weights[0])
        change = without[key] / (without[key] + without[0]) - chosen
        assert np.sign(change) == -np.sign(pair.value)
        if share < 1:
            assert change == pytest.approx(-(share**2) * pair.value * chosen * (1 - chosen), rel=1e-2)


def test_parts_are_those_of_the_model_with_heads_switched_off() -> None:
    site, off = Site("decoder", 2, "cross"), Ablate(Site("decoder", 1, "self"), 1)
    passed = stream(build("post"), SRC, TGT, off)
    parts = score_parts_of(passed, site, *CELL)
    i = parts.query_writers.index(Writer("decoder", "self", 1, 1))
    np.testing.assert_allclose(parts.pairs[i], 0, atol=1e-12)
    assert parts.total == pytest.approx(parts.score, abs=1e-5)
    assert abs(parts.score - score_parts_of(stream(build("post"), SRC, TGT), site, *CELL).score) > 1e-4


def test_a_pruned_model_has_parts_for_the_heads_that_are_left() -> None:
    pruned = (("decoder", 2, "cross", 0), ("encoder", 0, "self", 2))
    translator = small_translator(seed=3, pruned_heads=pruned)
    passed = stream(translator.model, SRC, TGT)
    parts = score_parts_of(passed, Site("decoder", 2, "cross"), 1, 3, 2)
    assert parts.total == pytest.approx(parts.score, abs=1e-5)
    gone = parts.key_writers.index(Writer("encoder", "self", 0, 2))
    assert not parts.pairs[:, gone].any()
    with pytest.raises(ValueError, match="Head 0 was pruned"):
        score_parts_of(passed, Site("decoder", 2, "cross"), 0, 3, 2)


@pytest.mark.parametrize("changes", [{"residual": False}, {"norm_form": "none"}, {"norm_form": "unbiased"}], ids=str)
def test_models_that_lack_a_part_of_the_paper_have_parts_too(changes: dict[str, Any]) -> None:
    translator = small_translator(seed=3, **changes)
    passed = stream(translator.model, SRC, TGT)
    for site in translator.model.sites():
        parts = score_parts_of(passed, site, *CELL, relative_to=None)
        assert parts.total == pytest.approx(parts.score, abs=1e-5)
        assert np.abs(parts.pairs).max() > 1e-4


def test_a_sentence_and_its_translation_are_given_as_text() -> None:
    translator = small_translator(seed=1)
    site, text, target = Site("decoder", 1, "cross"), "two dogs are running", "a little girl"
    passed = stream(translator.model, translator.encode(text), translator.encode_target(target))
    parts = score_parts(translator, text, site, 1, 2, 3, target=target)
    assert isinstance(parts, ScoreParts) and (parts.query, parts.key, parts.relative_to) == (2, 3, "mean")
    np.testing.assert_array_equal(parts.pairs, score_parts_of(passed, site, 1, 2, 3).pairs)
    own = score_parts(translator, text, site, 1, 0, 3)
    assert own.scores.shape == (len(translator.encode(text)),)


@pytest.mark.parametrize(
    ("site", "cell", "relative_to", "message"),
    [
        (Site("decoder", 5, "cross"), (0, 0, 0), None, "has no attention at"),
        (Site("decoder", 0, "cross"), (9, 0, 0), None, "There is no head 9 here; choose one from 0 to 1"),
        (Site("decoder", 0, "cross"), (0, 5, 0), None, "There is no query 5 here; choose one from 0 to 4"),
        (Site("decoder", 0, "cross"), (0, 0, -1), None, "There is no key -1 here; choose one from 0 to 4"),
        (Site("decoder", 0, "cross"), (0, 0, 0), 7, "There is no other key 7 here; choose one from 0 to 4"),
        (Site("decoder", 0, "self"), (0, 1, 2), None, "The mask hides the key 2 from query 1"),
        (Site("decoder", 0, "self"), (0, 1, 0), 3, "The mask hides the other key 3 from query 1"),
        (Site("decoder", 0, "self"), (0, 1, 0), "median", "There is no other key 'median' here"),
    ],
)
def test_what_there_is_not_is_refused(site: Site, cell: tuple[int, int, int], relative_to: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_parts_of(stream(build("pre"), SRC, TGT), site, *cell, relative_to)


def mean_pairs(name: str, texts: list[str], site: Site) -> dict[tuple[str, str], float]:
    """How much each pair of kinds of writers gives, relative to the row's mean, to the keys with the largest weights:
    the mean over all heads of an attention, all queries and all texts."""
    translator, found = load_translator(name), []
    for text in texts:
        passed = stream(translator.model, *translator.encode_pair(text))
        for head in range(translator.model.config.decoder.n_heads):
            for query in range(2, len(passed.target)):
                row = score_parts_of(passed, site, head, query, 0).weights
                parts = score_parts_of(passed, site, head, query, int(row.argmax()))
                found.append({
                    (one.part, other.part): parts.pairs[i, j]
                    for i, one in enumerate(parts.query_writers)
                    for j, other in enumerate(parts.key_writers)
                })  # fmt: skip
    return {pair: float(np.mean([pairs[pair] for pairs in found])) for pair in found[0]}


@pytest.mark.slow
def test_the_decoder_that_reverses_goes_by_positions_and_the_one_that_knows_a_grammar_by_words() -> None:
    site = Site("decoder", 0, "self")  # a letter's name says nothing about its place; a French word agrees with words
    reversing = mean_pairs("reverse", ["tomorrow"], site)
    assert max(reversing, key=reversing.__getitem__) == (POSITION, POSITION)
    assert reversing[POSITION, POSITION] > 5 * abs(reversing[EMBEDDING, EMBEDDING])
    sentence = "The animal did not cross the street because it was too wide."
    translating = mean_pairs("english-french", [sentence], site)
    assert max(translating, key=translating.__getitem__) == (EMBEDDING, EMBEDDING)
    assert translating[EMBEDDING, EMBEDDING] > 5 * abs(translating[POSITION, POSITION])

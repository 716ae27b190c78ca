"""Patching: everything changes all, nothing changes nothing, planted causes are found, and hooks exchange the same."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from headlight.analysis import Corruption, patching, restored_by
from headlight.analysis.why.activation_patching import PARTS, Direction, Patching
from headlight.analysis.why.patched import patched
from tests.analysis.why.models import NAMES, SRC, TGT, build, without_head
from tests.small import id_rows, small_checkpoint
from transformer.model import Transformer
from transformer.taps import Ablate, Recorder, Replace, Site

pytestmark = pytest.mark.device

OTHER = [7, 6, 5, 9, 3]  # one token is another
LONGER = [7, 11, 4, 5, 9, 3]
STEP, INSTEAD = 3, 9
FIRST = Site("encoder", 0, "self")


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_that_exchanges_nothing_is_the_models_own(name: str) -> None:
    model = build(name)
    src, tgt = id_rows(SRC), id_rows(TGT[:-1])
    torch.testing.assert_close(model.output(patched(model, src, tgt)), model(src, tgt))


@pytest.mark.parametrize(
    ("name", "direction"), [*((name, "denoise") for name in NAMES), ("post", "noise"), ("t5", "noise")]
)
def test_everything_changes_all_and_nothing_changes_nothing(name: str, direction: Direction) -> None:
    result = patching(build(name), Corruption(SRC, OTHER, TGT, STEP, INSTEAD), PARTS, direction)
    assert result.everything == pytest.approx(1, abs=1e-5)
    assert result.nothing == pytest.approx(0, abs=1e-5)
    counts = {site: 4 if site.stack == "encoder" else 2 for site in build(name).sites()}
    for by_site in (result.restored, result.patterns):
        assert {site: len(shares) for site, shares in by_site.items()} == counts
    assert {site: shares.shape for site, shares in result.head_tokens.items()} == {
        site: (count, 5 if site.stack == "encoder" else 4) for site, count in counts.items()
    }
    assert result.states["encoder"].shape == (3, 5) and result.states["decoder"].shape == (4, 4)
    some = patching(build(name), Corruption(SRC, OTHER, TGT, STEP, INSTEAD), ["head tokens"], direction, [(FIRST, 2)])
    np.testing.assert_allclose(some.head_tokens[FIRST][2], result.head_tokens[FIRST][2], atol=1e-4)
    assert np.isnan(some.head_tokens[FIRST][:2]).all() and some.restored == some.states == {}
    assert result.feed_forward["encoder"].shape == (2, 5) and result.feed_forward["decoder"].shape == (3, 4)


def test_the_token_that_differs_is_the_cause_before_anything_is_read() -> None:
    embedding = patching(build("pre"), Corruption(SRC, OTHER, TGT, STEP, INSTEAD)).states["encoder"][0]
    np.testing.assert_allclose(embedding, [0, 1, 0, 0, 0], atol=1e-5)


def test_a_planted_cause_is_found() -> None:
    model = build("pre")
    with torch.no_grad():  # the source reaches the decoder by one head alone
        for layer in model.decoder.layers:
            layer.cross_attention.output.weight.zero_()
        model.decoder.layers[1].cross_attention.output.weight[:, :8] = torch.randn(16, 8)
    result = patching(model, Corruption(SRC, OTHER, TGT, STEP, INSTEAD))
    assert result.restored[Site("decoder", 1, "cross")][0] == pytest.approx(1, abs=1e-5)
    for layer, head in ((0, 0), (0, 1), (1, 1), (2, 0), (2, 1)):
        assert result.restored[Site("decoder", layer, "cross")][head] == pytest.approx(0, abs=1e-3)


def either() -> Transformer:
    """Two heads of cross-attention that hand over the same vector of the source's second token, if it has one.

    The final norm makes the sum of both the same as one of them. Token 6 has no vector.
    """
    model = small_checkpoint(d_model=32, positions="stored", qkv_bias=False, attention_output_bias=False).model
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for name, parameter in model.named_parameters():
            if "norm" in name and name.endswith("weight"):
                parameter.fill_(1.0)
        for stack in (model.encoder, model.decoder):
            torch.nn.init.normal_(stack.embedding.tokens.weight[:, 16:])
            stack.embedding.positions.table.copy_(100 * torch.eye(*stack.embedding.positions.table.shape))
        model.encoder.embedding.tokens.weight[6] = 0
        cross, size = model.decoder.layers[-1].cross_attention, 16
        for head in range(2):
            part = slice(head * size, (head + 1) * size)
            cross.query.weight[head * size + 1, :8] = 10.0  # every query asks for position 1
            cross.key.weight[head * size + 1, 1] = 10.0
            cross.value.weight[part, 16:] = torch.eye(size) - 1 / size  # the norm has shifted all by the same
            cross.output.weight[16:, part] = torch.eye(size) * 1e6
        torch.nn.init.normal_(model.output.weight)
    return model


def test_of_two_heads_of_which_either_is_enough_both_restore_and_neither_breaks() -> None:
    model, corruption, site = either(), Corruption(SRC, OTHER, TGT, STEP, INSTEAD), Site("decoder", 2, "cross")
    denoised = patching(model, corruption, ["heads"]).restored
    noised = patching(model, corruption, ["heads"], "noise").restored
    np.testing.assert_allclose(denoised[site], [1, 1], atol=1e-3)
    np.testing.assert_allclose(noised[site], [0, 0], atol=1e-3)
    both, one = restored_by(model, corruption, [[(site, 0), (site, 1)], [(site, 0)]], direction="noise")
    assert both == pytest.approx(1, abs=1e-3) and one == pytest.approx(0, abs=1e-3)
    # They look at the same token in both sentences: what differs is what they hand over.
    np.testing.assert_allclose(patching(model, corruption, ["patterns"]).patterns[site], [0, 0], atol=1e-3)


def logits(model: Transformer, source: list[int], tap: Any = None) -> torch.Tensor:
    with torch.no_grad():
        return model(id_rows(source), id_rows(TGT[:-1]), tap)[0, STEP]


def share_of_a_hook(
    model: Transformer, hooked: Callable[..., Any], change: Callable[..., None], direction: Direction
) -> float:
    """What a part changes, by torch's hooks: `hooked` adds a hook to a module, whose tensor `change(x, kept)` fills."""
    given, received = (SRC, OTHER) if direction == "denoise" else (OTHER, SRC)
    recorded: list[torch.Tensor] = []
    hook = hooked(lambda x: recorded.append(x.clone()))
    end = logits(model, given)
    hook.remove()
    begin = logits(model, received)
    hook = hooked(lambda x: change(x, recorded[0]))
    between = logits(model, received)
    hook.remove()
    a, b, c = (float(x[TGT[STEP + 1]] - x[INSTEAD]) for x in (end, begin, between))
    return (c - b) / (a - b)


def module_at(model: Transformer, site: Site) -> Any:
    return next(m for m in model.modules() if getattr(m, "site", None) == site)


def result_of(name: str, parts: list[str], direction: Direction) -> Patching:
    return patching(build(name), Corruption(SRC, OTHER, TGT, STEP, INSTEAD), parts, direction)


@pytest.mark.parametrize(
    ("site", "direction"),
    [
        (Site("encoder", 1, "self"), "denoise"), (Site("decoder", 0, "cross"), "noise"),
        (Site("decoder", 2, "self"), "denoise"),
    ],
)  # fmt: skip
def test_a_head_is_what_a_hook_on_the_output_projection_exchanges(site: Site, direction: Direction) -> None:
    model, head = copy.deepcopy(build("post")), 1
    module = module_at(model, site)
    size = module.output.in_features // module.n_heads
    part = slice(head * size, (head + 1) * size)

    def hooked(see: Callable[[torch.Tensor], None]) -> Any:
        def hook(module: torch.nn.Module, args: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
            heads = args[0].clone()
            see(heads)
            return (heads,)

        return module.output.register_forward_pre_hook(hook)

    def whole(x: torch.Tensor, recorded: torch.Tensor) -> None:
        x[..., part] = recorded[..., part]

    def last(x: torch.Tensor, recorded: torch.Tensor) -> None:
        x[:, 3, part] = recorded[:, 3, part]

    result = result_of("post", ["heads", "head tokens"], direction)
    due = share_of_a_hook(model, hooked, whole, direction)
    assert result.restored[site][head] == pytest.approx(due, abs=1e-4)
    at_a_token = share_of_a_hook(model, hooked, last, direction)
    assert result.head_tokens[site][head, 3] == pytest.approx(at_a_token, abs=1e-4)
    corruption = Corruption(SRC, OTHER, TGT, STEP, INSTEAD)
    together = restored_by(build("post"), corruption, [[(site, head)], []], direction=direction)
    assert together == [pytest.approx(due, abs=1e-4), pytest.approx(0, abs=1e-5)]


@pytest.mark.parametrize(("name", "direction"), [("pre", "noise"), ("post", "denoise"), ("t5", "noise")])
def test_a_feed_forward_output_is_what_a_hook_on_it_exchanges(name: str, direction: Direction) -> None:
    model = copy.deepcopy(build(name))

    def hooked(see: Callable[[torch.Tensor], None]) -> Any:
        def hook(module: torch.nn.Module, args: object, output: torch.Tensor) -> torch.Tensor:
            output = output.clone()
            see(output)
            return output

        return model.encoder.layers[1].feed_forward.register_forward_hook(hook)

    def change(x: torch.Tensor, recorded: torch.Tensor) -> None:
        x[:, 2] = recorded[:, 2]

    due = share_of_a_hook(model, hooked, change, direction)
    assert result_of(name, ["feed-forward"], direction).feed_forward["encoder"][1, 2] == pytest.approx(due, abs=1e-4)


@pytest.mark.parametrize(("name", "direction"), [("pre", "denoise"), ("post", "noise"), ("t5", "denoise")])
def test_a_pattern_is_what_a_tap_replaces(name: str, direction: Direction) -> None:
    model, recorder = build(name), Recorder()
    given, received = (SRC, OTHER) if direction == "denoise" else (OTHER, SRC)
    end = logits(model, given, recorder)
    begin = logits(model, received)
    result = result_of(name, ["patterns"], direction)
    for site, head in ((Site("encoder", 1, "self"), 3), (Site("decoder", 1, "cross"), 0)):
        rows = tuple(map(tuple, recorder[site][0][0, head].tolist()))
        between = logits(model, received, Replace(site, head, rows))
        a, b, c = (float(x[TGT[STEP + 1]] - x[INSTEAD]) for x in (end, begin, between))
        assert result.patterns[site][head] == pytest.approx((c - b) / (a - b), abs=1e-4)


def test_what_cannot_be_exchanged_is_refused() -> None:
    model, pairs = build("pre"), [(0, 0), (1, 1), (3, 4), (4, 5)]
    with pytest.raises(ValueError, match="A pattern is exchanged whole"):
        patching(model, Corruption(SRC, LONGER, TGT, STEP, INSTEAD, pairs), ["patterns"])
    with pytest.raises(ValueError, match="no part to exchange 'biases'; choose among heads, patterns"):
        patching(model, Corruption(SRC, OTHER, TGT, STEP, INSTEAD), ["biases"])
    with pytest.raises(ValueError, match="no direction 'sideways'; choose among denoise, noise"):
        patching(model, Corruption(SRC, OTHER, TGT, STEP, INSTEAD), direction="sideways")  # type: ignore[arg-type]


def test_sentences_of_different_length_need_pairs() -> None:
    model = build("pre")
    with pytest.raises(ValueError, match="have 5 and 6 tokens; say which tokens belong together"):
        patching(model, Corruption(SRC, LONGER, TGT, STEP, INSTEAD))
    result = patching(model, Corruption(SRC, LONGER, TGT, STEP, INSTEAD, [(0, 0), (1, 1), (3, 4), (4, 5)]))
    assert np.isnan(result.states["encoder"][:, 2]).all() and not np.isnan(result.states["encoder"][:, 3]).any()
    with pytest.raises(ValueError, match="name each once"):
        patching(model, Corruption(SRC, LONGER, TGT, STEP, INSTEAD, [(0, 0), (0, 1)]))


def test_two_sentences_that_lead_to_the_same_words_are_refused() -> None:
    with pytest.raises(ValueError, match="Both sentences lead to the same logits"):
        patching(build("pre"), Corruption(SRC, SRC, TGT, STEP, INSTEAD))


def test_without_a_step_it_is_the_first_at_which_the_other_sentence_would_write_something_else() -> None:
    model = build("pre")
    best = model.output(patched(model, id_rows(OTHER), id_rows(TGT[:-1])))[0].argmax(-1).tolist()
    first = next(i for i, token in enumerate(best) if token != TGT[i + 1])
    result = patching(model, Corruption(SRC, OTHER, TGT))
    assert (result.step, result.instead) == (first, best[first])


@pytest.mark.parametrize(("name", "direction"), [("pre", "denoise"), ("t5", "noise")])
def test_under_an_ablation_it_patches_a_model_whose_head_writes_nothing(name: str, direction: Direction) -> None:
    corruption, parts = Corruption(SRC, OTHER, TGT, STEP, INSTEAD), ["heads", "patterns"]
    site = Site("encoder", 1, "self")
    under = patching(build(name), corruption, parts, direction, tap=Ablate(site, 2))
    model = build(name)
    without_head(model, site, 2)
    zeroed = patching(model, corruption, parts, direction)
    assert (under.true, under.corrupted) == pytest.approx((zeroed.true, zeroed.corrupted), abs=1e-5)
    assert under.everything == pytest.approx(1, abs=1e-4) and under.nothing == pytest.approx(0, abs=1e-4)
    assert under.restored[site][2] == pytest.approx(0, abs=1e-4)
    for of_site in zeroed.restored:
        np.testing.assert_allclose(under.restored[of_site], zeroed.restored[of_site], atol=1e-3)
    chosen = restored_by(build(name), corruption, [[(site, 0)]], direction=direction, tap=Ablate(site, 2))
    assert chosen == pytest.approx([zeroed.restored[site][0]], abs=1e-3)
    with pytest.raises(ValueError, match="head"):
        patching(build(name), corruption, tap=Ablate(site, 9))

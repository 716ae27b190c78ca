"""A network without some heads is the network in which they are switched off, everywhere that anything looks at it."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight.analysis import all_heads, check, head_importance, value_weighted_patterns
from headlight.analysis.anatomy import agreement, walk
from headlight.analysis.several_heads import several_heads
from headlight.analysis.stream import stream
from headlight.analysis.why import Corruption, contrast, contributions, patching
from headlight.checkpoints import load
from headlight.importers.marian_export import export_marian
from tests.small import small_checkpoint, small_t5_checkpoint
from transformer import Translator
from transformer.checkpoint import Checkpoint, save
from transformer.config import ConfigError, ModelConfig
from transformer.decoding import beam, finish, greedy
from transformer.inference.prepared import Prepared
from transformer.model import Transformer, count_parameters
from transformer.pruned import prune_heads, restore_shape
from transformer.taps import Ablate, Recorder, Site, chain

TEXT, TARGET = "a little girl is sitting", "two dogs are running"
# The first encoder layer loses all its heads, and so does one cross-attention; others lose one.
GONE = [(Site("encoder", 0, "self"), head) for head in range(4)]
GONE += [(Site("decoder", 1, "cross"), head) for head in range(2)]
GONE += [(Site("encoder", 1, "self"), 2), (Site("decoder", 0, "self"), 0), (Site("decoder", 2, "cross"), 1)]
OFF = chain(*(Ablate(site, head) for site, head in GONE))
EVERY = pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: small_checkpoint(), id="pre"),
        pytest.param(lambda: small_checkpoint(norm="post", final_norm=False, qkv_bias=False), id="post"),
        pytest.param(lambda: small_checkpoint(attention_output_bias=False), id="no-bias"),
        pytest.param(lambda: small_t5_checkpoint(), id="t5"),
    ],
)
Make = Callable[[], Checkpoint]


def small_pruned(checkpoint: Checkpoint) -> Checkpoint:
    with torch.no_grad():  # biases start at 0, where a missing one would not be noticed
        for name, parameter in checkpoint.model.named_parameters():
            if name.endswith("bias"):
                parameter.add_(torch.randn_like(parameter) * 0.2)
    model = prune_heads(checkpoint.model, GONE)
    return Checkpoint(model, checkpoint.source_tokenizer, checkpoint.target_tokenizer, checkpoint.card)


def ids(checkpoint: Checkpoint) -> tuple[list[int], list[int]]:
    translator = Translator(checkpoint)
    return translator.encode(TEXT), translator.encode_target(TARGET)


def tensors(source: list[int], target: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([source]), torch.tensor([target[:-1]])


@EVERY
def test_it_computes_what_the_whole_one_does_with_these_heads_off(make: Make) -> None:
    whole = make()
    without = small_pruned(whole)
    src, tgt = tensors(*ids(whole))
    prepared, single = Prepared(without.model)(src, tgt), without.model(src, tgt)
    with torch.no_grad():  # in double precision, where what remains is no rounding of sums in another order
        expected, own = whole.model.double()(src, tgt, OFF), without.model.double()(src, tgt)
        assert not torch.allclose(expected, whole.model(src, tgt), atol=1e-3), "these heads do nothing here"
    assert (own - expected).abs().max() < 1e-6
    for rounded in (prepared, single):
        assert (rounded - expected).abs().max() < 2e-6 * max(1, expected.abs().max())


@EVERY
def test_it_has_fewer_parameters_and_opens_again(make: Make, tmp_path: Path) -> None:
    whole = make()
    without = small_pruned(whole)
    config = whole.model.config
    width, biases = config.d_head(config.encoder), 3 if config.qkv_bias else 0
    gone = sum(
        config.d_head(config.encoder if site.stack == "encoder" else config.decoder) * (4 * config.d_model + biases)
        for site, _ in GONE
    )
    assert width and count_parameters(without.model) == count_parameters(whole.model) - gone
    save(without, tmp_path / "small")
    opened = load(tmp_path / "small")
    assert opened.model.config == without.model.config
    src, tgt = tensors(*ids(whole))
    with torch.no_grad():
        assert torch.equal(opened.model(src, tgt), without.model(src, tgt))


@EVERY
def test_a_tap_sees_the_heads_by_their_numbers_and_the_gone_ones_as_off(make: Make) -> None:
    whole = make()
    without = small_pruned(whole)
    src, tgt = tensors(*ids(whole))
    for more in (None, Ablate(Site("encoder", 1, "self"), 3), Ablate(Site("encoder", 1, "self"), 2)):
        of_whole, of_pruned, of_prepared = Recorder(), Recorder(), Recorder()
        with torch.no_grad():
            expected = whole.model(src, tgt, chain(OFF, more, of_whole))
            assert torch.allclose(without.model(src, tgt, chain(more, of_pruned)), expected, atol=1e-5)
            Prepared(without.model)(src, tgt, chain(more, of_prepared))
        for site, (pattern,) in of_whole.items():
            assert (of_pruned[site][0] - pattern).abs().max() < 1e-6
            assert (of_prepared[site][0] - pattern).abs().max() < 1e-5


@EVERY
def test_it_decodes_as_the_whole_one_with_these_heads_off(make: Make) -> None:
    whole = make()
    without = small_pruned(whole)
    src = torch.tensor([ids(whole)[0]])
    of_whole, of_pruned = Prepared(whole.model), Prepared(without.model)
    (one,), (other,) = (
        finish(greedy(of_pruned, src, max_length=12)),
        finish(greedy(of_whole, src, max_length=12, tap=OFF)),
    )
    assert one[0].ids == other[0].ids
    recorder = Recorder()  # watches a beam, in which rows of one sentence are looked at together
    (watched,) = finish(beam(of_pruned, src, size=3, max_length=12, tap=recorder))
    (plain,) = finish(beam(of_whole, src, size=3, max_length=12, tap=OFF))
    assert [one.ids for one in watched] == [one.ids for one in plain]
    assert {pattern.size(1) for site, seen in recorder.items() if site.stack == "encoder" for pattern in seen} <= {4}


@EVERY
def test_every_method_takes_it(make: Make) -> None:
    checkpoint = small_pruned(make())
    model, (source, target) = checkpoint.model, ids(checkpoint)
    trace = Translator(checkpoint).trace(TEXT, TARGET)
    assert all(found.holds for found in check(trace, model)), check(trace, model)
    assert set(all_heads(model)).isdisjoint(GONE)
    assert {(effect.site, effect.head) for effect in head_importance(model, source, target)} == set(all_heads(model))
    for site, head in GONE:
        assert not trace.pattern("cross" if site.kind == "cross" else site.stack)[site.layer, head].any()  # type: ignore[arg-type]
        moved = value_weighted_patterns(model, source, target)
        assert not moved["cross" if site.kind == "cross" else site.stack][site.layer, head].any()  # type: ignore[index]
    passed = stream(model, source, target)
    recorder = Recorder()
    with torch.no_grad():
        model(*tensors(source, target), recorder)
    for site, head in all_heads(model):
        row = recorder[site][0][0, head, 1].double().numpy()
        assert max(agreement(walk(passed, site, head, 1), passed, row)) < 1e-5
    with pytest.raises(ValueError, match="Head 2 was pruned here; choose one of 0, 1, 3"):
        walk(passed, Site("encoder", 1, "self"), 2, 0)
    with pytest.raises(ValueError, match="so were all others"):
        walk(passed, Site("encoder", 0, "self"), 2, 0)
    alone = several_heads(model, source, target, Site("encoder", 1, "self"))
    assert set(alone.alone) == {0, 1, 3}
    shares = contributions(model, source, target)
    assert np.allclose(shares.source.sum(-1) + shares.prefix.sum(-1), 1)
    apart = contrast(model, source, target, 1, 5)
    assert math.isclose(apart.total, apart.difference, abs_tol=1e-4)
    assert not apart.parts["cross"][1].any()
    other = [*source[:-2], source[0], source[-1]]
    found = patching(model, Corruption(source, other, target, 1, 5))
    assert np.isnan(found.restored[Site("decoder", 0, "self")][0])
    assert not np.isnan(found.restored[Site("decoder", 0, "self")][1])


def test_without_any_head_there_is_none_to_rank() -> None:
    checkpoint = small_checkpoint()
    model = prune_heads(checkpoint.model, all_heads(checkpoint.model)).eval()
    assert all_heads(model) == [] == head_importance(model, *ids(checkpoint))


def test_the_mean_of_all_heads_is_of_those_that_are_left() -> None:
    checkpoint = small_checkpoint()
    source, target = ids(checkpoint)
    site = Site("encoder", 1, "self")
    one = prune_heads(checkpoint.model, [(site, head) for head in (0, 1, 3)])
    alone = several_heads(one, source, target, site)
    assert alone.mean == pytest.approx(alone.whole, abs=1e-6) and alone.alone[2] == pytest.approx(alone.whole, abs=1e-6)


def test_pruned_twice_is_pruned_at_once_and_nothing_comes_back_but_zeros() -> None:
    whole = small_checkpoint()
    src, tgt = tensors(*ids(whole))
    once = prune_heads(whole.model, GONE)
    twice = prune_heads(prune_heads(whole.model, GONE[:5]), GONE[5:])
    again = restore_shape(once)
    assert [p.shape for p in again.parameters()] == [p.shape for p in whole.model.parameters()]
    with torch.no_grad():
        for model in (twice, again):
            assert torch.allclose(model(src, tgt), once(src, tgt), atol=1e-5)
    assert whole.model.config.pruned_heads == ()


def test_marian_has_no_word_for_it_so_the_heads_are_written_as_zeros(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    checkpoint = small_pruned(small_checkpoint(norm="post", final_norm=False, tied="output"))
    export_marian(checkpoint, tmp_path / "marian")
    theirs = transformers.MarianMTModel.from_pretrained(tmp_path / "marian").eval()
    src, tgt = tensors(*ids(checkpoint))
    with torch.no_grad():
        assert torch.allclose(theirs(src, decoder_input_ids=tgt).logits, checkpoint.model(src, tgt), atol=1e-4)


@pytest.mark.parametrize(
    ("heads", "reason"),
    [
        ("all", "it must be a list of heads"),
        ((("decoder", 0, "cross"),), "each must be a list as"),
        ((("encoder", 0, "cross", 0),), "each must be a list as"),
        ((("encoder", 9, "self", 0),), "The layer of a pruned head is 9; it must be a whole number from 0 to 1"),
        ((("encoder", 0, "self", 4),), "The number of a pruned head is 4; it must be a whole number from 0 to 3"),
        ((("encoder", 0, "self", True),), "The number of a pruned head is True"),
        ((("encoder", 0, "self", 1), ("encoder", 0, "self", 1)), "names a head twice"),
    ],
)
def test_a_head_that_cannot_be_gone_is_refused(heads: Any, reason: str) -> None:
    values = small_checkpoint().model.config.to_dict() | {"pruned_heads": heads}
    with pytest.raises(ConfigError, match=reason):
        ModelConfig.from_dict(values)


def test_it_trains_on_without_them() -> None:
    model: Transformer = prune_heads(small_checkpoint().model, GONE).train()
    again = type(model)(model.config)  # as a training that starts from it builds it
    assert [p.shape for p in again.parameters()] == [p.shape for p in model.parameters()]
    again(torch.tensor([[4, 5, 3]]), torch.tensor([[2, 6]])).sum().backward()
    assert all(p.grad is not None for p in again.parameters())

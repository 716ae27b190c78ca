"""A drafted decode is the one step by step: token for token, score for score, pattern for pattern."""

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from transformer import Translator, checkpoints, prepared
from transformer.cache import Cache
from transformer.decoding import DecodeStep, beam, given, greedy, sample, writers
from transformer.folders import checkpoints as shipped
from transformer.model import Transformer
from transformer.prepared import Prepared, draft_of
from transformer.presets import preset
from transformer.pruned import pruned
from transformer.taps import Ablate, Recorder, Replace, Scale, Site, Uniform, chain
from transformer.yielding import on_yield

Decode = Callable[..., Iterator[DecodeStep]]

WAYS: dict[str, Decode] = {
    "greedy": greedy,
    "beam": lambda *a, **k: beam(*a, 5, **k),
    "wide beam, no penalty": lambda *a, **k: beam(*a, 12, length_penalty=0.0, **k),
    "tempered beam": lambda *a, **k: beam(*a, 3, temperature=1.7, **k),
    "sampling": lambda *a, **k: sample(*a, seed=5, **k),
    "sampling from a nucleus": lambda *a, **k: sample(*a, temperature=1.3, top_k=20, top_p=0.9, seed=1, **k),
    "a prefix": lambda *a, **k: beam(*a, 4, prefix=[9, 11, 12, 13], **k),
}
VOCABULARY = 60


def model(seed: int = 0, **changes: Any) -> Transformer:
    torch.manual_seed(seed)
    network = Transformer(preset("small", VOCABULARY, VOCABULARY, **{"d_model": 32, "tied": "none", **changes})).eval()
    with torch.no_grad():
        network.output.weight.mul_(3)
    return network


def drafting(network: Transformer, guessing: Transformer | None = None) -> Prepared:
    """`network` with a draft made of `guessing`, which is `network` itself where there is none."""
    exact = Prepared(network)
    exact.draft, exact.shares = draft_of(exact, guessing or network), True
    return exact


def source(length: int = 9, seed: int = 3) -> Tensor:
    return torch.randint(4, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(seed))


def same(drafted: Iterator[DecodeStep], plain: Iterator[DecodeStep]) -> list[DecodeStep]:
    """The steps, which are the same but for the rounding of the passes that they were computed in."""
    one, other = list(drafted), list(plain)
    assert len(one) == len(other)
    for x, y in zip(one, other, strict=True):
        for name in ("index", "sentences", "written", "parents", "tokens", "fates"):
            torch.testing.assert_close(getattr(x, name), getattr(y, name), rtol=0, atol=0)
        for name in ("log_probs", "totals", "scores"):
            torch.testing.assert_close(getattr(x, name), getattr(y, name), rtol=1e-4, atol=1e-4)
        assert (x.patterns is None) == (y.patterns is None)
        for site, pattern in (x.patterns or {}).items():
            assert y.patterns is not None
            torch.testing.assert_close(pattern, y.patterns[site], rtol=1e-4, atol=1e-5)
    return one


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tokens each pass that checks a draft reads."""
    counts: list[int] = []
    check = Prepared.write_tree

    def counted(self: Prepared, tokens: Tensor, *rest: Any) -> Tensor:
        counts.append(len(tokens))
        return check(self, tokens, *rest)

    monkeypatch.setattr(Prepared, "write_tree", counted)
    return counts


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_the_steps_are_those_without_a_draft(seed: int, way: str, record: bool, passes: list[int]) -> None:
    network = model(seed)
    steps = same(
        WAYS[way](drafting(network), source(), max_length=24, record=record),
        WAYS[way](Prepared(network), source(), max_length=24, record=record),
    )
    assert 0 < len(passes) < len(steps)


@pytest.mark.parametrize("way", WAYS)
def test_a_draft_that_guesses_wrong_only_costs_time(way: str, passes: list[int]) -> None:
    """It guesses what is least likely, so nearly every pass brings one step."""
    network, contrary = model(), model()
    with torch.no_grad():
        contrary.output.weight.neg_()
    decode = WAYS[way]
    steps = same(
        decode(drafting(network, contrary), source(), max_length=24, record=True),
        decode(Prepared(network), source(), max_length=24, record=True),
    )
    assert len(passes) > 0.6 * len(steps)
    assert sum(passes) <= len(passes) * (writers.TOKENS + 12)


@pytest.mark.parametrize(
    "changes",
    [
        {"positions": "learned"},
        {"positions": "none"},
        {"norm": "post", "final_norm": False},
        {"tied": "all"},
        {"activation": "gelu"},
        {"qkv_bias": False, "attention_output_bias": False},
        {"logits_bias": True, "pad_id": 1, "sos_id": 1, "eos_id": 0},
    ],
)
def test_every_kind_of_network(changes: dict[str, Any]) -> None:
    network = model(2, **changes)
    for decode in (greedy, WAYS["beam"]):
        same(
            decode(drafting(network), source(40), max_length=20, record=True),  # of 40 tokens: not folded
            decode(Prepared(network), source(40), max_length=20, record=True),
        )


@pytest.mark.parametrize("kind", ["self", "cross"])
def test_an_attention_without_heads(kind: str) -> None:
    network = model()
    lacking = pruned(network, [(Site("decoder", 1, kind), head) for head in range(network.config.decoder.n_heads)])
    for decode in (greedy, WAYS["beam"]):
        same(
            decode(drafting(lacking), source(), max_length=12, record=True),
            decode(Prepared(lacking), source(), max_length=12, record=True),
        )


def test_ties_fall_as_they_do_step_by_step() -> None:
    """Two tokens whose logits are the same to the last bit, in the network and in its draft."""
    network = model(4)
    with torch.no_grad():
        for twin in range(4, VOCABULARY, 2):
            network.output.weight[twin + 1] = network.output.weight[twin]
            network.decoder.embedding.tokens.weight[twin + 1] = network.decoder.embedding.tokens.weight[twin]
    first = list(greedy(Prepared(network), source(), max_length=24))
    assert any(step.log_probs[0].topk(2).values.diff() == 0 for step in first)
    same(greedy(drafting(network), source(), max_length=24), iter(first))


@pytest.mark.parametrize("eos", [4.0, 6.0, 9.0])
@pytest.mark.parametrize("way", ["greedy", "beam", "sampling"])
def test_sentences_that_end_early(way: str, eos: float) -> None:
    network = model(5, logits_bias=True)
    with torch.no_grad():
        network.output.bias[network.config.eos_id] += eos
    steps = same(
        WAYS[way](drafting(network), source(), max_length=40), WAYS[way](Prepared(network), source(), max_length=40)
    )
    assert len(steps) < 40


def test_up_to_the_longest_target_that_the_model_reads() -> None:
    network = model(6, max_length=33)
    steps = same(
        WAYS["beam"](drafting(network), source(), max_length=100),
        WAYS["beam"](Prepared(network), source(), max_length=100),
    )
    assert len(steps) == 33


def test_a_target_that_is_given() -> None:
    network, target = model(), [7, 8, 9, 10, 11, 3]
    same(
        given(drafting(network), source(), target, record=True), given(Prepared(network), source(), target, record=True)
    )


def test_an_observer_sees_what_it_sees_step_by_step() -> None:
    network = model()
    seen, expected = Recorder(), Recorder()
    list(beam(drafting(network), source(), 3, max_length=12, tap=seen, record=True))
    list(beam(Prepared(network), source(), 3, max_length=12, tap=expected, record=True))
    assert seen.keys() == expected.keys()
    for site, patterns in expected.items():
        for one, other in zip(seen[site], patterns, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("stack, kind", [("encoder", "self"), ("decoder", "self"), ("decoder", "cross")])
@pytest.mark.parametrize("change", [Ablate, Uniform, lambda site, head: Scale(site, head, 2.5)])
def test_heads_that_are_changed_row_by_row(change: Any, stack: str, kind: str, passes: list[int]) -> None:
    network, site = model(), Site(stack, 1, kind)
    seen, expected = Recorder(), Recorder()
    for decode in (greedy, WAYS["beam"]):
        passes.clear()
        options: dict[str, Any] = {"max_length": 16, "record": True}
        steps = same(
            decode(drafting(network), source(), tap=chain(change(site, 0), change(site, 2), seen), **options),
            decode(Prepared(network), source(), tap=chain(change(site, 0), change(site, 2), expected), **options),
        )
        assert 0 < len(passes) < len(steps)
    for one, other in zip(seen[site], expected[site], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_nothing_is_drafted_for_other_taps_or_for_several_sentences(passes: list[int]) -> None:
    network, site = model(), Site("decoder", 0, "cross")
    ready = drafting(network)
    for options in (
        {"tap": Replace(site, 0, ((1.0, *[0.0] * 8),))},
        {"tap": chain(Recorder(), Uniform(site, 1))},
        {"tap_at": lambda step: None},
    ):
        same(
            greedy(ready, source(), max_length=8, **options),
            greedy(Prepared(network), source(), max_length=8, **options),
        )
    list(greedy(ready, source().repeat(2, 1), max_length=8))
    assert not passes


def test_what_yielding_raises_ends_a_draft_too() -> None:
    calls = 0

    def end() -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError), on_yield(end):
        next(greedy(drafting(model()), source(), max_length=24))


def test_a_search_asks_the_same_network_as_often_as_it_likes() -> None:
    """Two decodes that take turns, each with its own cache."""
    ready = drafting(model())
    alone = [step.tokens for step in greedy(ready, source(), max_length=12)]
    one, other = greedy(ready, source(), max_length=12), beam(ready, source(5), 3, max_length=12)
    turns = [step.tokens for step, _ in zip(one, other, strict=False)]
    assert [t.tolist() for t in turns] == [t.tolist() for t in alone[: len(turns)]]


def test_a_beam_of_a_network_that_has_its_own_weights_is_not_drafted(passes: list[int]) -> None:
    ready = drafting(model())
    ready.shares = False
    list(beam(ready, source(), 5, max_length=8))
    assert not passes
    list(greedy(ready, source(), max_length=8))
    assert passes


def test_small_networks_and_those_that_cannot_are_not_drafted() -> None:
    assert Prepared(model(), drafts=True).draft is None
    assert Prepared(model().bfloat16(), drafts=True).draft is None


def test_networks_that_the_comparison_could_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer positions than it has tokens, or whose [SOS] is no source token."""
    monkeypatch.setattr(prepared, "FEWEST", 0)
    assert Prepared(model(max_length=4), drafts=True).draft is None
    network = Transformer(preset("small", 40, VOCABULARY, d_model=32, tied="none", sos_id=50)).eval()
    assert list(greedy(Prepared(network, drafts=True), torch.tensor([[5, 6]]), max_length=2))


@pytest.mark.parametrize("way", ["greedy", "beam", "sampling"])
def test_what_is_not_a_number_is_refused_as_step_by_step(way: str) -> None:
    network = model()
    tap = Scale(Site("decoder", 0, "self"), 0, float("inf"))
    with pytest.raises(ValueError, match="step 1 is not a number"):
        next(WAYS[way](drafting(network), source(), tap=tap))
    with torch.no_grad():
        network.encoder.embedding.tokens.weight.fill_(torch.nan)
    with pytest.raises(ValueError, match="step 1 is not a number"):
        next(WAYS[way](drafting(network), source()))


def test_a_drafted_token_that_is_not_a_number_spoils_no_other() -> None:
    network = model()
    written = [int(step.tokens) for step in greedy(Prepared(network), source(), max_length=24)]
    latest = max(written[:-1], key=written.index)
    with torch.no_grad():
        network.decoder.embedding.tokens.weight[latest] = torch.nan
    decode, before = greedy(drafting(network), source(), max_length=24), written[: written.index(latest) + 1]
    assert [int(next(decode).tokens) for _ in before] == before
    with pytest.raises(ValueError, match=f"step {len(before) + 1} is not a number"):
        next(decode)


def test_what_a_decode_computed_is_freed_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, not by a garbage collection some time later."""
    caches: list[weakref.ref[Cache]] = []
    read = Prepared.read

    def seen(self: Prepared, *rest: Any) -> Cache:
        cache = read(self, *rest)
        caches.append(weakref.ref(cache))
        return cache

    monkeypatch.setattr(Prepared, "read", seen)
    ready = drafting(model())
    whole, begun = greedy(ready, source(), max_length=12), greedy(ready, source(), max_length=12)
    gc.disable()
    try:
        list(whole)
        next(begun)
        del whole, begun
        assert [cache() for cache in caches] == [None, None]
    finally:
        gc.enable()


def test_a_large_network_that_is_to_shares_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    network = model()
    monkeypatch.setattr(prepared, "FEWEST", 0)
    monkeypatch.setattr(prepared, "LARGE", 0)
    shared, copied = Prepared(network, drafts=True, shares=True), Prepared(network)
    src, tgt = source(), torch.tensor([[2, 7, 9, 11]])
    torch.testing.assert_close(shared(src, tgt), copied(src, tgt), rtol=1e-4, atol=1e-4)
    same(beam(shared, src, 3, max_length=9, record=True), beam(copied, src, 3, max_length=9, record=True))
    with torch.no_grad():
        network.output.bias.add_(1.0)
    assert torch.allclose(shared(src, tgt), copied(src, tgt) + 1, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("beam_size", [1, 5])
def test_a_trained_model_writes_the_same(beam_size: int, passes: list[int]) -> None:
    checkpoint = checkpoints.load(shipped() / "en-fr")
    plain, fast = Translator(checkpoint), Translator(checkpoint)
    fast.__dict__["prepared"] = drafting(checkpoint.model)
    sentences = [
        "The animal didn't cross the street because it was too tired.",
        "My name is Anna and I live in Paris.",
        "A man in a blue shirt is standing on a ladder cleaning a window.",
        "Hello!",
    ]
    for text in sentences:
        one, other = fast.n_best(text, beam_size), plain.n_best(text, beam_size)
        assert [x.ids for x in one] == [x.ids for x in other]
        assert [x.score for x in one] == pytest.approx([x.score for x in other], abs=1e-4)
    assert len(passes) <= 4 * len(sentences)  # where the draft were no good, there would be one for each token

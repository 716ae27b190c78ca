"""A prepared network computes the same as the plain modules of its model, for every architecture."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.decoding_by_hand import greedy_by_hand
from tests.small import small_t5_checkpoint
from transformer.config import ModelConfig, StackConfig
from transformer.decoding import beam, finish, greedy, recorded
from transformer.inference.linear import WeightSharingLinear
from transformer.inference.prepared import Prepared
from transformer.model import Transformer
from transformer.presets import PRESETS, preset
from transformer.taps import Ablate, Recorder, Scale, Site, Tap, Uniform, chain

PAD, SOS, EOS = 0, 2, 3
BERT = {"norm": "post", "positions": "learned", "embedding_norm": True, "activation": "gelu", "scale_embeddings": False}
BERT |= {"output_transform": True}
VARIANTS: list[dict[str, Any]] = [
    {"norm": "pre", "final_norm": True, "tied": "output"},
    {"norm": "post", "tied": "all"},
    {"norm": "pre", "activation": "silu", "positions": "none", "logits_bias": False},
    {"qkv_bias": False, "attention_output_bias": False, "positions": "stored", "final_norm": True},
    BERT,
]


def small(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(ModelConfig(23, 23, 24, StackConfig(1, 4, 20), StackConfig(2, 6, 52), max_length=24, **changes))
    return shaken(model.eval())


def shaken(model: Transformer) -> Transformer:
    with torch.no_grad():  # biases and norms start at 0 and 1, where a missing one would not be noticed
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
        model.output.weight.mul_(2)
    return model


def t5(**changes: Any) -> Transformer:
    return small_t5_checkpoint(**changes).model


MODELS = [pytest.param(lambda c=c: small(**c), id="-".join(map(str, c.values()))) for c in VARIANTS] + [
    pytest.param(lambda: t5(gated=True), id="t5-gated"),
    pytest.param(lambda: t5(shared_bias=False), id="t5-a-bias-for-each-layer"),
    pytest.param(lambda: t5(gated=False, activation="relu", tied="none"), id="t5"),
]
EVERY_MODEL = pytest.mark.parametrize("make", MODELS)


def sources(model: Transformer, rows: int = 3) -> Tensor:
    config = model.config
    ids = torch.randint(4, config.source_vocab_size, (rows, 7), generator=torch.Generator().manual_seed(1))
    for row in range(rows):
        ids[row, 6 - row] = config.eos_id
        ids[row, 7 - row :] = config.pad_id
    return ids


def targets(model: Transformer, rows: int = 3, length: int = 11) -> Tensor:
    ids = torch.randint(4, model.config.target_vocab_size, (rows, length), generator=torch.Generator().manual_seed(2))
    ids[:, 0] = model.config.sos_id
    return ids


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def same_patterns(one: Recorder, other: Recorder) -> None:
    assert one.keys() == other.keys()
    for site, (pattern,) in one.items():
        close(pattern, other[site][0])


@EVERY_MODEL
@torch.no_grad()
def test_a_whole_pass_is_that_of_the_plain_modules(make: Callable[[], Transformer]) -> None:
    model = make()
    src, tgt = sources(model), targets(model)
    tgt[1, 8:] = model.config.pad_id
    plain, fast = Recorder(), Recorder()
    close(Prepared(model)(src, tgt, fast), model(src, tgt, plain))
    close(Prepared(model)(src, tgt), model(src, tgt))
    same_patterns(fast, plain)


@pytest.mark.parametrize("name", PRESETS)
@torch.no_grad()
def test_every_preset(name: str) -> None:
    stack = PRESETS[name]["encoder"]
    small_stack = StackConfig(1, stack.n_heads, 64)
    torch.manual_seed(0)
    sizes = {"d_model": 32, "encoder": small_stack, "decoder": small_stack}
    model = shaken(Transformer(preset(name, 23, 23, **sizes)).eval())
    src, tgt = sources(model), targets(model)
    close(Prepared(model)(src, tgt), model(src, tgt))


@EVERY_MODEL
@torch.no_grad()
def test_token_by_token_it_is_the_whole_pass(make: Callable[[], Transformer]) -> None:
    """The sentence is longer than the cache's first allocation, and the patterns of each step are compared too."""
    model = make()
    src, tgt = sources(model), targets(model, length=19)
    whole = Recorder()
    expected = model(src, tgt, whole)
    network, steps = Prepared(model), []
    cache, seen = network.read(src), Recorder()
    for place, token in enumerate(tgt.split(1, 1)):
        steps.append(network.write(token, cache, seen))
        for site, rows in seen.items():
            close(rows[place][:, :, 0], whole[site][0][:, :, place, : rows[place].size(-1)])
    close(torch.cat(steps, 1), expected)
    assert cache.length == 19


@pytest.mark.parametrize(
    ("parents", "tap"),
    [
        *((parents, lambda: None) for parents in ([0, 0, 1, 1, 2, 2], [2, 2, 2], [1, 2], [0, 0, 2])),
        ([0, 0, 1, 1, 2, 2], Recorder),
        ([0, 0, 0, 1, 2, 2], lambda: chain(Recorder(), Recorder())),
    ],
)
@EVERY_MODEL
@torch.no_grad()
def test_rows_that_share_a_sentence_read_it_as_their_own(
    make: Callable[[], Transformer], parents: list[int], tap: Callable[[], Tap | None]
) -> None:
    """Selected once from single rows, and then, reversed within each sentence, from those that share."""
    model = make()
    src, tgt = sources(model), targets(model, length=5)
    network = Prepared(model)
    cache = network.read(src)
    network.write(tgt, cache)
    rows = torch.tensor(parents)
    cache.select(rows)
    grown = torch.cat([tgt[rows], torch.arange(4, 4 + len(rows))[:, None]], 1)
    close(network.write(grown[:, 5:], cache, tap()), model(src[rows], grown)[:, -1:])
    kept = torch.arange(len(rows))[1:]
    cache.select(kept)
    last = torch.cat([grown[kept], torch.arange(5, 5 + len(kept))[:, None]], 1)
    recorder = Recorder()
    plain = Recorder()
    close(network.write(last[:, 6:], cache, recorder), model(src[rows][kept], last, plain)[:, -1:])
    for site, (pattern,) in recorder.items():
        close(pattern, plain[site][0][:, :, -1:])


@pytest.mark.parametrize("parents", [[0], [0, 0, 0]])
@EVERY_MODEL
@torch.no_grad()
def test_a_short_sentence_folded_into_its_maps_is_looked_at_as_by_the_plain_modules(
    make: Callable[[], Transformer], parents: list[int]
) -> None:
    """Each token gets another tap; one of the taps changes the pattern."""
    model = make()
    src = sources(model, 1)[:, 4:]
    tgt = targets(model, length=6)[: len(parents)]
    tgt[:, 0] = model.config.sos_id
    network = Prepared(model)
    cache = network.read(src)
    network.write(tgt[:1, :1], cache)
    cache.select(torch.tensor(parents))
    last = model.config.decoder.n_layers - 1  # a change there leaves what later tokens see as it is
    ablated, seen = Ablate(Site("decoder", last, "cross"), 0), Recorder()
    taps = [None, Recorder(), ablated, chain(Recorder(), seen), Recorder()]
    for length, tap in enumerate(taps, 2):
        whole = Recorder()
        plain_tap = chain(ablated, whole) if tap is ablated else whole
        expected = model(src.expand(len(parents), -1), tgt[:, :length], plain_tap)
        close(network.write(tgt[:, length - 1 : length], cache, tap), expected[:, -1:])
        for site, (pattern,) in (tap if isinstance(tap, Recorder) else {}).items():
            close(pattern, whole[site][0][:, :, -1:])
    assert all(len(patterns) == 1 for patterns in seen.values()) and len(seen) == 2 * (last + 1)
    assert sorted(cache.absorbed) == list(range(model.config.decoder.n_layers))


def test_a_long_sentence_is_not_folded() -> None:
    model = small()
    d_head = model.config.d_model // model.config.decoder.n_heads
    for length in (d_head, d_head + 1):
        cache = Prepared(model).read(torch.full((1, length), 5))
        assert cache.absorbs == (length == d_head)
    assert not Prepared(model).read(torch.full((2, 3), 5)).absorbs
    assert not Prepared(model).read(torch.tensor([[5, model.config.eos_id, model.config.pad_id]])).absorbs


@pytest.mark.parametrize("tap", [None, Ablate(Site("decoder", 1, "cross"), 1), Uniform(Site("decoder", 0, "self"), 0)])
@EVERY_MODEL
@torch.no_grad()
def test_greedy_writes_the_tokens_of_the_plain_modules(make: Callable[[], Transformer], tap: Tap | None) -> None:
    model = make()
    src = sources(model)
    decoded = finish(greedy(model, src, max_length=9, tap=tap))
    for row, (best,) in enumerate(decoded):
        alone = src[row : row + 1, : 7 - row]
        assert list(best.ids) == greedy_by_hand(model, alone, 9, tap=tap)


@EVERY_MODEL
@torch.no_grad()
def test_a_beam_scores_and_records_what_the_plain_modules_say(make: Callable[[], Transformer]) -> None:
    model = make()
    src = sources(model)
    steps = list(beam(model, src, 4, max_length=12, record=True))
    quiet = finish(beam(model, src, 4, max_length=12))
    for row, hypotheses in enumerate(finish(steps)):
        assert [h.ids for h in hypotheses] == [h.ids for h in quiet[row]]
        best = hypotheses[0]
        whole = Recorder()
        read = torch.tensor([[model.config.sos_id, *best.ids[:-1]]])
        log_probs = model(src[row : row + 1], read, whole)[0].log_softmax(-1)
        assert float(log_probs.gather(1, torch.tensor(best.ids)[:, None]).sum()) == pytest.approx(
            best.log_prob, abs=1e-4
        )
        for site, pattern in recorded(steps, row, best.ids).items():
            close(pattern, whole[site][0][0])


def test_weights_of_half_precision_are_rounded_and_nothing_else() -> None:
    """The results equal float32 with rounded matrices, except where a processor multiplies in bfloat16."""
    model, rounded = (small(norm="pre", final_norm=True, positions="learned") for _ in range(2))
    src, tgt = sources(model), targets(model)
    for half, single in zip(model.parameters(), rounded.parameters(), strict=True):
        if half.dim() > 1:
            half.data = half.data.bfloat16()
            single.data = half.data.float()
    with torch.no_grad():
        exact = rounded(src, tgt)
        close(model(src, tgt), exact)
        for shares in (None, True, False):
            prepared = Prepared(model, shares)
            computed = prepared(src, tgt)
            assert computed.dtype == torch.float32
            if isinstance(prepared.output, WeightSharingLinear) and prepared.output.converts:
                close(computed, exact)
            else:
                assert (computed - exact).abs().mean() < 0.03 * exact.abs().mean()


def test_scaled_heads_act_on_shared_sentences_as_on_their_own() -> None:
    model = small(norm="pre")
    tap = Scale(Site("decoder", 0, "cross"), 2, 3.0)
    src = sources(model)
    together = finish(beam(model, src, 3, max_length=8, tap=tap))
    for row in range(len(src)):
        alone = finish(beam(model, src[row : row + 1, : 7 - row], 3, max_length=8, tap=tap))[0]
        assert [h.ids for h in together[row]] == [h.ids for h in alone]

"""The whole network: equal to torch's own, the same padded or tapped, and blind to what comes later.

Shapes: B sentences, H heads, S source tokens, T target tokens, V target vocabulary.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.attention import MultiHeadAttention
from transformer.config import ModelConfig, StackConfig
from transformer.inference.prepared import Prepared
from transformer.layers import DecoderLayer, EncoderLayer, FeedForward
from transformer.model import Transformer, count_parameters
from transformer.taps import Recorder, Site

PAD, SOS, EOS = 0, 2, 3
UNEVEN = ModelConfig(31, 43, 24, StackConfig(1, 4, 20), StackConfig(3, 6, 52), max_length=40)


def no_tap() -> None:
    """Return None, where `Recorder` would return a new recorder for each pass."""


def build(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(replace(UNEVEN, **changes)).eval()
    with torch.no_grad():  # biases and norms start at 0 and 1, where a missing one would not be noticed
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return model


def pairs(seed: int, rows: int = 3, longest: int = 9) -> tuple[Tensor, Tensor]:
    """Padded sentences of different lengths, source [B, S] and target [B, T], the longest first."""
    random = torch.Generator().manual_seed(seed)

    def sentences(vocab_size: int) -> Tensor:
        ids = torch.randint(4, vocab_size, (rows, longest), generator=random)
        lengths = torch.randint(1, longest, (rows,), generator=random)
        lengths[0] = longest
        for row, length in enumerate(lengths.tolist()):
            ids[row, length:] = PAD
        return ids

    return sentences(UNEVEN.source_vocab_size), sentences(UNEVEN.target_vocab_size)


VARIANTS = [
    {"norm": norm, "activation": activation, "positions": positions}
    for norm in ("pre", "post")
    for activation in ("relu", "gelu", "silu")
    for positions in ("sinusoidal", "learned", "none")
] + [
    {"norm": "pre", "final_norm": True},
    {"norm": "post", "final_norm": True},
    {"qkv_bias": False},
    {"attention_output_bias": False},
    {"logits_bias": False},
    {"tied": "output"},
    {"tied": "all", "source_vocab_size": 43},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@torch.no_grad()
def test_every_variant_runs_tapped_as_fused(variant: dict[str, Any]) -> None:
    model = build(**variant)
    for seed in range(3):
        src, tgt = pairs(seed, longest=5 + 7 * seed)
        logits = model(src, tgt)
        assert logits.shape == (*tgt.shape, UNEVEN.target_vocab_size)
        assert logits.isfinite().all()
        torch.testing.assert_close(model(src, tgt, Recorder()), logits, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_every_row_of_every_site_sums_to_one_and_hidden_cells_are_zero() -> None:
    model = build()
    src, tgt = pairs(1)
    recorder = Recorder()
    model(src, tgt, recorder)
    assert list(recorder) == [Site("encoder", 0, "self")] + [
        Site("decoder", layer, kind) for layer in range(3) for kind in ("self", "cross")
    ]
    for site, (pattern,) in recorder.items():
        keys = src if site.stack == "encoder" or site.kind == "cross" else tgt
        queries = src if site.stack == "encoder" else tgt
        heads = UNEVEN.encoder.n_heads if site.stack == "encoder" else UNEVEN.decoder.n_heads
        assert pattern.shape == (3, heads, queries.size(1), keys.size(1))
        torch.testing.assert_close(pattern.sum(-1), torch.ones(pattern.shape[:-1]))
        hidden = (keys == PAD)[:, None, None].expand_as(pattern)
        if site == Site("decoder", site.layer, "self"):
            hidden = hidden | torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1)
        assert hidden.any()
        assert (pattern[hidden] == 0).all()
        assert (pattern[~hidden] > 0).all()


@pytest.mark.parametrize("tap", [no_tap, Recorder])
@torch.no_grad()
def test_a_pair_in_a_padded_batch_is_the_pair_alone(tap: Callable[[], Recorder | None]) -> None:
    model = build()
    src, tgt = pairs(3)
    together = model(src, tgt, tap())
    for row in range(len(src)):
        s, t = int((src[row] != PAD).sum()), int((tgt[row] != PAD).sum())
        alone = model(src[row : row + 1, :s], tgt[row : row + 1, :t], tap())
        torch.testing.assert_close(together[row, :t], alone[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("tap", [no_tap, Recorder])
@torch.no_grad()
def test_later_target_tokens_never_change_earlier_logits(tap: Callable[[], Recorder | None]) -> None:
    model = build()
    src, _ = pairs(4)
    tgt = torch.randint(4, 43, (3, 9), generator=torch.Generator().manual_seed(0))
    logits = model(src, tgt, tap())
    for place in range(1, 9):
        changed = tgt.clone()
        changed[:, place:] = (changed[:, place:] - 4 + 7) % 39 + 4
        again = model(src, changed, tap())
        torch.testing.assert_close(again[:, :place], logits[:, :place], atol=1e-6, rtol=0)
        assert (again[:, place] - logits[:, place]).abs().max() > 1e-3


@pytest.mark.parametrize("tap", [no_tap, Recorder])
@torch.no_grad()
def test_a_sentence_of_padding_alone_gives_numbers(tap: Callable[[], Recorder | None]) -> None:
    """A row of masked keys would be 0 in the fused kernel and not a number in the softmax."""
    model = build()
    src, tgt = pairs(6)
    src[1] = PAD
    tgt[2] = PAD
    logits = model(src, tgt, tap())
    assert logits.isfinite().all()
    torch.testing.assert_close(logits, model(src, tgt), atol=1e-5, rtol=1e-5)


def copied(ours: Any, theirs: Any, attentions: dict[str, str]) -> None:
    """Our weights, by name, into torch's layer."""
    with torch.no_grad():
        for mine, its in attentions.items():
            a, b = getattr(ours, mine), getattr(theirs, its)
            b.in_proj_weight.copy_(torch.cat([a.query.weight, a.key.weight, a.value.weight]))
            b.in_proj_bias.copy_(torch.cat([a.query.bias, a.key.bias, a.value.bias]))
            b.out_proj.load_state_dict(a.output.state_dict())
        theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
        for number, residual in enumerate(ours.residuals, 1):
            getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "silu"])
@torch.no_grad()
def test_our_layers_are_those_of_torch(norm: str, activation: str) -> None:
    model = build(norm=norm, activation=activation, norm_eps=1e-3)
    settings: dict[str, Any] = {
        "dropout": 0.1, "activation": getattr(F, activation), "layer_norm_eps": 1e-3, "batch_first": True,
        "norm_first": norm == "pre",
    }  # fmt: skip
    encoder, decoder = model.encoder.layers[0], model.decoder.layers[2]
    assert isinstance(encoder, EncoderLayer)
    assert isinstance(decoder, DecoderLayer)
    its_encoder = nn.TransformerEncoderLayer(24, 4, 20, **settings).eval()
    its_decoder = nn.TransformerDecoderLayer(24, 6, 52, **settings).eval()
    copied(encoder, its_encoder, {"attention": "self_attn"})
    copied(decoder, its_decoder, {"self_attention": "self_attn", "cross_attention": "multihead_attn"})

    src, tgt = pairs(7)
    x, y = torch.randn(*src.shape, 24), torch.randn(*tgt.shape, 24)
    visible = (src != PAD)[:, None, None]
    later = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1)
    for tap in (None, Recorder()):
        torch.testing.assert_close(
            encoder(x, visible, tap)[src != PAD],
            its_encoder(x, src_key_padding_mask=src == PAD)[src != PAD],
            atol=1e-5,
            rtol=1e-5,
        )
        torch.testing.assert_close(
            decoder(y, x, ~later, visible, tap),
            its_decoder(y, x, tgt_mask=later, memory_key_padding_mask=src == PAD),
            atol=1e-5,
            rtol=1e-5,
        )


def test_embeddings_are_scaled_by_the_root_of_the_width() -> None:
    model = build(positions="none")
    ids = torch.tensor([[5, 6, 5]])
    torch.testing.assert_close(model.encoder.embedding(ids), model.encoder.embedding.tokens(ids) * 24**0.5)


@pytest.mark.parametrize("tied", ["none", "output", "all"])
def test_tied_weights_are_one_tensor(tied: str) -> None:
    model = build(tied=tied, source_vocab_size=43)
    source, target = model.encoder.embedding.tokens.weight, model.decoder.embedding.tokens.weight
    assert (model.output.weight is target) is (tied != "none")
    assert (source is target) is (tied == "all")
    matrices = {"none": 3, "output": 2, "all": 1}[tied]
    rest = count_parameters(build(tied="none", source_vocab_size=43)) - 3 * 43 * 24
    assert count_parameters(model) == rest + matrices * 43 * 24


@pytest.mark.parametrize("tied", ["none", "output", "all"])
def test_a_fresh_model_starts_as_the_paper_says(tied: str) -> None:
    """Embeddings of variance 1 once scaled, linear maps within Xavier's bound, biases at 0."""
    torch.manual_seed(0)
    stack = StackConfig(1, 4, 512)
    model = Transformer(ModelConfig(2_000, 2_000, 256, stack, stack, tied=tied))  # type: ignore[arg-type]
    for side in (model.encoder, model.decoder):
        assert (side.embedding.tokens.weight * 16).std().item() == pytest.approx(1, rel=0.02)
    layer = model.encoder.layers[0]
    assert isinstance(layer, EncoderLayer)
    inner = layer.feed_forward.inner
    bound = (6 / (256 + 512)) ** 0.5
    assert inner.weight.abs().max().item() == pytest.approx(bound, rel=0.01)
    assert inner.bias.abs().max() == 0


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_a_sentence_beyond_the_maximum_is_refused(positions: str) -> None:
    model = build(max_length=5, positions=positions)
    five, six = torch.full((1, 5), 7), torch.full((1, 6), 7)
    assert model(five, five).isfinite().all()
    for src, tgt in ((six, five), (five, six)):
        with pytest.raises(ValueError, match="has 6 tokens and this model reads at most 5; shorten"):
            model(src, tgt)
    network = Prepared(model)
    cache = network.read(five)
    network.write(five, cache)
    with pytest.raises(ValueError, match="has 6 tokens"):
        network.write(five[:, :1], cache)


@torch.no_grad()
def test_half_precision_arithmetic_stays_close() -> None:
    model = build()
    src, tgt = pairs(9)
    exact = model(src, tgt)
    for tap in (None, Recorder()):
        with torch.autocast("cpu", torch.bfloat16):
            rough = model(src, tgt, tap)
        assert rough.dtype == torch.bfloat16
        assert (rough.float() - exact).abs().max() < 0.05 * exact.abs().max()
        assert (rough.float() - exact).abs().max() > 0


@torch.no_grad()
def test_patterns_recorded_in_half_precision_arithmetic_still_sum_to_one() -> None:
    recorder = Recorder()
    with torch.autocast("cpu", torch.bfloat16):
        build()(*pairs(9), recorder)
    for (pattern,) in recorder.values():
        assert pattern.dtype == torch.float32
        torch.testing.assert_close(pattern.sum(-1), torch.ones(pattern.shape[:-1]))


def test_dropout_is_off_in_evaluation_and_on_in_training() -> None:
    model = build(dropout=0.5)
    src, tgt = pairs(10)
    assert torch.equal(model(src, tgt), model(src, tgt))
    model.train()
    assert not torch.allclose(model(src, tgt), model(src, tgt))


def test_dropout_is_that_of_each_sublayers_output_and_of_each_embedding() -> None:
    model = build(dropout=0.3).train()
    outputs: list[tuple[Tensor, str]] = []  # of the sublayers
    dropped: list[tuple[str, str, float]] = []  # the module, whose output it gets, and its probability

    def name_outputs(name: str) -> Callable[..., None]:
        return lambda module, given, output: outputs.append((output, name))

    def name_dropped(name: str) -> Callable[..., None]:
        def hook(module: nn.Dropout, given: tuple[Tensor], output: Tensor) -> None:
            dropped.append((name, "".join(of for tensor, of in outputs if tensor is given[0]), module.p))
            left = output != 0
            assert torch.allclose(output[left], given[0][left] / 0.7)  # scaled up, so that the mean stays
            assert (~left).float().mean().item() == pytest.approx(0.3, abs=0.1)

        return hook

    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention | FeedForward):
            module.register_forward_hook(name_outputs(name))
        elif isinstance(module, nn.Dropout) and module.p > 0:
            module.register_forward_hook(name_dropped(name))
    model(*pairs(10))
    expected = []
    stacks = {"encoder": (1, ["attention"]), "decoder": (3, ["self_attention", "cross_attention"])}
    for stack, (layers, attentions) in stacks.items():
        expected.append((f"{stack}.embedding.dropout", "", 0.3))
        for layer in (f"{stack}.layers.{number}" for number in range(layers)):
            sublayers = enumerate([*attentions, "feed_forward"])
            expected += [(f"{layer}.residuals.{n}.dropout", f"{layer}.{sublayer}", 0.3) for n, sublayer in sublayers]
    assert dropped == expected


def test_every_parameter_learns() -> None:
    """A parameter without a gradient would be one that the forward pass forgot."""
    model = build(final_norm=True, positions="learned")
    src, tgt = pairs(11)
    F.cross_entropy(model(src, tgt).flatten(0, 1), tgt.flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        if not name.endswith("key.bias"):  # adds the same to every score of a row, which the softmax cancels
            assert parameter.grad.abs().sum() > 0, name

"""The networks by name have the sizes that their sources state."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.small import small_checkpoint
from transformer.attention import MultiHeadAttention
from transformer.checkpoint import load, save
from transformer.config import ModelConfig, StackConfig
from transformer.inference import Prepared
from transformer.layers import FeedForward, Residual, UnbiasedNorm
from transformer.model import POSITIONS, Transformer, count_parameters
from transformer.presets import DIFFERENCES, PRESETS, preset
from transformer.taps import Site

TUTORIALS = list(DIFFERENCES)
FIXTURES = Path(__file__).parent / "fixtures" / "tutorial-checkpoints"


def size(config: ModelConfig) -> int:
    with torch.device("meta"):  # counts without the memory
        return count_parameters(Transformer(config))


def by_hand(config: ModelConfig) -> int:
    """The parameters added up from the paper's description, layer by layer."""
    d = config.d_model
    attention = 4 * d * d + 3 * d * config.qkv_bias + d * config.attention_output_bias
    norm = 2 if config.norm_form == "scalar" else 2 * d

    def feed_forward(d_ff: int) -> int:
        return 2 * d * d_ff + d_ff + d

    encoder = config.encoder.n_layers * (attention + feed_forward(config.encoder.d_ff) + 2 * norm)
    decoder = config.decoder.n_layers * (2 * attention + feed_forward(config.decoder.d_ff) + 3 * norm)
    matrices = {
        "none": config.source_vocab_size + 2 * config.target_vocab_size,
        "output": config.source_vocab_size + config.target_vocab_size,
        "all": config.target_vocab_size,
    }[config.tied]
    logits_bias = config.target_vocab_size * config.logits_bias
    return encoder + decoder + 2 * norm * config.final_norm + matrices * d + logits_bias


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_the_parameters_that_it_describes(name: str) -> None:
    config = preset(name, 1_000, 1_200)
    assert size(config) == by_hand(config)


def test_the_fifth_tutorial_to_the_last_parameter() -> None:
    assert size(preset("nlp7-en-hi", 30_000, 30_000)) == 40_433_968


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_small_one_has_as_many_parameters_as_the_tutorials_own_code(name: str) -> None:
    """`parameters` of the fixtures is what that code counted."""
    facts = json.loads((FIXTURES / name / "facts.json").read_text())
    stack = StackConfig(facts["layers"], facts["heads"], facts["d_ff"])
    changes = {"d_model": facts["d_model"], "encoder": stack, "decoder": stack}
    assert size(preset(name, facts["src_vocab"], facts["tgt_vocab"], **changes)) == facts["parameters"]


def test_the_table_of_the_third_tutorial_is_that_of_its_file() -> None:
    table = torch.load(FIXTURES / "ground-up" / "transformer_weights.pth", weights_only=True)["src_pos.pe"][0]
    config = preset("ground-up", 10, 10)
    own = POSITIONS[config.positions](replace(config, d_model=table.size(1), max_length=len(table)))
    torch.testing.assert_close(own.table, table)


@pytest.mark.parametrize("form", ["unbiased", "scalar"])
@pytest.mark.parametrize("beside", [False, True])
def test_the_norms_that_tutorials_write(form: str, beside: bool) -> None:
    """Epsilon stands under the root, or beside it, where its square under the root is all but the same."""
    eps = 1e-6
    norm = UnbiasedNorm(6, eps**2 if beside else eps, scalar=form == "scalar")
    with torch.no_grad():
        norm.gain.copy_(torch.linspace(0.5, 2.0, norm.gain.numel()))
        norm.shift.copy_(torch.linspace(-1.0, 1.0, norm.shift.numel()))
    x = torch.randn(4, 3, 6, generator=torch.Generator().manual_seed(0))
    deviation = x.std(-1, keepdim=True) + eps if beside else (x.var(-1, keepdim=True) + eps).sqrt()
    due = norm.gain * (x - x.mean(-1, keepdim=True)) / deviation + norm.shift
    torch.testing.assert_close(norm(x), due, atol=1e-5, rtol=1e-5)
    assert [tuple(p.shape) for p in norm.parameters()] == [(1 if form == "scalar" else 6,)] * 2
    norm(x).sum().backward()
    assert all(p.grad is not None for p in norm.parameters())


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_small_one_decodes_as_it_computes_and_is_kept(name: str, tmp_path: Path) -> None:
    """Prepared for inference, and after a file."""
    checkpoint, stack = small_checkpoint(), StackConfig(1, 2, 16)
    sizes = checkpoint.model.config
    config = preset(name, sizes.source_vocab_size, sizes.target_vocab_size, d_model=16, encoder=stack, decoder=stack)
    model = Transformer(replace(config, max_length=20)).eval()
    src, tgt = torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7, 8]])
    save(replace(checkpoint, model=model), tmp_path)
    again = load(tmp_path).model
    assert again.config == model.config
    with torch.no_grad():
        torch.testing.assert_close(Prepared(again)(src, tgt), model(src, tgt), atol=2e-5, rtol=1e-4)


def test_dropout_is_where_it_is_asked_for() -> None:
    """Dropout is nearly 1, so that dropped values are 0."""
    torch.manual_seed(0)
    x = torch.randn(1, 3, 8)
    sublayer = lambda h: h * 0 + 1.0  # noqa: E731
    for after in (False, True):
        residual = Residual(torch.nn.Identity(), 0.999999, norm_first=True, after_sum=after).train()
        assert torch.equal(residual(x, sublayer), x * (not after))
    feed_forward = FeedForward(8, 16, torch.relu, dropout=0.999999).train()
    torch.testing.assert_close(feed_forward(x), feed_forward.outer.bias.expand(1, 3, 8))
    for dropout, queries in ((0.999999, 3), (0.0, 3)):
        attention = MultiHeadAttention(8, 2, Site("encoder", 0, "self"), dropout=dropout).train()
        seen: list[torch.Tensor] = []

        def tap(site: Site, pattern: torch.Tensor, inputs: object, seen: list[torch.Tensor] = seen) -> torch.Tensor:
            seen.append(pattern)
            return pattern

        mask = torch.ones(1, 1, 1, queries, dtype=torch.bool)
        for one in (None, tap):
            out = attention(x, attention.keys_values(x), mask, one)
            assert torch.equal(out, attention.output.bias.expand(1, 3, 8)) == (dropout > 0)
        torch.testing.assert_close(seen[0].sum(-1), torch.ones(1, 2, 3))  # recorded before it is dropped
        assert not torch.equal(
            attention.eval()(x, attention.keys_values(x), mask), attention.output.bias.expand(1, 3, 8)
        )


def test_initialisations() -> None:
    sizes = {"encoder": StackConfig(1, 2, 16), "decoder": StackConfig(1, 2, 16), "d_model": 64}
    spread = {}
    for initialisation in ("scaled", "xavier", "torch"):
        torch.manual_seed(0)
        model = Transformer(ModelConfig(500, 500, initialisation=initialisation, **sizes))
        spread[initialisation] = model.encoder.embedding.tokens.weight.detach().std().item()
    due = {"scaled": 64**-0.5, "xavier": (2 / (500 + 64)) ** 0.5, "torch": 1.0}
    assert spread == pytest.approx(due, rel=0.03)


def test_base_is_the_paper() -> None:
    """Table 3: N 6, d_model 512, d_ff 2048, h 8, dropout 0.1; 65 million, with one vocabulary of 37,000."""
    config = preset("base", 37_000, 37_000, tied="all", logits_bias=False)
    assert config == ModelConfig(37_000, 37_000, tied="all", logits_bias=False)
    assert size(config) == pytest.approx(65e6, rel=0.05)


@pytest.mark.parametrize("name", ["transformers-laid-out", "ground-up", "adeveloperdiary"])
def test_three_tutorials_take_the_sizes_of_the_paper(name: str) -> None:
    config = preset(name, 100, 100)
    for stack in (config.encoder, config.decoder):
        assert (config.d_model, stack.n_layers, stack.n_heads, stack.d_ff) == (512, 6, 8, 2048)


def test_an_unknown_name_comes_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'huge'; choose one of mini, tiny, small, base, "):
        preset("huge", 10, 10)

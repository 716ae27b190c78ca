"""The networks by name have the sizes that their sources state."""

import pytest
import torch

from transformer.config import ModelConfig
from transformer.model import Transformer, count_parameters
from transformer.presets import PRESETS, preset


def size(config: ModelConfig) -> int:
    with torch.device("meta"):  # counts without the memory
        return count_parameters(Transformer(config))


def by_hand(config: ModelConfig) -> int:
    """The parameters added up from the paper's description, layer by layer."""
    d = config.d_model
    attention = 4 * d * d + 3 * d * config.qkv_bias + d * config.attention_output_bias
    norm = 2 * d

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


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_runs(name: str) -> None:
    """Shortened, for the sake of time: everything but the depth and the vocabulary is the preset's."""
    full = preset(name, 50, 60)
    one = {"encoder": type(full.encoder)(1, full.encoder.n_heads, 64)}
    config = preset(name, 50, 60, **one, decoder=one["encoder"])
    with torch.no_grad():
        logits = Transformer(config).eval()(torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7]]))
    assert logits.shape == (1, 2, 60)
    assert logits.isfinite().all()


def test_sizes_grow() -> None:
    sizes = [size(preset(name, 8_000, 8_000)) for name in ("mini", "tiny", "small", "base")]
    assert sizes == sorted(set(sizes))


def test_changes_replace_single_fields() -> None:
    assert preset("tiny", 10, 10, dropout=0.3).dropout == 0.3
    assert preset("tiny", 10, 10, dropout=0.3).encoder == preset("tiny", 10, 10).encoder
    with pytest.raises(ValueError, match="dropout is 3"):
        preset("tiny", 10, 10, dropout=3)


def test_an_unknown_name_comes_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'huge'; choose one of mini, tiny, small, base, "):
        preset("huge", 10, 10)

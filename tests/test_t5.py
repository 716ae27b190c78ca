"""T5 beside the model of `transformers`, and what of ours works on it as on the paper's model."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    MT5Config,
    MT5ForConditionalGeneration,
    T5ForConditionalGeneration,
    UMT5Config,
    UMT5ForConditionalGeneration,
)
from transformers import T5Config as TheirConfig
from transformers.models.t5.modeling_t5 import T5Attention as TheirAttention

from headlight import checkpoints
from headlight.analysis import all_heads, check, head_importance, rollout_source, value_weighted_patterns
from headlight.checkpoints import load_translator
from headlight.importers.importing import examine, import_model
from tests.small import small_t5_checkpoint
from transformer import StackConfig, Translator
from transformer.checkpoint.weights import Refused
from transformer.decoding import beam, finish, greedy
from transformer.model import Transformer, count_parameters
from transformer.t5 import T5, RelativeBias, T5Config
from transformer.taps import Ablate, Recorder, Site

VOCAB_SIZE = 40
SIZES: dict[str, Any] = {
    "vocab_size": VOCAB_SIZE, "d_model": 24, "d_kv": 5, "d_ff": 33, "num_layers": 3, "num_decoder_layers": 2,
    "num_heads": 3, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 12,
    "decoder_start_token_id": 0,
}  # fmt: skip
SRC, TGT = [5, 9, 7, 11, 3], [2, 8, 6, 10, 12, 3]


def theirs(kind: str) -> Any:
    """Models of random weights: T5 1.0, whose output is its embedding, and those that have a matrix for it."""
    torch.manual_seed(1)
    if kind == "mt5":
        model = MT5ForConditionalGeneration(MT5Config(**SIZES, feed_forward_proj="gated-gelu"))
    elif kind == "umt5":
        model = UMT5ForConditionalGeneration(UMT5Config(**SIZES))
    else:
        gated = kind == "t5 1.1"
        config = TheirConfig(
            **SIZES, feed_forward_proj="gated-gelu" if gated else "relu", tie_word_embeddings=not gated
        )
        model = T5ForConditionalGeneration(config)
    if kind in ("t5 1.1", "mt5"):
        model.lm_head.weight = torch.nn.Parameter(torch.empty(VOCAB_SIZE, 24))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if "norm" in name else 0.0, 0.3)
    return model.eval()


@pytest.fixture(scope="module", params=["t5 1.0", "t5 1.1", "mt5", "umt5", "t5 1.0 of old"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Translator, Path]:
    """Return a model of `transformers`, its import, and its folder; old files name the shared matrix four times."""
    own = theirs(request.param.removesuffix(" of old"))
    folder = tmp_path_factory.mktemp("theirs")
    own.save_pretrained(folder)
    if request.param.endswith("of old"):
        (folder / "model.safetensors").unlink()
        torch.save(own.state_dict(), folder / "pytorch_model.bin")
        config = json.loads((folder / "config.json").read_text())
        del config["scale_decoder_outputs"], config["tie_word_embeddings"]
        (folder / "config.json").write_text(json.dumps(config))
    imported = folder.parent / f"{folder.name}-ours"
    import_model(folder, imported)
    return own, load_translator(imported), folder


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(2)
    src = torch.randint(3, VOCAB_SIZE, (3, 30), generator=generator)
    src[1, 20:], src[2, 5:] = 0, 0
    tgt = torch.randint(3, VOCAB_SIZE, (3, 20), generator=generator)
    tgt[:, 0] = 0
    return src, tgt


def test_logits_are_those_of_transformers(pair: tuple[Any, Translator, Path]) -> None:
    """A batch with padding, and distances beyond the last that has a bias of its own."""
    own, ours, _ = pair
    src, tgt = batch()
    with torch.no_grad():
        due = own(input_ids=src, attention_mask=(src != 0).long(), decoder_input_ids=tgt).logits
        torch.testing.assert_close(ours.model(src, tgt), due, atol=1e-4, rtol=0)
        torch.testing.assert_close(ours.model(src, tgt, Recorder()), due, atol=1e-4, rtol=0)
    assert due.abs().max() > 1, "else nearly anything would agree"


def test_greedy_is_token_for_token(pair: tuple[Any, Translator, Path]) -> None:
    own, ours, _ = pair
    src, _ = batch()
    longest = 16
    due = own.generate(
        input_ids=src, attention_mask=(src != 0).long(), max_new_tokens=longest, num_beams=1, do_sample=False,
        suppress_tokens=[0],  # padding, which nothing of ours writes
    )  # fmt: skip
    decoded = [hypotheses[0].ids for hypotheses in finish(greedy(ours.model, src, max_length=longest))]
    for ids, row in zip(decoded, due.tolist(), strict=True):
        assert list(ids) == row[1 : len(ids) + 1]
        assert not any(row[len(ids) + 1 :])
    assert len(set(decoded)) > 1


def test_what_the_examination_reports(pair: tuple[Any, Translator, Path]) -> None:
    own, ours, folder = pair
    examination = examine(folder)
    assert examination.form == "Hugging Face T5" and examination.questions == () and examination.diagnosis is None
    assert dict(examination.facts)["Heads"] == "3 of 5 numbers"
    scaled = own.config.model_type == "umt5" or getattr(own.config, "scale_decoder_outputs", False)
    assert bool(examination.folded) == scaled
    tied = own.lm_head.weight is own.shared.weight
    assert ours.model.config.tied == ("all" if tied else "none")
    assert (ours.model.output.weight is ours.model.encoder.embedding.tokens.weight) == tied
    assert count_parameters(ours.model) == sum(p.numel() for p in own.parameters())
    assert any("tokenizer" in warning for warning in examination.warnings)


@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (8, 12), (7, 40)])
@pytest.mark.parametrize("both_sides", [True, False])
def test_buckets_are_those_of_transformers(buckets: int, furthest: int, both_sides: bool) -> None:
    config = T5Config(9, 9, buckets=buckets, max_distance=furthest)
    distances = torch.arange(-3 * furthest, 3 * furthest + 1)
    due = TheirAttention._relative_position_bucket(distances, both_sides, buckets, furthest)
    assert torch.equal(RelativeBias(config, 2, both_sides).bucket(distances), due)


# ---- what works on it as on the paper's model ----


@pytest.fixture(scope="module", params=[{"shared_bias": False}, {"gated": False, "activation": "relu", "tied": "none"}])
def small(request: pytest.FixtureRequest) -> Translator:
    return Translator(small_t5_checkpoint(seed=3, **request.param))


def test_a_beam_of_one_is_greedy_and_padding_changes_nothing(small: Translator) -> None:
    src = torch.tensor([SRC, SRC])
    src[1, 3:] = 0
    short = finish(greedy(small.model, src[1:, :3], max_length=9))[0][0]
    both = finish(greedy(small.model, src, max_length=9))
    assert both[1][0].ids == short.ids
    assert [h[0].ids for h in finish(beam(small.model, src, size=1, max_length=9))] == [h[0].ids for h in both]


def test_recording_changes_nothing_and_a_tap_changes_a_head(small: Translator) -> None:
    model, src, tgt = small.model, torch.tensor([SRC]), torch.tensor([TGT[:-1]])
    recorder = Recorder()
    with torch.no_grad():
        plain = model(src, tgt)
        torch.testing.assert_close(model(src, tgt, recorder), plain, atol=1e-5, rtol=1e-4)
        assert set(recorder) == set(model.sites())
        for site, head in all_heads(model):
            assert not torch.allclose(model(src, tgt, Ablate(site, head)), plain, atol=1e-5)
    for (pattern,) in recorder.values():
        torch.testing.assert_close(pattern.sum(-1), torch.ones(pattern.shape[:-1]))
    assert recorder[Site("decoder", 0, "self")][0].triu(1).abs().max() == 0


def test_the_analyses_run_and_hold(small: Translator) -> None:
    trace = small.trace("a little girl is sitting", "two dogs are running")
    assert [outcome.name for outcome in check(trace, small.model) if not outcome.holds] == []
    effects = head_importance(small.model, trace.source.ids, trace.target.ids)
    effect = effects[0]
    without = small.log_probs([trace.source.ids], [trace.target.ids[:-1]], Ablate(effect.site, effect.head))[0]
    total = without.gather(1, torch.tensor(trace.target.ids[1:])[:, None]).sum().item()
    assert total - trace.log_prob == pytest.approx(effect.delta, abs=1e-4)
    sources = rollout_source(trace.encoder, trace.decoder, trace.cross)
    torch.testing.assert_close(torch.tensor(sources.source.sum(-1) + sources.target.sum(-1)), torch.ones(3, 5))
    weighted = value_weighted_patterns(small.model, trace.source.ids, trace.target.ids)
    assert weighted["cross"].shape == trace.cross.shape


def test_all_layers_of_a_stack_share_one_bias_or_have_their_own(small: Translator) -> None:
    config = small.model.config
    assert isinstance(config, T5Config)
    layers = (1, 1) if config.shared_bias else (config.encoder.n_layers, config.decoder.n_layers)
    names = [name for name, _ in small.model.named_parameters() if "position_bias" in name]
    assert names == [
        *(f"encoder.layers.{layer}.attention.position_bias.table.weight" for layer in range(layers[0])),
        *(f"decoder.layers.{layer}.self_attention.position_bias.table.weight" for layer in range(layers[1])),
    ]


# ---- the folder ----


def test_a_saved_model_is_the_same(small: Translator, tmp_path: Path) -> None:
    checkpoints.save(small.checkpoint, tmp_path / "t5")
    again = load_translator(tmp_path / "t5")
    assert isinstance(again.model, T5) and again.model.config == small.model.config
    config = json.loads((tmp_path / "t5" / "config.json").read_text())
    assert config["architecture"] == "t5" and "norm" not in config
    assert torch.equal(again.log_probs([SRC], [TGT]), small.log_probs([SRC], [TGT]))


def test_a_configuration_that_names_nothing_is_the_papers(tmp_path: Path) -> None:
    shipped = json.loads((Path(__file__).parents[1] / "checkpoints" / "reverse" / "config.json").read_text())
    assert "architecture" not in shipped
    assert type(load_translator(Path(__file__).parents[1] / "checkpoints" / "reverse").model) is Transformer


@pytest.mark.parametrize("named", ["gpt", 5, None, ["t5"]])
def test_an_unknown_architecture_is_refused(small: Translator, tmp_path: Path, named: object) -> None:
    checkpoints.save(small.checkpoint, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "architecture": named}))
    with pytest.raises(ValueError, match="architecture is .*; choose one of transformer, t5"):
        load_translator(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d_kv": 0}, "d_kv is 0"),
        ({"d_kv": 10**9}, "d_kv is 1000000000"),
        ({"d_kv": 20_000}, "d_kv is 20000"),  # too wide for four heads
        ({"buckets": 3}, "buckets is 3"),
        ({"buckets": 10**9}, "buckets is 1000000000"),
        ({"max_distance": 4}, "max_distance is 4; it must be a whole number from 5"),
        ({"gated": "yes"}, "gated is 'yes'"),
        ({"tied": "output"}, "tied is output"),
        ({"source_vocab_size": 7, "tied": "none"}, "one vocabulary"),
        ({"encoder": StackConfig(10**9, 4, 32)}, "encoder.n_layers is 1000000000"),
        ({"norm_eps": -1.0}, "norm_eps"),
    ],
)
def test_a_wrong_field_is_refused(small: Translator, change: dict[str, Any], message: str) -> None:
    config = dataclasses.replace(small.model.config, buckets=8, max_distance=9, tied="all")
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(config, **change)


def test_what_every_t5_has_cannot_be_set() -> None:
    values = T5Config(9, 9).to_dict()
    assert "positions" not in values and T5Config.from_dict(json.loads(json.dumps(values))) == T5Config(9, 9)
    with pytest.raises(ValueError, match="unknown field 'norm'"):
        T5Config.from_dict({**values, "norm": "post"})


# ---- what else a folder may hold ----


def test_another_activation_is_refused(tmp_path: Path) -> None:
    theirs("t5 1.0").save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "feed_forward_proj": "gated-tanh"}))
    with pytest.raises(Refused, match="'gated-tanh'; supported are relu, gated-gelu"):
        examine(tmp_path)


def test_a_model_without_its_decoder_is_described(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    theirs("t5 1.0").save_pretrained(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    save_file({name: t for name, t in tensors.items() if "decoder" not in name}, tmp_path / "model.safetensors")
    diagnosis = examine(tmp_path).diagnosis
    assert diagnosis is not None and diagnosis.nearest == "Hugging Face T5"
    assert "decoder.final_layer_norm.weight" in diagnosis.missing and not diagnosis.unexpected


TEXTS = [f"the {a} house number {n} is {b} ." for n in range(40) for a, b in (("old", "wonderful"), ("red", "small"))]


def test_the_sentencepiece_model_cuts_as_its_own_code_does(tmp_path: Path) -> None:
    import sentencepiece

    own = theirs("t5 1.0")
    (tmp_path / "texts").write_text("\n".join(TEXTS))
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "texts"), model_prefix=str(tmp_path / "spiece"), vocab_size=36, pad_id=0, eos_id=1,
        unk_id=2, bos_id=-1, minloglevel=2,
    )  # fmt: skip
    own.save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"extra_ids": 3}')
    import_model(tmp_path, tmp_path / "ours")
    ours = load_translator(tmp_path / "ours")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "spiece.model"))
    for text in ("the old house", "a wonderful  number 7.", "small houses"):
        assert ours.encode(text) == [*processor.encode(text), 1]
    tokenizer = ours.checkpoint.source_tokenizer
    assert [tokenizer.piece(i) for i in (0, 1, 2, 36, 38, 39)] == [
        "<pad>", "</s>", "<unk>", "<extra_id_2>", "<extra_id_0>", "[39]",
    ]  # fmt: skip
    assert tokenizer.decode(ours.encode("the old house")) == "the old house"


def test_bytes_are_tokens(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = TheirConfig(**{**SIZES, "vocab_size": 384}, feed_forward_proj="gated-gelu")
    T5ForConditionalGeneration(config).save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "ByT5Tokenizer"}')
    import_model(tmp_path, tmp_path / "ours")
    ours = load_translator(tmp_path / "ours")
    for text in ("Grüße, 世界!", "two words"):
        assert ours.encode(text) == [*(byte + 3 for byte in text.encode()), 1]
        assert ours.checkpoint.source_tokenizer.decode(ours.encode(text)) == text

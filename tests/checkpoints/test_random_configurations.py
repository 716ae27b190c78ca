"""Every field that an importer reads, drawn at random: the imported model computes what the original code does."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch

from headlight.checkpoints import load_translator
from headlight.importers.importing import import_model
from tests.checkpoints.hugging_face import CLASSES, random_model, save, transformers
from transformer.checkpoint.weights import Refused
from transformer.taps import Recorder

VOCABULARY, TARGET_VOCABULARY = 32, 36
ACTIVATIONS = ["relu", "gelu", "swish", "silu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "quick_gelu", "linear"]
T5_ACTIVATIONS = ["relu", "silu", "gelu_new", "gated-gelu", "gated-silu", "gated-relu"]


def draw_configuration(family: str, chance: random.Random) -> dict[str, Any]:
    """A configuration of a family whose every number, flag and id that the importer reads is drawn."""
    heads = chance.choice([1, 2, 3]), chance.choice([1, 2, 3])
    pad, eos, start, first = chance.sample(range(VOCABULARY), 4)
    ids = {
        "pad_token_id": pad,
        "eos_token_id": eos,
        "bos_token_id": first,
        "decoder_start_token_id": chance.choice([start, eos] if family in ("m2m100", "fsmt") else [start, eos, pad]),
    }
    if family == "marian":
        together = chance.random() < 0.5
        ids |= {
            "share_encoder_decoder_embeddings": together,
            "decoder_vocab_size": VOCABULARY if together else TARGET_VOCABULARY,
        }
    ties = family == "m2m100" or chance.random() < 0.7
    if family == "fsmt":
        target = VOCABULARY if ties else TARGET_VOCABULARY
        ids |= {"src_vocab_size": VOCABULARY, "tgt_vocab_size": target}
    return {
        "vocab_size": ids.get("tgt_vocab_size", VOCABULARY),
        "d_model": 6 * chance.choice([2, 3, 4]),
        "encoder_layers": chance.choice([1, 2]),
        "decoder_layers": chance.choice([1, 2]),
        "encoder_attention_heads": heads[0],
        "decoder_attention_heads": heads[1],
        "encoder_ffn_dim": chance.choice([10, 24]),
        "decoder_ffn_dim": chance.choice([12, 20]),
        "max_position_embeddings": chance.choice([40, 56]),
        "activation_function": chance.choice(ACTIVATIONS),
        "scale_embedding": chance.random() < 0.5,
        "tie_word_embeddings": ties,
        "forced_eos_token_id": None,
        "forced_bos": chance.choice([None, first]) if family != "marian" else None,
        **ids,
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", CLASSES)
def test_logits_are_those_of_the_original_code(tmp_path: Path, family: str, seed: int) -> None:
    config = draw_configuration(family, random.Random(f"{family} {seed}"))
    model = random_model(family, **config)
    import_model(save(model, tmp_path / "theirs"), tmp_path / "ours")
    assert_same_logits(model, tmp_path / "ours", config)


def test_a_start_that_has_no_position_is_refused(tmp_path: Path) -> None:
    save(random_model("m2m100", decoder_start_token_id=1, pad_token_id=1), tmp_path / "theirs")
    with pytest.raises(Refused, match="decoder_start_token_id in config.json is 1, which is pad_token_id too"):
        import_model(tmp_path / "theirs", tmp_path / "ours")


def draw_t5(chance: random.Random) -> dict[str, Any]:
    pad, eos, start = chance.sample(range(VOCABULARY), 3)
    return {
        "vocab_size": VOCABULARY,
        "d_model": chance.choice([8, 12, 15]),
        "d_kv": chance.choice([3, 4, 7]),
        "d_ff": chance.choice([10, 24]),
        "num_layers": chance.choice([1, 2]),
        "num_decoder_layers": chance.choice([1, 2, 3]),
        "num_heads": chance.choice([1, 2, 3]),
        "relative_attention_num_buckets": chance.choice([4, 8, 32]),
        "relative_attention_max_distance": chance.choice([17, 20, 128]),
        "layer_norm_epsilon": chance.choice([1e-6, 1e-3]),
        "feed_forward_proj": chance.choice(T5_ACTIVATIONS),
        "tie_word_embeddings": chance.random() < 0.5,
        "pad_token_id": pad,
        "eos_token_id": eos,
        "decoder_start_token_id": chance.choice([start, pad]),
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", ["T5", "UMT5"])
def test_logits_of_t5_are_those_of_the_original_code(tmp_path: Path, family: str, seed: int) -> None:
    config = draw_t5(random.Random(f"{family} {seed}"))
    torch.manual_seed(seed)
    model = getattr(transformers, f"{family}ForConditionalGeneration")(
        getattr(transformers, f"{family}Config")(**config)
    ).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    import_model(save(model, tmp_path / "theirs"), tmp_path / "ours")
    assert_same_logits(model, tmp_path / "ours", config)


def draw_bert(chance: random.Random) -> dict[str, Any]:
    return {
        "num_hidden_layers": chance.choice([1, 2]),
        "num_attention_heads": chance.choice([1, 2, 3]),
        "intermediate_size": chance.choice([10, 24]),
        "max_position_embeddings": chance.choice([40, 56]),
        "vocab_size": chance.choice([VOCABULARY, TARGET_VOCABULARY]),
    }


BERTS = {
    "bert": "Bert", "roberta": "Roberta", "xlm-roberta": "XLMRoberta", "camembert": "Camembert",
    "bert-generation": "BertGeneration",
}  # fmt: skip
ROBERTAS = ("roberta", "xlm-roberta", "camembert")


def two_berts(chance: random.Random, *kinds: str) -> Any:
    """An encoder and a decoder of BERT's kind as one model, whose numbers are drawn; by default of drawn kinds."""
    kinds = kinds or (chance.choice([*BERTS]), chance.choice([*BERTS]))
    pad, eos, start = chance.sample(range(VOCABULARY), 3)
    if any(kind in ROBERTAS for kind in kinds):
        pad = chance.choice([1, 3, 12])  # no token of a text
        eos, start = chance.sample([id for id in range(VOCABULARY) if id != pad], 2)
    ids = {"pad_token_id": pad, "eos_token_id": eos, "bos_token_id": start}
    both = {
        "hidden_size": 6 * chance.choice([2, 3, 4]),
        "hidden_act": chance.choice(["gelu", "relu", "gelu_new", "silu"]) if kinds[1] not in ROBERTAS else "gelu",
        "layer_norm_eps": chance.choice([1e-12, 1e-3]),
        **ids,
    }
    ties = {"tie_word_embeddings": chance.random() < 0.5}
    encoder, decoder = (
        getattr(transformers, f"{BERTS[kind]}Config")(
            **both, **draw_bert(chance), type_vocab_size=chance.choice([1, 2, 3]), **more
        )
        for kind, more in zip(kinds, ({}, ties), strict=True)
    )
    joined = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    model = transformers.EncoderDecoderModel(joined).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            gain = any(norm in name for norm in ("LayerNorm.weight", "layer_norm.weight"))
            parameter.copy_(torch.randn_like(parameter) * 0.4 + gain)
    return model


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("decoder", BERTS)
def test_logits_of_two_berts_are_those_of_the_original_code(tmp_path: Path, decoder: str, seed: int) -> None:
    torch.manual_seed(seed)
    chance = random.Random(f"{decoder} {seed}")
    model = two_berts(chance, decoder if seed else chance.choice([*BERTS]), decoder)
    ids = {f"{name}_token_id": getattr(model.config.decoder, f"{name}_token_id") for name in ("pad", "eos")}
    import_model(save(model, tmp_path / "theirs", pickled=bool(seed)), tmp_path / "ours")
    start = model.config.decoder.bos_token_id
    assert_same_logits(model, tmp_path / "ours", {**ids, "decoder_start_token_id": start})


def assert_same_logits(theirs: Any, folder: Path, config: dict[str, Any]) -> None:
    """Compare logits and attention on padded batches whose tokens leave out the special ids."""
    pad, eos, start = (config[f"{name}_token_id"] for name in ("pad", "eos", "decoder_start"))
    words = [id for id in range(VOCABULARY) if id not in (pad, eos, start)]
    src = torch.tensor([[*words[:7], eos], [*words[9:12], eos, pad, pad, pad, pad]])
    tgt = torch.tensor([[start, *words[3:9]], [start, *words[15:21]]])
    ours = load_translator(folder).model
    assert (ours.config.pad_id, ours.config.eos_id, ours.config.sos_id) == (pad, eos, start)
    theirs.set_attn_implementation("eager")  # the others keep no weights
    recorder = Recorder()
    options: dict[str, Any] = {"output_attentions": True, "use_cache": False}
    with torch.no_grad():
        logits = ours(src, tgt, recorder)
        expected = theirs(input_ids=src, attention_mask=(src != pad).long(), decoder_input_ids=tgt, **options)
    torch.testing.assert_close(logits, expected.logits, atol=1e-4, rtol=1e-4)
    stacks = {
        ("encoder", "self"): expected.encoder_attentions,
        ("decoder", "self"): expected.decoder_attentions,
        ("decoder", "cross"): expected.cross_attentions,
    }
    assert len(recorder) == sum(map(len, stacks.values()))
    real = (src != pad)[:, None, :, None]  # the row of a padded query is nobody's
    for site, (pattern,) in recorder.items():
        weights = stacks[site.stack, site.kind][site.layer]
        rows = real if site.stack == "encoder" else torch.tensor(True)
        torch.testing.assert_close(pattern * rows, weights * rows, atol=1e-4, rtol=1e-4)
